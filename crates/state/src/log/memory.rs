//! The DML log in memory.

use std::collections::{BTreeMap, VecDeque};

use millstream_types::{ChangeBatch, Epoch, Error, RelationId, Result, SqlState, limits};
use parking_lot::Mutex;

use super::{LogPosition, LogRecord, LogStore};

/// Records by table, up to a limit in bytes.
#[derive(Debug)]
pub struct MemoryLog {
    limit_bytes: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    position: LogPosition,
    bytes: usize,
    tables: BTreeMap<RelationId, VecDeque<Entry>>,
}

#[derive(Debug)]
struct Entry {
    position: LogPosition,
    epoch: Epoch,
    changes: ChangeBatch,
    bytes: usize,
}

impl Default for MemoryLog {
    fn default() -> Self {
        MemoryLog::new(limits::DML_LOG_MAX_BYTES)
    }
}

impl MemoryLog {
    /// An empty log that holds at most `limit_bytes`.
    pub fn new(limit_bytes: usize) -> Self {
        MemoryLog { limit_bytes, inner: Mutex::new(Inner::default()) }
    }
}

impl LogStore for MemoryLog {
    fn append(&self, record: LogRecord) -> Result<LogPosition> {
        let sizes: Vec<usize> = record.changes.iter().map(|(_, c)| c.logical_bytes()).collect();
        let size: usize = sizes.iter().sum();
        let mut inner = self.inner.lock();
        // An empty log takes any transaction: otherwise one that is larger than the limit could never commit.
        if inner.bytes > 0 && inner.bytes + size > self.limit_bytes {
            return Err(Error::new(SqlState::DISK_FULL, "the log of table changes is full")
                .with_detail(format!("It holds {} of at most {} bytes.", inner.bytes, self.limit_bytes))
                .with_hint("tables take changes from the log all the time: try again, or look in SHOW JOBS for a table that is stuck"));
        }
        inner.position += 1;
        inner.bytes += size;
        let position = inner.position;
        for ((table, changes), bytes) in record.changes.into_iter().zip(sizes) {
            inner.tables.entry(table).or_default().push_back(Entry { position, epoch: record.epoch, changes, bytes });
        }
        Ok(position)
    }

    fn read(&self, table: RelationId, from: LogPosition, up_to: Epoch, max: usize) -> Result<Vec<(LogPosition, Epoch, ChangeBatch)>> {
        let inner = self.inner.lock();
        let Some(entries) = inner.tables.get(&table) else { return Ok(vec![]) };
        let start = entries.partition_point(|e| e.position <= from);
        let wanted = entries.range(start..).take_while(|e| e.epoch <= up_to).take(max);
        Ok(wanted.map(|e| (e.position, e.epoch, e.changes.clone())).collect())
    }

    fn truncate(&self, table: RelationId, up_to: Epoch) {
        let mut inner = self.inner.lock();
        let Some(entries) = inner.tables.get_mut(&table) else { return };
        let mut freed = 0;
        while entries.front().is_some_and(|e| e.epoch <= up_to) {
            freed += entries.pop_front().map_or(0, |e| e.bytes);
        }
        if entries.is_empty() {
            inner.tables.remove(&table);
        }
        inner.bytes -= freed;
    }

    fn last_epoch(&self, table: RelationId) -> Option<Epoch> {
        self.inner.lock().tables.get(&table).and_then(|e| e.back()).map(|e| e.epoch)
    }

    fn bytes(&self) -> usize {
        self.inner.lock().bytes
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use millstream_types::ObjectId;

    use super::*;

    fn rows(values: Vec<i64>) -> ChangeBatch {
        let column: ArrayRef = Arc::new(Int64Array::from(values));
        ChangeBatch::inserts(RecordBatch::try_from_iter([("a", column)]).unwrap())
    }

    #[test]
    fn a_reader_sees_its_table_up_to_its_epoch_in_order() {
        let log = MemoryLog::default();
        let (a, b) = (ObjectId(1), ObjectId(2));
        log.append(LogRecord { epoch: 1, changes: vec![(a, rows(vec![1])), (b, rows(vec![2]))] }).unwrap();
        log.append(LogRecord { epoch: 2, changes: vec![(b, rows(vec![3]))] }).unwrap();
        log.append(LogRecord { epoch: 3, changes: vec![(a, rows(vec![4]))] }).unwrap();
        let seen = log.read(a, 0, 2, 10).unwrap();
        assert_eq!(seen.iter().map(|(p, e, _)| (*p, *e)).collect::<Vec<_>>(), [(1, 1)]);
        assert_eq!(log.read(a, 1, 3, 10).unwrap().len(), 1);
        assert_eq!(log.read(b, 0, 3, 1).unwrap().len(), 1);
        log.truncate(a, 1);
        assert_eq!(log.last_epoch(a), Some(3));
        log.truncate(a, 3);
        log.truncate(b, 3);
        assert_eq!((log.last_epoch(a), log.bytes()), (None, 0));
    }

    #[test]
    fn a_full_log_refuses_until_it_is_truncated() {
        let log = MemoryLog::new(20);
        let t = ObjectId(1);
        log.append(LogRecord { epoch: 1, changes: vec![(t, rows(vec![1, 2]))] }).unwrap();
        let full = log.append(LogRecord { epoch: 1, changes: vec![(t, rows(vec![3]))] }).unwrap_err();
        assert_eq!(full.state(), SqlState::DISK_FULL);
        log.truncate(t, 1);
        log.append(LogRecord { epoch: 2, changes: vec![(t, rows(vec![3]))] }).unwrap();
    }
}
