//! Versions, subscriptions and their invariants.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::Int64Type;
use millstream_types::{Barrier, ChangeBatch, Column, Epoch, KeyGroupRange, ObjectId, RowKind, Schema, SqlState, SqlType};
use proptest::prelude::*;

use super::*;

const R: ObjectId = ObjectId(1);

fn spec(key: Option<Vec<usize>>) -> RelationSpec {
    let columns = vec![Column::new("k", SqlType::BigInt), Column::new("v", SqlType::BigInt)];
    RelationSpec { relation: R, name: "r".into(), schema: Schema::new(columns), key, subtask: 0, parallelism: 1, max_parallelism: 128 }
}

fn batch(rows: &[(RowKind, i64, i64)]) -> ChangeBatch {
    let k: ArrayRef = Arc::new(rows.iter().map(|r| Some(r.1)).collect::<Int64Array>());
    let v: ArrayRef = Arc::new(rows.iter().map(|r| Some(r.2)).collect::<Int64Array>());
    ChangeBatch::new(RecordBatch::try_new(spec(None).schema.to_arrow(), vec![k, v]).unwrap(), rows.iter().map(|r| r.0).collect())
}

fn barrier(epoch: Epoch, since: Epoch) -> Barrier {
    Barrier { epoch, since, checkpoint: None }
}

fn pairs(batch: &RecordBatch) -> Vec<(i64, i64)> {
    let (k, v) = (batch.column(0).as_primitive::<Int64Type>(), batch.column(1).as_primitive::<Int64Type>());
    k.values().iter().copied().zip(v.values().iter().copied()).collect()
}

fn scan(store: &RelationStore, epoch: Epoch) -> Vec<(i64, i64)> {
    let request = ScanRequest { epoch, projection: vec![0, 1], limit: None };
    store.scan(R, 0, &request).unwrap().flat_map(|b| pairs(&b.unwrap())).collect()
}

fn whole() -> KeyGroupRange {
    KeyGroupRange { start: 0, end: 128 }
}

#[test]
fn readers_see_their_epoch_until_it_is_released() {
    use RowKind::{Delete, Insert, UpdateAfter, UpdateBefore};
    let store = RelationStore::new();
    let mut writer = store.register(spec(Some(vec![0]))).unwrap();
    assert_eq!(scan(&store, 5), []);
    writer.apply(&batch(&[(Insert, 1, 10), (Insert, 2, 20)])).unwrap();
    assert!(writer.publish(barrier(3, 0)).unwrap());
    writer.apply(&batch(&[(UpdateBefore, 1, 10), (UpdateAfter, 1, 11), (Delete, 2, 20)])).unwrap();
    writer.publish(barrier(5, 0)).unwrap();
    assert!(!writer.publish(barrier(6, 0)).unwrap());
    assert_eq!(scan(&store, 4), [(1, 10), (2, 20)]);
    assert_eq!(scan(&store, 9), [(1, 11)]);
    writer.publish(barrier(7, 6)).unwrap();
    let gone = store.scan(R, 0, &ScanRequest { epoch: 4, projection: vec![0], limit: None }).unwrap_err();
    assert_eq!(gone.state(), SqlState::SNAPSHOT_TOO_OLD);
    let keys = RecordBatch::try_from_iter([("k", Arc::new(Int64Array::from(vec![7, 1])) as ArrayRef)]).unwrap();
    assert_eq!(pairs(&store.get(R, &keys, 9).unwrap()), [(1, 11)]);
}

#[test]
fn changes_are_netted_and_judged_at_the_barrier_only() {
    use RowKind::{Delete, Insert};
    let store = RelationStore::new();
    let mut writer = store.register(spec(Some(vec![0]))).unwrap();
    // Two rows for a key, and a retraction before its row: fine while the epoch is open.
    writer.apply(&batch(&[(Delete, 3, 1), (Insert, 1, 10), (Insert, 1, 11), (Insert, 3, 1), (Delete, 1, 10)])).unwrap();
    writer.publish(barrier(1, 0)).unwrap();
    assert_eq!(scan(&store, 1), [(1, 11)]);
    writer.apply(&batch(&[(Insert, 1, 12)])).unwrap();
    let two = writer.publish(barrier(2, 0)).unwrap_err();
    assert!(two.to_string().contains("two rows for one key") && two.detail().unwrap().contains("(k)=(1)"), "{two}");
}

#[test]
fn a_multiset_counts() {
    use RowKind::{Delete, Insert};
    let store = RelationStore::new();
    let mut writer = store.register(spec(None)).unwrap();
    writer.apply(&batch(&[(Insert, 1, 1), (Insert, 1, 1), (Insert, 2, 2)])).unwrap();
    writer.publish(barrier(1, 0)).unwrap();
    assert_eq!(scan(&store, 1), [(1, 1), (1, 1), (2, 2)]);
    let limited = ScanRequest { epoch: 1, projection: vec![], limit: Some(2) };
    assert_eq!(store.scan(R, 0, &limited).unwrap().map(|b| b.unwrap().num_rows()).sum::<usize>(), 2);
    writer.apply(&batch(&[(Delete, 1, 1), (Delete, 2, 2), (Delete, 2, 2)])).unwrap();
    assert!(writer.publish(barrier(2, 0)).is_err());
}

