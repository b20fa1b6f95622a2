//! Bounds, reserve and wake-ups of one channel; the registry of channels.

use millstream_graph::DataSetId;
use millstream_types::{ExecutionAttemptId, ExecutionVertexId, JobId, JobVertexId, limits};

use super::*;
use crate::exchange::ResultPartitionManager;

fn fill(channel: &Channel) -> usize {
    let mut pushed = 0;
    while matches!(channel.push(batch([0]), 8), Push::Done) {
        pushed += 1;
    }
    pushed
}

#[test]
fn the_reserve_is_there_when_the_pool_is_empty_and_a_larger_batch_must_be_split() {
    let (c, pool) = channels(1, 0);
    let big = batch(0..10_000);
    let bytes = big.logical_bytes();
    assert!(bytes > limits::CHANNEL_RESERVE_BYTES);
    assert!(matches!(c[0].push(big.clone(), bytes), Push::Split(_)));
    assert!(matches!(c[0].push(big.slice(0, 100), 800), Push::Done));
    // With something queued it is not worth splitting: the producer waits.
    assert!(matches!(c[0].push(big, bytes), Push::Full(_)));
    assert_eq!(pool.usage(), (0, 0));
}

#[test]
fn a_row_larger_than_the_reserve_passes_alone() {
    let (c, _pool) = channels(1, 0);
    let row = wide_row(limits::CHANNEL_RESERVE_BYTES * 2);
    let bytes = row.logical_bytes();
    assert!(matches!(c[0].push(row.clone(), bytes), Push::Done));
    assert!(matches!(c[0].push(row.clone(), bytes), Push::Full(_)));
    assert!(c[0].pop().is_some());
    assert!(matches!(c[0].push(row, bytes), Push::Done));
}

#[test]
fn what_is_borrowed_comes_back_by_pop_and_by_close() {
    let (c, pool) = channels(2, 1 << 20);
    let big = batch(0..10_000);
    let bytes = big.logical_bytes();
    c.iter().for_each(|c| assert!(matches!(c.push(big.clone(), bytes), Push::Done)));
    assert_eq!(pool.usage().0, 2 * bytes);
    c[0].pop();
    assert_eq!(pool.usage().0, bytes);
    c[1].close();
    assert_eq!(pool.usage().0, 0);
    assert!(matches!(c[1].push(big, bytes), Push::Done), "what is pushed into a closed channel is dropped");
    assert!(c[1].pop().is_none());
}

#[test]
fn events_pass_a_full_channel() {
    let (c, _pool) = channels(1, 1 << 20);
    assert_eq!(fill(&c[0]), limits::CHANNEL_MAX_BATCHES);
    push(&c[0], barrier(1));
    for _ in 0..limits::CHANNEL_MAX_BATCHES {
        assert!(matches!(c[0].pop(), Some(StreamElement::Batch(_))));
    }
    assert!(matches!(c[0].pop(), Some(StreamElement::Barrier(_))));
}

/// A wake-up costs a switch of threads: there is one when the producer waits for room, and none otherwise.
#[test]
fn only_a_producer_that_waits_is_woken_and_only_once_there_is_room_for_many() {
    let (c, _pool) = channels(1, 1 << 20);
    let producer = TaskWaker::new();
    c[0].set_producer(producer.clone());
    push(&c[0], StreamElement::Batch(batch([1])));
    c[0].pop();
    assert!(!producer.take());
    fill(&c[0]);
    let woken_after = (1..).find(|_| c[0].pop().is_none() || producer.take()).unwrap();
    assert_eq!(woken_after, limits::CHANNEL_MAX_BATCHES / 2);
}

#[test]
fn a_producer_that_waits_for_the_pool_is_woken_by_another_channels_pop() {
    let big = batch(0..10_000);
    let bytes = big.logical_bytes();
    let (c, _pool) = channels(2, bytes);
    let producer = TaskWaker::new();
    c[1].set_producer(producer.clone());
    assert!(matches!(c[0].push(big.clone(), bytes), Push::Done));
    assert!(matches!(c[1].push(batch([1]), 8), Push::Done));
    assert!(matches!(c[1].push(big.clone(), bytes), Push::Full(_)));
    assert!(!producer.take());
    c[0].pop();
    assert!(producer.take());
    assert!(matches!(c[1].push(big, bytes), Push::Done));
}

#[test]
fn producer_and_consumer_come_in_any_order() {
    let pool = Arc::new(NetworkBufferPool::new(0));
    let manager = ResultPartitionManager::new(pool);
    let attempt = |job| {
        let vertex = ExecutionVertexId { job: JobId(job), vertex: JobVertexId(1), subtask: 0 };
        ExecutionAttemptId { vertex, attempt: 0 }
    };
    let consumer_first = manager.channel(attempt(1), DataSetId(0), 2);
    assert!(Arc::ptr_eq(&consumer_first, &manager.channel(attempt(1), DataSetId(0), 2)));
    assert!(!Arc::ptr_eq(&consumer_first, &manager.channel(attempt(1), DataSetId(1), 2)));
    manager.channel(attempt(2), DataSetId(0), 0);
    manager.release_job(JobId(1));
    assert_eq!(manager.len(), 1);
}
