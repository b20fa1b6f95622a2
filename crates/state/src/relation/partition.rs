//! One partition: its published versions and who waits for the next one.

use std::collections::VecDeque;
use std::sync::Arc;

use millstream_types::{Epoch, Error, Result, SqlState};
use parking_lot::Mutex;

use super::RelationSpec;
use super::codec::RowMap;

/// Called when something was published.
pub(super) type Waker = Arc<dyn Fn() + Send + Sync>;

pub(super) struct Partition {
    pub(super) spec: RelationSpec,
    inner: Mutex<Inner>,
}

struct Inner {
    /// Counts the writers that registered; a writer of an older one is fenced.
    fence: u64,
    /// Published versions, oldest first; never empty.
    versions: VecDeque<(Epoch, RowMap)>,
    /// The newest cut: equal to the last version's epoch or newer (an epoch without change makes no version).
    cut: Epoch,
    finished: bool,
    dropped: bool,
    bytes: usize,
    wakers: Vec<(u64, Waker)>,
    next_waker: u64,
}

/// Where a subscriber stands against the publisher.
pub(super) enum Progress {
    /// The version at the asked cut.
    Reached(RowMap),
    /// Not published yet.
    Behind,
}

impl Partition {
    /// A new partition, readable as empty from epoch 0 on.
    pub(super) fn new(spec: RelationSpec) -> Self {
        let inner = Inner {
            fence: 0,
            versions: VecDeque::from([(0, RowMap::new())]),
            cut: 0,
            finished: false,
            dropped: false,
            bytes: 0,
            wakers: vec![],
            next_waker: 0,
        };
        Partition { spec, inner: Mutex::new(inner) }
    }

    /// Makes room for a new writer: its fence, and the rows to start from.
    pub(super) fn new_writer(&self) -> u64 {
        let mut inner = self.inner.lock();
        inner.fence += 1;
        inner.fence
    }

    pub(super) fn newest(&self) -> (Epoch, RowMap) {
        let inner = self.inner.lock();
        let map = inner.versions.back().map(|(_, m)| m.clone()).unwrap_or_default();
        (inner.cut, map)
    }

    /// Publishes the version of `epoch`; `None` if nothing changed. Releases versions that no reader at `since` or later needs.
    pub(super) fn publish(&self, fence: u64, epoch: Epoch, since: Epoch, changed: Option<RowMap>, bytes: usize) -> Result<()> {
        let wakers: Vec<Waker> = {
            let mut inner = self.inner.lock();
            if inner.fence != fence {
                return Err(Error::internal(format!("a replaced attempt published relation \"{}\"", self.spec.name)));
            }
            if let Some(map) = changed {
                inner.versions.push_back((epoch, map));
            }
            inner.cut = epoch;
            inner.bytes = bytes;
            while inner.versions.get(1).is_some_and(|(e, _)| *e <= since) {
                inner.versions.pop_front();
            }
            inner.wakers.iter().map(|(_, w)| Arc::clone(w)).collect()
        };
        wakers.iter().for_each(|w| w());
        Ok(())
    }

    /// The rows of a checkpoint, if nothing newer has been published in this process.
    pub(super) fn restore(&self, epoch: Epoch, map: &RowMap, bytes: usize) {
        let mut inner = self.inner.lock();
        inner.finished = false;
        if inner.cut < epoch {
            inner.versions = VecDeque::from([(epoch, map.clone())]);
            inner.cut = epoch;
            inner.bytes = bytes;
        }
    }

    pub(super) fn finish(&self) {
        self.end(|inner| inner.finished = true);
    }

    pub(super) fn mark_dropped(&self) {
        self.end(|inner| inner.dropped = true);
    }

    fn end(&self, set: impl FnOnce(&mut Inner)) {
        let wakers: Vec<Waker> = {
            let mut inner = self.inner.lock();
            set(&mut inner);
            inner.wakers.iter().map(|(_, w)| Arc::clone(w)).collect()
        };
        wakers.iter().for_each(|w| w());
    }

    /// The rows at `epoch`: the newest version that is not newer.
    pub(super) fn version_at(&self, epoch: Epoch) -> Result<RowMap> {
        let inner = self.inner.lock();
        let found = inner.versions.iter().rev().find(|(e, _)| *e <= epoch);
        found.map(|(_, map)| map.clone()).ok_or_else(|| {
            Error::new(SqlState::SNAPSHOT_TOO_OLD, format!("snapshot of relation \"{}\" is too old", self.spec.name))
                .with_detail(format!("Epoch {epoch} was released."))
                .with_hint("run the query again")
        })
    }

    /// The version at `cut` once everything up to it is published; a finished partition has reached every cut.
    pub(super) fn advance(&self, cut: Epoch) -> Result<Progress> {
        let reached = {
            let inner = self.inner.lock();
            if inner.dropped {
                return Err(self.dropped());
            }
            inner.finished || inner.cut >= cut
        };
        if reached { Ok(Progress::Reached(self.version_at(cut)?)) } else { Ok(Progress::Behind) }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.inner.lock().finished
    }

    fn dropped(&self) -> Error {
        Error::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, format!("relation \"{}\" was dropped", self.spec.name))
    }

    pub(super) fn add_waker(&self, waker: Waker) -> u64 {
        let mut inner = self.inner.lock();
        inner.next_waker += 1;
        let id = inner.next_waker;
        inner.wakers.push((id, waker));
        id
    }

    pub(super) fn remove_waker(&self, id: u64) {
        self.inner.lock().wakers.retain(|(i, _)| *i != id);
    }

    pub(super) fn rows_and_bytes(&self) -> (usize, usize) {
        let inner = self.inner.lock();
        (inner.versions.back().map_or(0, |(_, m)| m.len()), inner.bytes)
    }

    pub(super) fn version_count(&self) -> usize {
        self.inner.lock().versions.len()
    }
}

impl std::fmt::Debug for Partition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Partition({}/{})", self.spec.relation, self.spec.subtask)
    }
}
