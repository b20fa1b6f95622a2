//! Whole jobs of tasks: real threads and exchanges, scripted sources, collecting sinks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod job;
mod topology;

use std::collections::BTreeMap;
use std::sync::Arc;

use millstream_types::{KeyHasher, SqlState, key_group};
use proptest::prelude::*;

use super::*;
use job::{Behaviour, Job, Script, shuffle};

/// Rows `(key, epoch)` of one source subtask, cut by cut.
fn scripts(rows: &[Vec<Vec<i64>>]) -> Vec<Script> {
    let tagged = |(epoch, keys): (i64, &Vec<i64>)| keys.iter().map(|k| (*k, epoch)).collect();
    rows.iter().map(|cuts| (1..).zip(cuts).map(tagged).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Any number of sources and sinks, any pool, any linger, chained or not: every row arrives once, at the owner of its key, and within
    /// its epoch.
    #[test]
    fn rows_cross_exchanges_once_within_their_epoch_at_their_owner(
        rows in prop::collection::vec(prop::collection::vec(prop::collection::vec(-50i64..50, 0..200), 4..5), 1..4),
        sinks in 1u32..4,
        pool in prop_oneof![Just(0usize), Just(1000), Just(1 << 20)],
        linger_ms in prop_oneof![Just(0u64), Just(1000)],
        chaining in any::<bool>(),
    ) {
        let sources = u32::try_from(rows.len()).unwrap();
        let job = Job::run(&shuffle(sources, sinks, chaining), scripts(&rows), pool, linger_ms, Behaviour::Collect);
        job.wait_until_finished(4);
        let mut expected: Vec<i64> = rows.iter().flatten().flatten().copied().collect();
        expected.sort_unstable();
        let collected = job.collected();
        let mut seen: Vec<i64> = collected.iter().flat_map(|(_, _, rows)| rows).map(|(k, _)| *k).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, expected);
        for (subtask, epoch, rows) in &collected {
            for (key, sent_in) in rows {
                prop_assert_eq!(*sent_in, i64::try_from(*epoch).unwrap(), "a row of epoch {} came in epoch {}", sent_in, epoch);
                let column: arrow::array::ArrayRef = Arc::new(arrow::array::Int64Array::from(vec![*key]));
                let group = KeyHasher::new(128).key_groups(&[column], 1).unwrap()[0];
                prop_assert_eq!(key_group::subtask_of(group, sinks, 128), *subtask);
            }
        }
        prop_assert_eq!(job.pool_in_use(), 0);
    }
}

#[test]
fn a_panic_fails_its_task_with_the_message() {
    let job = Job::run(&shuffle(1, 1, true), scripts(&[vec![vec![1]]]), 1000, 0, Behaviour::Panic);
    let error = job.wait_for_failure();
    assert_eq!(error.state(), SqlState::INTERNAL_ERROR);
    assert!(error.message().contains("the sink panics"), "{error}");
}

#[test]
fn an_error_names_its_operator() {
    let job = Job::run(&shuffle(1, 1, true), scripts(&[vec![vec![1]]]), 1000, 0, Behaviour::Fail);
    let error = job.wait_for_failure();
    assert_eq!(error.state(), SqlState::IO_ERROR);
    assert_eq!(error.detail(), Some("In operator Sink(out)."));
}

#[test]
fn a_task_is_cancelled_while_it_waits_for_room() {
    let endless: Script = vec![(0..2_000_000).map(|k| (k, 1)).collect()];
    let job = Job::run(&shuffle(1, 1, false), vec![endless], 0, 0, Behaviour::Block);
    job.wait_for_backpressure();
    job.cancel();
    // The sink still blocks: what ends the source is the cancellation alone.
    job.wait_until_sources_ended();
    job.release_sinks();
    let states: BTreeMap<_, _> = job.wait_until_ended();
    assert!(states.values().all(|s| *s == ExecutionState::Canceled), "{states:?}");
}

#[test]
fn busy_idle_and_backpressured_time_sum_to_the_wall_time() {
    let job = Job::run(&shuffle(2, 2, true), scripts(&[vec![vec![1, 2, 3]], vec![vec![4]]]), 1000, 0, Behaviour::Collect);
    job.wait_until_finished(1);
    for (wall_us, m) in job.metrics() {
        let sum = m.busy_us + m.idle_us + m.backpressured_us;
        assert!(sum > 0 && sum <= wall_us && m.cpu_us > 0, "{m:?} in {wall_us}");
    }
}
