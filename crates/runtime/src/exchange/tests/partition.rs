//! Splitting, coalescing and splitting to fit.

use std::time::Duration;

use millstream_graph::{DataSetId, Partitioner};
use millstream_types::{Clock, KeyHasher, RowKind, SimulatedClock, key_group, limits};
use proptest::prelude::*;

use super::*;
use crate::exchange::ResultPartition;
use crate::task::{ResultPartitionDescriptor, TaskConfig, TaskControl};

const MAX_PARALLELISM: u32 = 128;

fn partition(partitioner: Partitioner, channels: &[Arc<Channel>], linger_ms: u64, clock: &Arc<SimulatedClock>) -> ResultPartition {
    let descriptor = ResultPartitionDescriptor {
        data_set: DataSetId(0),
        partitioner,
        subpartitions: u32::try_from(channels.len()).unwrap(),
        consumer_max_parallelism: MAX_PARALLELISM,
    };
    let clock = Arc::clone(clock) as Arc<dyn Clock>;
    let control = TaskControl::new(Arc::clone(&clock));
    ResultPartition::new(&descriptor, channels.to_vec(), 0, &TaskConfig { linger_ms, batch_rows: 4, checkpoints: false }, control, clock)
}

fn popped(channel: &Channel) -> Vec<ChangeBatch> {
    let batches = std::iter::from_fn(|| channel.pop()).filter_map(|e| match e {
        StreamElement::Batch(batch) => Some(batch),
        _ => None,
    });
    batches.collect()
}

fn sizes(channel: &Channel) -> Vec<usize> {
    popped(channel).iter().map(ChangeBatch::num_rows).collect()
}

proptest! {
    /// Every row goes to the owner of its key group, with its kind, in order; no empty batch is sent.
    #[test]
    fn hash_sends_every_row_to_the_owner_of_its_key_group(
        keys in prop::collection::vec(-20i64..20, 0..300),
        retracts in prop::collection::vec(any::<bool>(), 300),
        parallelism in 1u32..6,
    ) {
        let (channels, _pool) = channels(parallelism as usize, 1 << 20);
        let kinds: Vec<_> = keys.iter().zip(&retracts).map(|(_, r)| if *r { RowKind::Delete } else { RowKind::Insert }).collect();
        let rows = batch(keys.iter().copied());
        let groups = KeyHasher::new(MAX_PARALLELISM).key_groups(&[Arc::clone(rows.column(0))], keys.len()).unwrap();
        let owner = |i: usize| key_group::subtask_of(groups[i], parallelism, MAX_PARALLELISM);
        let sent = ChangeBatch::new(rows.rows().clone(), kinds.clone());
        partition(Partitioner::Hash { columns: vec![0] }, &channels, 0, &Arc::default()).batch(sent).unwrap();
        for (subtask, channel) in (0..parallelism).zip(&channels) {
            let expected: Vec<_> = (0..keys.len()).filter(|i| owner(*i) == subtask).map(|i| (keys[i], kinds[i])).collect();
            let got = popped(channel);
            prop_assert!(got.iter().all(|b| !b.is_empty()));
            let got: Vec<_> = got.iter().flat_map(|b| values(b).into_iter().enumerate().map(|(i, v)| (v, b.kind(i))).collect::<Vec<_>>()).collect();
            prop_assert_eq!(got, expected);
        }
    }
}

#[test]
fn the_other_partitioners() {
    let given = |partitioner| {
        let (channels, _pool) = channels(3, 1 << 20);
        let mut partition = partition(partitioner, &channels, 0, &Arc::default());
        (0..6).for_each(|v| partition.batch(batch([v])).unwrap());
        channels.iter().map(|c| sizes(c).len()).collect::<Vec<_>>()
    };
    assert_eq!(given(Partitioner::Rebalance), [2, 2, 2]);
    assert_eq!(given(Partitioner::Rescale), [2, 2, 2]);
    assert_eq!(given(Partitioner::Broadcast), [6, 6, 6]);
    assert_eq!(given(Partitioner::Global), [6, 0, 0]);
}

