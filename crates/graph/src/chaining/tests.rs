//! Each chaining condition, broken alone, breaks the chain.
#![allow(clippy::unwrap_used)]

use millstream_types::{ChangelogMode, Column, JobId, OperatorId, Schema, SqlType};

use super::*;
use crate::{CalcSpec, DEFAULT_SLOT_SHARING_GROUP, OperatorSpec, ScalarExpr, ValuesSpec, stream_graph::STREAM_GRAPH_VERSION};

fn node(id: u64) -> StreamNode {
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
        parallelism: 2,
        max_parallelism: 128,
        slot_sharing_group: DEFAULT_SLOT_SHARING_GROUP.into(),
        chaining_strategy: ChainingStrategy::Always,
    }
}

fn edge(source: u64, target: u64) -> StreamEdge {
    StreamEdge { source: OperatorId(source), target: OperatorId(target), input: 0, partitioner: Partitioner::Forward }
}

/// `1 -> 2 -> 3`, all conditions met.
fn line() -> StreamGraph {
    StreamGraph {
        version: STREAM_GRAPH_VERSION,
        job: JobId(7),
        name: "j".into(),
        chaining: true,
        nodes: vec![node(1), node(2), node(3)],
        edges: vec![edge(1, 2), edge(2, 3)],
    }
}

/// Vertices as lists of operator ids after `change` to the line.
fn chains(change: impl FnOnce(&mut StreamGraph)) -> Vec<Vec<u64>> {
    let mut graph = line();
    change(&mut graph);
    let job = JobGraphGenerator::generate(&graph).unwrap();
    job.vertices.iter().map(|v| v.operators.iter().map(|o| o.node.id.0).collect()).collect()
}

#[test]
fn all_conditions_met_is_one_vertex() {
    assert_eq!(chains(|_| ()), [vec![1, 2, 3]]);
    let job = JobGraphGenerator::generate(&line()).unwrap();
    assert_eq!(job.vertices[0].name, "Values -> Calc -> Calc");
}

#[test]
fn chaining_off() {
    assert_eq!(chains(|g| g.chaining = false), [vec![1], vec![2], vec![3]]);
}

#[test]
fn other_slot_sharing_group() {
    assert_eq!(chains(|g| g.nodes[2].slot_sharing_group = "heavy".into()), [vec![1, 2], vec![3]]);
}

#[test]
fn producer_is_never() {
    assert_eq!(chains(|g| g.nodes[0].chaining_strategy = ChainingStrategy::Never), [vec![1], vec![2, 3]]);
}

#[test]
fn producer_is_head_still_chains_its_consumers() {
    assert_eq!(chains(|g| g.nodes[0].chaining_strategy = ChainingStrategy::Head), [vec![1, 2, 3]]);
}

#[test]
fn consumer_is_head() {
    assert_eq!(chains(|g| g.nodes[1].chaining_strategy = ChainingStrategy::Head), [vec![1], vec![2, 3]]);
}

#[test]
fn consumer_is_never() {
    assert_eq!(chains(|g| g.nodes[1].chaining_strategy = ChainingStrategy::Never), [vec![1], vec![2], vec![3]]);
}

#[test]
fn partitioner_is_not_forward() {
    assert_eq!(chains(|g| g.edges[1].partitioner = Partitioner::Hash { columns: vec![0] }), [vec![1, 2], vec![3]]);
}

#[test]
fn other_parallelism() {
    let broken = chains(|g| {
        g.nodes[2].parallelism = 4;
        g.edges[1].partitioner = Partitioner::Rebalance;
    });
    assert_eq!(broken, [vec![1, 2], vec![3]]);
}

#[test]
fn other_parallelism_alone_is_no_forward_edge() {
    let mut graph = line();
    graph.nodes[2].parallelism = 4;
    assert!(JobGraphGenerator::generate(&graph).is_err());
}

#[test]
fn other_max_parallelism() {
    assert_eq!(chains(|g| g.nodes[2].max_parallelism = 256), [vec![1, 2], vec![3]]);
}

#[test]
fn second_edge_into_the_same_input() {
    let union = chains(|g| {
        g.nodes.insert(1, StreamNode { id: OperatorId(9), ..node(1) });
        g.edges.push(edge(9, 3));
    });
    assert_eq!(union, [vec![1, 2], vec![9], vec![3]]);
}

#[test]
fn second_input() {
    let join = chains(|g| {
        g.nodes.insert(1, StreamNode { id: OperatorId(9), ..node(1) });
        g.edges.push(StreamEdge { input: 1, ..edge(9, 3) });
    });
    assert_eq!(join, [vec![1, 2], vec![9], vec![3]]);
}

#[test]
fn a_chain_may_branch() {
    let mut graph = line();
    graph.nodes.push(node(4));
    graph.edges.push(edge(2, 4));
    let job = JobGraphGenerator::generate(&graph).unwrap();
    assert_eq!(job.vertices.len(), 1);
    assert_eq!(job.vertices[0].name, "Values -> Calc -> (Calc, Calc)");
    assert_eq!(job.vertices[0].operators[1].outputs, [ChainOutput::Chained(2), ChainOutput::Chained(3)]);
}

#[test]
fn exchanges_are_numbered_and_joined() {
    let mut graph = line();
    graph.edges[1].partitioner = Partitioner::Hash { columns: vec![0] };
    let job = JobGraphGenerator::generate(&graph).unwrap();
    assert_eq!(job.vertices[0].outputs[0].id, job.vertices[1].inputs[0].data_set);
    assert_eq!(job.vertices[0].outputs[0].consumer, job.vertices[1].id);
    assert_eq!(job.vertices[0].operators[1].outputs, [ChainOutput::DataSet(DataSetId(0))]);
}
