//! Following a relation: first its rows in key order, then its changes, cut by cut.
//!
//! Backfill: at a snapshot, chunks of rows behind the position reached are handed out as `+I`. When a cut moves the snapshot on, the
//! changes to rows up to the position are handed out and those behind it are not, for their rows are still to come. So the consumer
//! has, at every cut, exactly the rows up to the position as of that cut.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray};
use imbl::ordmap::DiffItem;
use millstream_types::{ChangeBatch, Epoch, Error, KeyGroupRange, KeyHasher, Result, RowKind, SqlState, limits};
use serde::{Deserialize, Serialize};

use super::codec::{RelationCodec, RowMap};
use super::partition::{Partition, Progress, Waker};
use super::writer::UPDATE;

/// What a poll brought.
#[derive(Debug)]
pub enum SubscriptionPoll {
    /// Changes, projected.
    Batch(ChangeBatch),
    /// Nothing now; the waker will be called.
    Pending,
    /// All that belongs to epochs up to the asked cut was handed out.
    CutReached,
    /// The relation is complete and was handed out completely.
    Finished,
}

/// How to subscribe.
pub(super) struct Subscribe {
    pub(super) range: KeyGroupRange,
    pub(super) max_parallelism: u32,
    pub(super) projection: Vec<usize>,
    pub(super) waker: Waker,
}

/// A subscriber's position in every partition it reads.
pub struct Subscription {
    codec: RelationCodec,
    projection: Vec<usize>,
    parts: Vec<Part>,
    filter: Option<Filter>,
    /// Changes that were taken from a partition and not yet handed out.
    ready: VecDeque<(Arc<[u8]>, RowKind)>,
}

/// Keeps the rows whose key group is the subscriber's.
struct Filter {
    hasher: KeyHasher,
    range: KeyGroupRange,
    /// Key columns (all columns of a multiset).
    columns: Vec<usize>,
}

/// A partition's place in a stored position.
#[derive(Serialize, Deserialize)]
struct SavedPart {
    subtask: u32,
    backfill: Option<Option<Vec<u8>>>,
}

fn other_parallelism() -> Error {
    Error::unsupported("another parallelism while a view is being filled")
        .with_hint("SHOW JOBS shows how far it is: try again when it is done")
}

struct Part {
    partition: Arc<Partition>,
    waker: u64,
    /// The version that was handed out (up to the position).
    map: RowMap,
    /// The cut that was reached.
    cut: Epoch,
    /// During the backfill: the last key handed out.
    backfill: Option<Option<Arc<[u8]>>>,
    done_rows: u64,
}

impl Subscription {
    pub(super) fn new(partitions: Vec<Arc<Partition>>, request: Subscribe) -> Result<Self> {
        let Subscribe { range, max_parallelism, projection, waker } = request;
        let first = partitions.first().ok_or_else(|| Error::internal("a relation without partitions"))?;
        let spec = first.spec.clone();
        let codec = RelationCodec::new(&spec.schema, spec.key.as_deref())?;
        let own = |p: &Arc<Partition>| {
            let s = &p.spec;
            s.max_parallelism == max_parallelism && KeyGroupRange::of_subtask(s.subtask, s.parallelism, s.max_parallelism) == range
        };
        let whole = range.start == 0 && range.end == max_parallelism;
        let (partitions, filter) = match partitions.iter().find(|p| own(p)) {
            Some(one) => (vec![Arc::clone(one)], None),
            None if whole => (partitions, None),
            None => {
                let columns = spec.key.clone().unwrap_or_else(|| (0..spec.schema.len()).collect());
                (partitions, Some(Filter { hasher: KeyHasher::new(max_parallelism), range, columns }))
            }
        };
        let parts = partitions.into_iter().map(|partition| {
            let id = partition.add_waker(Arc::clone(&waker));
            let (cut, map) = partition.newest();
            Part { waker: id, map, cut, backfill: Some(None), done_rows: 0, partition }
        });
        Ok(Subscription { codec, projection, parts: parts.collect(), filter, ready: VecDeque::new() })
    }