#[test]
fn forward_passes_by_reference() {
    let (channels, _pool) = channels(1, 1 << 20);
    let sent = batch(0..4);
    partition(Partitioner::Forward, &channels, 10, &Arc::default()).batch(sent.clone()).unwrap();
    assert!(Arc::ptr_eq(popped(&channels[0])[0].column(0), sent.column(0)));
}

#[test]
fn small_batches_wait_for_size_linger_event_or_an_idle_input() {
    let clock = Arc::new(SimulatedClock::default());
    let (c, _pool) = channels(1, 1 << 20);
    let mut p = partition(Partitioner::Forward, &c, 10, &clock);
    let one = || batch([1]);
    // Size: four rows.
    (0..4).for_each(|_| p.batch(one()).unwrap());
    assert_eq!(sizes(&c[0]), [4]);
    // A large one does not wait.
    p.batch(batch(0..3)).unwrap();
    assert_eq!(sizes(&c[0]), [3]);
    // Linger.
    p.batch(one()).unwrap();
    clock.advance(Duration::from_millis(9));
    p.flush_due().unwrap();
    assert_eq!(sizes(&c[0]), [0usize; 0]);
    clock.advance(Duration::from_millis(1));
    p.flush_due().unwrap();
    assert_eq!(sizes(&c[0]), [1]);
    // Idle input.
    p.batch(one()).unwrap();
    p.batch(one()).unwrap();
    p.flush().unwrap();
    assert_eq!(sizes(&c[0]), [2]);
    // Events, which come behind what waited.
    for event in [barrier(1), StreamElement::Watermark(3), StreamElement::EndOfInput] {
        p.batch(one()).unwrap();
        p.event(&event).unwrap();
        assert!(matches!(c[0].pop(), Some(StreamElement::Batch(_))));
        assert!(c[0].pop().is_some());
    }
    // Without linger nothing waits.
    let mut p = partition(Partitioner::Forward, &c, 0, &clock);
    p.batch(one()).unwrap();
    assert_eq!(sizes(&c[0]), [1]);
}

/// With an empty pool, a batch of many times the reserve still passes, in slices that fit, in order.
#[test]
fn a_batch_is_split_to_fit() {
    let (c, pool) = channels(1, 0);
    let rows = 20 * i64::try_from(limits::CHANNEL_RESERVE_BYTES / 8).unwrap();
    let clock = Arc::default();
    let waker = TaskWaker::new();
    waker.register();
    let mut gate = gate(&c, &waker);
    let mut got = vec![];
    let send = || {
        let descriptor = ResultPartitionDescriptor {
            data_set: DataSetId(0),
            partitioner: Partitioner::Forward,
            subpartitions: 1,
            consumer_max_parallelism: MAX_PARALLELISM,
        };
        let clock: Arc<dyn Clock> = Arc::<SimulatedClock>::clone(&clock);
        let control = TaskControl::new(Arc::clone(&clock));
        control.waker.register();
        let config = TaskConfig { linger_ms: 0, batch_rows: 4, checkpoints: false };
        let mut partition = ResultPartition::new(&descriptor, c.clone(), 0, &config, control, clock);
        partition.batch(batch(0..rows)).unwrap();
        partition.event(&StreamElement::EndOfInput).unwrap();
    };
    std::thread::scope(|scope| {
        scope.spawn(send);
        loop {
            match gate.poll() {
                Some(GateEvent::Batch(_, slice)) => {
                    assert!(slice.logical_bytes() <= limits::CHANNEL_RESERVE_BYTES);
                    got.extend(values(&slice));
                }
                Some(GateEvent::End) => break,
                Some(other) => panic!("{other:?}"),
                None => waker.wait(None),
            }
        }
    });
    assert_eq!(got, (0..rows).collect::<Vec<_>>());
    assert_eq!(pool.usage(), (0, 0));
}
