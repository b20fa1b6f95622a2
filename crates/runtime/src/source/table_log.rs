//! The committed changes of a table, from the DML log, cut at the tick's epoch. Every subtask reads all records of the table and keeps the
//! rows whose key group is its own. Retract.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray};
use millstream_graph::TableLogSpec;
use millstream_state::{LogPosition, LogStore, LogWaker};
use millstream_types::{ChangeBatch, Epoch, KeyGroupRange, KeyHasher, RelationId, Result};

use super::{SourcePoll, SourcePosition, SourceReader};

/// Records read from the log at once.
const RECORDS: usize = 256;

/// The reader of a [`TableLogSpec`].
pub struct TableLogReader {
    table: RelationId,
    key: Vec<usize>,
    log: Arc<dyn LogStore>,
    /// Called when more is durable.
    waker: LogWaker,
    /// `None` if it owns all key groups.
    filter: Option<(KeyHasher, KeyGroupRange)>,
    /// Behind the last record that was handed out.
    position: LogPosition,
    /// Records up to this epoch are in the state already.
    restored: Epoch,
    /// Records that were read and not yet handed out, the next one last.
    ready: Vec<(LogPosition, Epoch, ChangeBatch)>,
}

impl TableLogReader {
    /// Reads the log from its start, for the owner of `range`.
    pub fn new(spec: &TableLogSpec, log: Arc<dyn LogStore>, waker: LogWaker, range: KeyGroupRange, max_parallelism: u32) -> Self {
        log.on_durable(Arc::clone(&waker));
        let all = range.start == 0 && range.end == max_parallelism;
        let filter = (!all).then(|| (KeyHasher::new(max_parallelism), range));
        TableLogReader { table: spec.table, key: spec.key.clone(), log, waker, filter, position: 0, restored: 0, ready: vec![] }
    }

    /// The rows of a record that are this subtask's.
    fn own(&mut self, batch: ChangeBatch) -> Result<ChangeBatch> {
        let Some((hasher, range)) = &mut self.filter else { return Ok(batch) };
        let keys: Vec<ArrayRef> = self.key.iter().map(|k| ArrayRef::clone(batch.column(*k))).collect();
        let groups = hasher.key_groups(&keys, batch.num_rows())?;
        let mask: BooleanArray = groups.iter().map(|g| Some(range.contains(*g))).collect();
        if mask.false_count() == 0 { Ok(batch) } else { batch.filter(&mask) }
    }

    /// Records up to the cut, merged to about `max_rows` rows; it waits for records that are not durable yet.
    fn next(&mut self, cut: Epoch, max_rows: usize) -> Result<SourcePoll> {
        let (mut merged, mut count) = (vec![], 0);
        let mut end = SourcePoll::CutReached;
        while count < max_rows.max(1) {
            if self.ready.is_empty() {
                let Some(records) = self.log.read(self.table, self.position, cut, RECORDS)? else {
                    end = SourcePoll::Pending { wake_after: None };
                    break;
                };
                self.ready = records;
                self.ready.reverse();
            }
            let Some((position, epoch, batch)) = self.ready.pop() else { break };
            self.position = position;
            if epoch <= self.restored {
                continue;
            }
            let batch = self.own(batch)?;
            if !batch.is_empty() {
                count += batch.num_rows();
                merged.push(batch);
            }
        }
        Ok(match merged.first().map(ChangeBatch::schema) {
            Some(schema) => SourcePoll::Batch(ChangeBatch::concat(&schema, &merged)?),
            None => end,
        })
    }
}

impl SourceReader for TableLogReader {
    /// Only a cut says that a record's epoch is complete: without one there is nothing to read.
    fn poll(&mut self, cut: Option<Epoch>, max_rows: usize) -> Result<SourcePoll> {
        let Some(cut) = cut else { return Ok(SourcePoll::Pending { wake_after: None }) };
        self.next(cut, max_rows)
    }

    /// Nothing: the epoch says which records are done, to any parallelism.
    fn snapshot(&self) -> Result<Vec<u8>> {
        Ok(vec![])
    }

    fn restore(&mut self, _positions: &[SourcePosition], epoch: Epoch) -> Result<()> {
        self.position = 0;
        self.restored = epoch;
        self.ready.clear();
        Ok(())
    }
}

impl Drop for TableLogReader {
    fn drop(&mut self) {
        self.log.forget_waker(&self.waker);
    }
}