#[test]
fn a_dropped_relation_ends_its_subscribers() {
    let store = RelationStore::new();
    let _writer = store.register(spec(None)).unwrap();
    let mut subscription = store.subscribe(R, whole(), 128, vec![0], Arc::new(|| ())).unwrap();
    store.drop_relation(R);
    assert_eq!(subscription.poll(Some(1)).unwrap_err().state(), SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE);
}

#[test]
fn a_replaced_writer_is_fenced() {
    let store = RelationStore::new();
    let mut old = store.register(spec(None)).unwrap();
    let mut new = store.register(spec(None)).unwrap();
    assert!(old.publish(barrier(1, 0)).is_err());
    new.publish(barrier(1, 0)).unwrap();
}

/// What a subscriber has summed up: count per row.
#[derive(Default)]
struct Received(BTreeMap<(i64, i64), i64>);

impl Received {
    fn add(&mut self, batch: &ChangeBatch) {
        for (i, pair) in pairs(batch.rows()).into_iter().enumerate() {
            let count = self.0.entry(pair).or_default();
            *count += batch.kind(i).sign();
            if *count == 0 {
                self.0.remove(&pair);
            }
        }
    }
}

/// Polls to the cut; returns false if it is not reached yet.
fn drain(subscription: &mut Subscription, cut: Epoch, into: &mut Received) -> bool {
    loop {
        match subscription.poll(Some(cut)).unwrap() {
            SubscriptionPoll::Batch(b) => into.add(&b),
            SubscriptionPoll::CutReached => return true,
            SubscriptionPoll::Pending => return false,
            SubscriptionPoll::Finished => panic!("the relation is not finished"),
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Set(i64, i64),
    Remove(i64),
    Publish,
    /// Poll for backfill chunks without a cut.
    Chunk,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0i64..30, 0i64..5).prop_map(|(k, v)| Step::Set(k, v)),
        3 => (0i64..30).prop_map(Step::Remove),
        2 => Just(Step::Publish),
        1 => Just(Step::Chunk),
    ];
    prop::collection::vec(step, 0..150)
}

proptest! {
    /// However backfill chunks, changes and cuts interleave: once the backfill is over, a subscriber has exactly the relation's rows at
    /// every cut, split over two consumers by key group as well.
    #[test]
    #[allow(clippy::panic)]
    fn subscribers_equal_the_relation_at_every_cut(before in steps(), after in steps(), keyed in any::<bool>()) {
        let store = RelationStore::new();
        let mut writer = store.register(spec(keyed.then(|| vec![0]))).unwrap();
        let mut model: BTreeMap<i64, i64> = BTreeMap::new();
        let mut epoch = 0;
        let mut consumers: Vec<(Subscription, Received)> = vec![];
        let halves = [whole(), KeyGroupRange { start: 0, end: 64 }, KeyGroupRange { start: 64, end: 128 }];
        for (phase, steps) in [before, after].into_iter().enumerate() {
            if phase == 1 {
                for range in halves {
                    let subscription = store.subscribe(R, range, 128, vec![0, 1], Arc::new(|| ())).unwrap();
                    consumers.push((subscription, Received::default()));
                }
            }
            for step in steps.into_iter().chain([Step::Chunk, Step::Publish]) {
                match step {
                    Step::Set(k, v) => match model.insert(k, v) {
                        Some(old) => writer.apply(&batch(&[(RowKind::UpdateBefore, k, old), (RowKind::UpdateAfter, k, v)])).unwrap(),
                        None => writer.apply(&batch(&[(RowKind::Insert, k, v)])).unwrap(),
                    },
                    Step::Remove(k) => if let Some(old) = model.remove(&k) {
                        writer.apply(&batch(&[(RowKind::Delete, k, old)])).unwrap();
                    },
                    Step::Chunk => for (subscription, received) in &mut consumers {
                        if let SubscriptionPoll::Batch(b) = subscription.poll(None).unwrap() {
                            received.add(&b);
                        }
                    },
                    Step::Publish => {
                        for (subscription, received) in &mut consumers {
                            prop_assert!(!drain(subscription, epoch + 1, received), "a cut that was not published was reached");
                        }
                        epoch += 1;
                        writer.publish(barrier(epoch, epoch - 1)).unwrap();
                        for (subscription, received) in &mut consumers {
                            prop_assert!(drain(subscription, epoch, received));
                        }
                        prop_assert_eq!(scan(&store, epoch), model.iter().map(|(k, v)| (*k, *v)).collect::<Vec<_>>());
                    }
                }
            }
        }
        for (subscription, received) in &mut consumers {
            while !subscription.backfill_done() {
                if let SubscriptionPoll::Batch(b) = subscription.poll(None).unwrap() {
                    received.add(&b);
                }
            }
            prop_assert!(received.0.values().all(|c| *c == 1));
        }
        let rows: Vec<(i64, i64)> = model.into_iter().collect();
        let of = |i: usize| consumers[i].1.0.keys().copied().collect::<Vec<_>>();
        prop_assert_eq!(of(0), rows.clone());
        let mut both = of(1);
        both.extend(of(2));
        both.sort_unstable();
        prop_assert_eq!(both, rows);
        writer.finish();
        for (subscription, _) in &mut consumers {
            prop_assert!(matches!(subscription.poll(None).unwrap(), SubscriptionPoll::Finished));
        }
    }
}