    /// How far it is, for [`Subscription::restore`]: of a backfill under way, the last key of every partition.
    ///
    /// # Errors
    /// XX000 if it cannot be written.
    pub fn position(&self) -> Result<Vec<u8>> {
        if self.backfill_done() {
            return Ok(vec![]);
        }
        let parts: Vec<SavedPart> = self
            .parts
            .iter()
            .map(|p| SavedPart { subtask: p.partition.spec.subtask, backfill: p.backfill.clone().map(|b| b.map(|k| k.to_vec())) })
            .collect();
        serde_json::to_vec(&parts).map_err(Error::internal)
    }

    /// Continues at the cut `epoch`, where all subtasks had these positions: (subtask, parallelism, position).
    ///
    /// # Errors
    /// 72000 if the relation's rows of that epoch are gone; 0A000 if a backfill under way would have to be shared out anew.
    pub fn restore(&mut self, positions: &[(u32, u32, &[u8])], (subtask, parallelism): (u32, u32), epoch: Epoch) -> Result<()> {
        let corrupted = |e: serde_json::Error| {
            Error::new(SqlState::DATA_CORRUPTED, "the position of a subscription cannot be read").with_detail(e.to_string())
        };
        let done = positions.iter().all(|(_, _, bytes)| bytes.is_empty());
        let saved: Vec<SavedPart> = if done {
            vec![]
        } else {
            let own = positions.iter().find(|(s, p, _)| (*s, *p) == (subtask, parallelism)).ok_or_else(other_parallelism)?;
            if own.2.is_empty() { vec![] } else { serde_json::from_slice(own.2).map_err(corrupted)? }
        };
        if !saved.is_empty() && saved.len() != self.parts.len() {
            return Err(other_parallelism());
        }
        for part in &mut self.parts {
            let found = saved.iter().find(|s| s.subtask == part.partition.spec.subtask);
            part.backfill = match found {
                Some(saved) => saved.backfill.clone().map(|key| key.map(Arc::from)),
                None if saved.is_empty() => None,
                None => return Err(other_parallelism()),
            };
            part.map = part.partition.version_at(epoch)?;
            part.cut = epoch;
            part.done_rows = match &part.backfill {
                Some(Some(key)) => part.map.range(..=Arc::clone(key)).count() as u64,
                _ => 0,
            };
        }
        self.ready.clear();
        Ok(())
    }

    /// The next changes. With `cut`, everything up to that epoch and then [`SubscriptionPoll::CutReached`]; a cut that was asked for
    /// is asked for until it is reached. Without, only rows of a backfill.
    ///
    /// # Errors
    /// 55000 if the relation was dropped.
    pub fn poll(&mut self, cut: Option<Epoch>) -> Result<SubscriptionPoll> {
        loop {
            if let Some(batch) = self.take_ready()? {
                return Ok(SubscriptionPoll::Batch(batch));
            }
            match cut {
                Some(epoch) => {
                    let Some(part) = self.parts.iter_mut().find(|p| p.cut < epoch) else { return Ok(SubscriptionPoll::CutReached) };
                    match part.partition.advance(epoch)? {
                        Progress::Behind => return Ok(SubscriptionPoll::Pending),
                        Progress::Reached(newer) => part.move_to(newer, epoch, &mut self.ready),
                    }
                }
                None => {
                    if let Some(part) = self.parts.iter_mut().find(|p| p.backfill.is_some()) {
                        part.next_chunk(&mut self.ready);
                    } else if self.is_finished() {
                        return Ok(SubscriptionPoll::Finished);
                    } else {
                        return Ok(SubscriptionPoll::Pending);
                    }
                }
            }
        }
    }

    fn is_finished(&self) -> bool {
        self.parts.iter().all(|p| p.partition.is_finished() && p.cut >= p.partition.newest().0)
    }

    /// True once all rows that were there at the start were handed out.
    pub fn backfill_done(&self) -> bool {
        self.parts.iter().all(|p| p.backfill.is_none())
    }

