//! Expansion, wiring, slots and legal transitions.
#![allow(clippy::unwrap_used, clippy::panic)]

use millstream_graph::{
    CalcSpec, ChainingStrategy, JobGraphGenerator, OperatorSpec, Partitioner, ScalarExpr, StreamEdge, StreamGraph, StreamNode, ValuesSpec,
    stream_graph::STREAM_GRAPH_VERSION,
};
use millstream_runtime::task::{ExecutionState, TaskConfig};
use millstream_types::{AllocationId, ChangelogMode, Column, JobId, OperatorId, Schema, SlotId, SqlType, TaskManagerId};

use super::deployment::wiring;
use super::*;
use crate::gateway::AllocatedSlot;

pub(crate) fn node(id: u64, parallelism: u32, group: &str) -> StreamNode {
    let spec = if id == 1 {
        OperatorSpec::Values(ValuesSpec { rows: vec![] })
    } else {
        OperatorSpec::Calc(CalcSpec { filter: None, projection: vec![ScalarExpr::column(0, SqlType::BigInt)] })
    };
    StreamNode {
        id: OperatorId(id),
        spec,
        schema: Schema::new(vec![Column::new("a", SqlType::BigInt)]),
        changelog: ChangelogMode::Append,
        upsert_key: None,
        parallelism,
        max_parallelism: 128,
        slot_sharing_group: group.into(),
        chaining_strategy: ChainingStrategy::Always,
    }
}

/// `1 -> 2 -> 3` by these partitioners.
pub(crate) fn line(nodes: Vec<StreamNode>, partitioners: Vec<Partitioner>) -> ExecutionGraph {
    let edges = (1u64..).zip(partitioners).map(|(source, partitioner)| StreamEdge {
        source: OperatorId(source),
        target: OperatorId(source + 1),
        input: 0,
        partitioner,
    });
    let graph =
        StreamGraph { version: STREAM_GRAPH_VERSION, job: JobId(7), name: "j".into(), chaining: true, edges: edges.collect(), nodes };
    ExecutionGraph::new(&JobGraphGenerator::generate(&graph).unwrap())
}

fn hash() -> Partitioner {
    Partitioner::Hash { columns: vec![0] }
}

/// Slots 0.. for every group in turn.
pub(crate) fn grants(graph: &ExecutionGraph) -> Vec<SlotGrant> {
    let mut next = 0;
    let requirements = graph.slot_requirements().into_iter();
    requirements
        .map(|r| {
            let slots = (0..r.slots).map(|_| {
                next += 1;
                AllocatedSlot {
                    slot: SlotId { task_manager: TaskManagerId(1), index: next - 1 },
                    allocation: AllocationId(u64::from(next)),
                }
            });
            SlotGrant { group: r.group.clone(), slots: slots.collect() }
        })
        .collect()
}

#[test]
fn slots_needed_are_the_sum_over_groups_of_the_largest_parallelism() {
    let graph = line(vec![node(1, 1, "default"), node(2, 3, "default"), node(3, 2, "heavy")], vec![hash(), hash()]);
    let needs: Vec<_> = graph.slot_requirements().into_iter().map(|r| (r.group, r.slots)).collect();
    assert_eq!(needs, [("default".to_owned(), 3), ("heavy".to_owned(), 2)]);
    assert!(graph.to_string().ends_with("slots: 5"), "{graph}");
}

#[test]
fn subtasks_with_one_number_share_the_slot_of_their_group() {
    let mut graph = line(vec![node(1, 2, "default"), node(2, 2, "default"), node(3, 1, "default")], vec![hash(), hash()]);
    graph.assign_slots(&grants(&graph)).unwrap();
    let slots: Vec<_> = graph.executions().map(|e| e.slot.unwrap().slot.index).collect();
    assert_eq!(slots, [0, 1, 0, 1, 0]);
}

#[test]
fn hash_wires_everyone_to_everyone() {
    let mut graph = line(vec![node(1, 2, "default"), node(2, 3, "default")], vec![hash()]);
    graph.assign_slots(&grants(&graph)).unwrap();
    let tasks = graph.deployments(&TaskConfig::default(), &StartFrom::Nothing).unwrap();
    assert_eq!(tasks.len(), 5);
    assert_eq!(tasks[0].outputs[0].subpartitions, 3);
    let channels: Vec<_> = tasks[4].inputs[0].channels.iter().map(|c| (c.producer.vertex.subtask, c.subpartition)).collect();
    assert_eq!(channels, [(0, 2), (1, 2)]);
}

#[test]
fn every_subpartition_has_exactly_one_reader() {
    for (partitioner, pairs) in [
        (Partitioner::Forward, vec![(3, 3)]),
        (Partitioner::Rescale, vec![(2, 5), (5, 2), (3, 3), (1, 4), (4, 1)]),
        (Partitioner::Broadcast, vec![(2, 3)]),
        (Partitioner::Global, vec![(3, 1), (2, 2)]),
    ] {
        for (producers, consumers) in pairs {
            let wiring = wiring(&partitioner, producers, consumers);
            let mut read: Vec<_> = (0..consumers).flat_map(|c| wiring.channels(c)).collect();
            read.sort_unstable();
            let written: Vec<_> = (0..producers).flat_map(|p| (0..wiring.subpartitions(p, consumers)).map(move |s| (p, s))).collect();
            assert_eq!(read, written, "{partitioner} {producers} -> {consumers}");
        }
    }
}

#[test]
fn shows_every_subtask_with_its_slot_and_survives_serialization() {
    let graph = line(vec![node(1, 2, "default"), node(2, 2, "heavy")], vec![Partitioner::Forward]);
    let shown = "v1: Values\n  1/2 slot=default[0]\n  2/2 slot=default[1]\nv2: Calc\n  1/2 slot=heavy[0]\n    <- v1/1 FORWARD\n  \
                 2/2 slot=heavy[1]\n    <- v1/2 FORWARD\nslots: 4";
    assert_eq!(graph.to_string(), shown);
    let text = serde_json::to_string(&graph).unwrap();
    assert_eq!(serde_json::from_str::<ExecutionGraph>(&text).unwrap(), graph);
    assert!(graph.to_dot().contains("\"v1/2\" -> \"v2/2\""), "{}", graph.to_dot());
}

#[test]
fn an_attempt_only_moves_forward() {
    let mut graph = line(vec![node(1, 1, "default")], vec![]);
    let attempt = graph.executions().next().unwrap().attempt;
    let execution = graph.execution_mut(attempt).unwrap();
    for state in [ExecutionState::Scheduled, ExecutionState::Deploying, ExecutionState::Initializing, ExecutionState::Running] {
        assert!(execution.transition(state, None).unwrap());
    }
    assert!(!execution.transition(ExecutionState::Running, None).unwrap(), "told twice");
    assert!(execution.transition(ExecutionState::Deploying, None).is_err());
    assert!(execution.transition(ExecutionState::Canceling, None).unwrap());
    assert!(!execution.transition(ExecutionState::Running, None).unwrap(), "told late");
    assert!(execution.transition(ExecutionState::Canceled, None).unwrap());
    assert!(execution.transition(ExecutionState::Failed, None).is_err(), "an end is an end");
    let other = ExecutionAttemptId { attempt: 1, ..attempt };
    assert!(graph.execution_mut(other).is_none(), "another attempt is another object");
}
