//! Random topologies with a pool that is much too small: nothing stops, nothing is lost.

use millstream_graph::{JobGraph, Partitioner, StreamEdge, StreamNode};
use proptest::prelude::*;

use super::job::{Behaviour, Job, Script, calc, edge, job_graph, node, sink, source};

/// An operator between sources and sinks: parallelism, and inputs by (any earlier operator, partitioner).
type Middle = (u32, Vec<(prop::sample::Index, u8)>);

const SOURCES: u64 = 2;
const CUTS: u64 = 3;
/// More than a channel's reserve holds.
const ROWS: i64 = 3000;

struct Topology {
    nodes: Vec<StreamNode>,
    edges: Vec<StreamEdge>,
    /// Rows that leave each node.
    rows: Vec<u64>,
}

impl Topology {
    fn add(&mut self, spec: millstream_graph::OperatorSpec, parallelism: u32, inputs: &[(usize, Partitioner)]) {
        let id = self.nodes.len() as u64;
        let mut rows = 0;
        for (from, partitioner) in inputs {
            let times = if *partitioner == Partitioner::Broadcast { u64::from(parallelism) } else { 1 };
            rows += self.rows[*from] * times;
            self.edges.push(edge(*from as u64, id, partitioner.clone()));
        }
        self.nodes.push(node(id, spec, parallelism));
        self.rows.push(rows);
    }

    fn build(parallelism: u32, middle: &[Middle], chaining: bool) -> (JobGraph, u64) {
        let mut t = Topology { nodes: vec![], edges: vec![], rows: vec![] };
        for _ in 0..SOURCES {
            t.add(source(), parallelism, &[]);
            *t.rows.last_mut().unwrap() = u64::from(parallelism) * CUTS * ROWS as u64;
        }
        for (parallelism, inputs) in middle {
            let inputs: Vec<_> = inputs
                .iter()
                .map(|(from, partitioner)| {
                    let from = from.index(t.nodes.len());
                    let same = t.nodes[from].parallelism == *parallelism;
                    let partitioner = match partitioner % 7 {
                        0 if same => Partitioner::Forward,
                        0 | 1 => Partitioner::Hash { columns: vec![0] },
                        2 => Partitioner::Rebalance,
                        3 => Partitioner::Broadcast,
                        4 => Partitioner::Global,
                        _ => Partitioner::Hash { columns: vec![0] },
                    };
                    (from, partitioner)
                })
                .collect();
            t.add(calc(), *parallelism, &inputs);
        }
        let mut expected = 0;
        let has_consumer = |t: &Topology, i: usize| t.edges.iter().any(|e| e.source.0 == i as u64);
        for last in (0..t.nodes.len()).filter(|i| !has_consumer(&t, *i)).collect::<Vec<_>>() {
            expected += t.rows[last];
            t.add(sink(), t.nodes[last].parallelism, &[(last, Partitioner::Forward)]);
        }
        (job_graph(t.nodes, t.edges, chaining), expected)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, max_shrink_iters: 20, ..ProptestConfig::default() })]

    /// Diamonds, unions and broadcasts over channels that can hold nothing but their reserve: every job ends, with every row in its epoch.
    #[test]
    fn backpressure_never_deadlocks(
        parallelism in 1u32..3,
        middle in prop::collection::vec((1u32..4, prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..3)), 1..4),
        pool in prop_oneof![Just(0usize), Just(50_000)],
        linger_ms in prop_oneof![Just(0u64), Just(1000)],
        chaining in any::<bool>(),
    ) {
        let (graph, expected) = Topology::build(parallelism, &middle, chaining);
        let script: Script = (1..=CUTS as i64).map(|epoch| (0..ROWS).map(|k| (k, epoch)).collect()).collect();
        let job = Job::run(&graph, vec![script; parallelism as usize], pool, linger_ms, Behaviour::Collect);
        job.wait_until_finished(CUTS);
        let collected = job.collected();
        prop_assert_eq!(collected.iter().map(|(_, _, rows)| rows.len() as u64).sum::<u64>(), expected);
        prop_assert!(collected.iter().all(|(_, epoch, rows)| rows.iter().all(|(_, sent_in)| *sent_in as u64 == *epoch)));
        prop_assert_eq!(job.pool_in_use(), 0);
    }
}