    /// Rows that the backfill has passed, and rows in all; equal only when it is over.
    pub fn progress(&self) -> (u64, u64) {
        let sum = |of: &dyn Fn(&Part) -> u64| self.parts.iter().map(of).sum::<u64>();
        let all = sum(&|p| p.map.len() as u64);
        if self.backfill_done() {
            return (all, all);
        }
        let done = sum(&|p| if p.backfill.is_some() { p.done_rows } else { p.map.len() as u64 });
        let all = all.max(1);
        (done.min(all - 1), all)
    }

    fn take_ready(&mut self) -> Result<Option<ChangeBatch>> {
        while !self.ready.is_empty() {
            let len = self.ready.len().min(limits::BATCH_TARGET_ROWS);
            let now: Vec<_> = self.ready.drain(..len).collect();
            let kinds = now.iter().map(|(_, k)| *k).collect();
            let rows = now.iter().map(|(r, _)| r.as_ref());
            let batch = match &mut self.filter {
                None => ChangeBatch::new(self.codec.decode(rows, &self.projection)?, kinds),
                Some(filter) => {
                    let all: Vec<usize> = (0..self.codec.schema().fields().len()).collect();
                    let full = ChangeBatch::new(self.codec.decode(rows, &all)?, kinds);
                    let kept = full.filter(&filter.mask(&full)?)?;
                    kept.with_rows(kept.rows().project(&self.projection)?)
                }
            };
            if !batch.is_empty() {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }
}

impl Filter {
    fn mask(&mut self, batch: &ChangeBatch) -> Result<BooleanArray> {
        let columns: Vec<ArrayRef> = self.columns.iter().map(|&c| Arc::clone(batch.column(c))).collect();
        let groups = self.hasher.key_groups(&columns, batch.num_rows())?;
        Ok(groups.into_iter().map(|g| Some(self.range.contains(g))).collect())
    }
}

impl Part {
    /// Hands out the changes from the version it has to `newer`, the one at `cut`; during a backfill only those up to the position.
    fn move_to(&mut self, newer: RowMap, cut: Epoch, out: &mut VecDeque<(Arc<[u8]>, RowKind)>) {
        let seen = |key: &Arc<[u8]>| match &self.backfill {
            None => true,
            Some(None) => false,
            Some(Some(position)) => key <= position,
        };
        for item in self.map.diff(&newer) {
            match item {
                DiffItem::Add(key, e) if seen(key) => push(out, &e.row, RowKind::Insert, e.count),
                DiffItem::Remove(key, e) if seen(key) => push(out, &e.row, RowKind::Delete, e.count),
                DiffItem::Update { old: (key, old), new: (_, new) } if seen(key) => {
                    if old.row != new.row {
                        push(out, &old.row, UPDATE[0], old.count);
                        push(out, &new.row, UPDATE[1], new.count);
                    } else if new.count > old.count {
                        push(out, &new.row, RowKind::Insert, new.count - old.count);
                    } else {
                        push(out, &new.row, RowKind::Delete, old.count - new.count);
                    }
                }
                _ => (),
            }
        }
        self.map = newer;
        self.cut = cut;
    }

    fn next_chunk(&mut self, out: &mut VecDeque<(Arc<[u8]>, RowKind)>) {
        let start = match self.backfill.take().flatten() {
            Some(position) => Bound::Excluded(position),
            None => Bound::Unbounded,
        };
        let mut last = None;
        for (key, entry) in self.map.range((start, Bound::Unbounded)).take(limits::BACKFILL_CHUNK_ROWS) {
            push(out, &entry.row, RowKind::Insert, entry.count);
            last = Some(Arc::clone(key));
            self.done_rows += 1;
        }
        // A chunk without rows was the last one: the backfill is over.
        self.backfill = last.map(Some);
    }
}

fn push(out: &mut VecDeque<(Arc<[u8]>, RowKind)>, row: &Arc<[u8]>, kind: RowKind, count: u64) {
    for _ in 0..count {
        out.push_back((Arc::clone(row), kind));
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.parts.iter().for_each(|p| p.partition.remove_waker(p.waker));
    }
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription").field("parts", &self.parts.len()).field("progress", &self.progress()).finish()
    }
}
