//! The records that are not truncated, by table, for readers.

use std::collections::{BTreeMap, VecDeque};

use millstream_types::{ChangeBatch, Epoch, RelationId};

use super::{LogPosition, LogRecord};

/// Records in memory.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The newest record.
    pub(super) last: LogPosition,
    /// The newest durable one.
    pub(super) durable: LogPosition,
    tables: BTreeMap<RelationId, VecDeque<Entry>>,
}

#[derive(Debug)]
struct Entry {
    position: LogPosition,
    epoch: Epoch,
    changes: ChangeBatch,
}

impl Index {
    pub(super) fn push(&mut self, position: LogPosition, record: LogRecord) {
        self.last = position;
        for (table, changes) in record.changes {
            self.tables.entry(table).or_default().push_back(Entry { position, epoch: record.epoch, changes });
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// As [`super::LogStore::read`].
    pub(super) fn read(
        &self,
        table: RelationId,
        from: LogPosition,
        up_to: Epoch,
        max: usize,
    ) -> Option<Vec<(LogPosition, Epoch, ChangeBatch)>> {
        let Some(entries) = self.tables.get(&table) else { return Some(vec![]) };
        let start = entries.partition_point(|e| e.position <= from);
        let wanted = || entries.range(start..).take_while(|e| e.epoch <= up_to).take(max);
        let durable = wanted().take_while(|e| e.position <= self.durable);
        let found: Vec<_> = durable.map(|e| (e.position, e.epoch, e.changes.clone())).collect();
        if found.is_empty() && wanted().next().is_some() { None } else { Some(found) }
    }

    /// Bytes of what went.
    pub(super) fn truncate(&mut self, table: RelationId, up_to: Epoch) -> usize {
        let Some(entries) = self.tables.get_mut(&table) else { return 0 };
        let mut freed = 0;
        while entries.front().is_some_and(|e| e.epoch <= up_to) {
            freed += entries.pop_front().map_or(0, |e| e.changes.logical_bytes());
        }
        if entries.is_empty() {
            self.tables.remove(&table);
        }
        freed
    }

    pub(super) fn last_epoch(&self, table: RelationId) -> Option<Epoch> {
        self.tables.get(&table).and_then(|e| e.back()).map(|e| e.epoch)
    }
}
