//! The DML log in memory.

use std::sync::Arc;

use millstream_types::{ChangeBatch, Epoch, RelationId, Result, limits};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::index::Index;
use super::{LogPosition, LogRecord, LogState, LogStore, LogWaker};

/// Records by table, up to a limit in bytes; "durable" at once.
#[derive(Debug)]
pub struct MemoryLog {
    limit_bytes: usize,
    inner: Mutex<Inner>,
    state: watch::Sender<LogState>,
}

#[derive(Debug, Default)]
struct Inner {
    index: Index,
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
        let state = watch::Sender::new(LogState { durable: LogPosition::MAX, failed: None });
        MemoryLog { limit_bytes, inner: Mutex::new(Inner::default()), state }
    }
}

impl LogStore for MemoryLog {
    fn append(&self, record: LogRecord) -> Result<LogPosition> {
        let size: usize = record.changes.iter().map(|(_, c)| c.logical_bytes()).sum();
        let mut inner = self.inner.lock();
        // An empty log takes any transaction: otherwise one that is larger than the limit could never commit.
        if inner.bytes > 0 && inner.bytes + size > self.limit_bytes {
            return Err(super::full(inner.bytes, self.limit_bytes));
        }
        inner.bytes += size;
        let position = inner.index.last + 1;
        inner.index.push(position, record);
        inner.index.durable = position;
        Ok(position)
    }

    fn watch(&self) -> watch::Receiver<LogState> {
        self.state.subscribe()
    }

    fn read(
        &self,
        table: RelationId,
        from: LogPosition,
        up_to: Epoch,
        max: usize,
    ) -> Result<Option<Vec<(LogPosition, Epoch, ChangeBatch)>>> {
        Ok(self.inner.lock().index.read(table, from, up_to, max))
    }

    fn truncate(&self, table: RelationId, up_to: Epoch) {
        let mut inner = self.inner.lock();
        let freed = inner.index.truncate(table, up_to);
        inner.bytes -= freed;
    }

    fn last_epoch(&self, table: RelationId) -> Option<Epoch> {
        self.inner.lock().index.last_epoch(table)
    }

    fn bytes(&self) -> usize {
        self.inner.lock().bytes
    }

    fn on_durable(&self, _waker: LogWaker) {}

    fn forget_waker(&self, _waker: &Arc<dyn Fn() + Send + Sync>) {}
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use millstream_types::{ObjectId, SqlState};

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
        let seen = log.read(a, 0, 2, 10).unwrap().unwrap();
        assert_eq!(seen.iter().map(|(p, e, _)| (*p, *e)).collect::<Vec<_>>(), [(1, 1)]);
        assert_eq!(log.read(a, 1, 3, 10).unwrap().unwrap().len(), 1);
        assert_eq!(log.read(b, 0, 3, 1).unwrap().unwrap().len(), 1);
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
