//! The committed changes of a table, from the DML log, cut at the tick's epoch. Every subtask reads all records of the table and keeps the
//! rows whose key group is its own. Retract.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray};
use millstream_graph::TableLogSpec;
use millstream_state::{LogPosition, LogStore};
use millstream_types::{ChangeBatch, Epoch, Error, KeyGroupRange, KeyHasher, RelationId, Result, SqlState};

use super::{SourcePoll, SourceReader};

/// Records read from the log at once.
const RECORDS: usize = 256;

/// The reader of a [`TableLogSpec`].
pub struct TableLogReader {
    table: RelationId,
    key: Vec<usize>,
    log: Arc<dyn LogStore>,
    /// `None` if it owns all key groups.
    filter: Option<(KeyHasher, KeyGroupRange)>,
    /// Behind the last record that was handed out.
    position: LogPosition,
    /// Records that were read and not yet handed out, the next one last.
    ready: Vec<(LogPosition, ChangeBatch)>,
}

impl TableLogReader {
    /// Reads the log from its start, for the owner of `range`.
    pub fn new(spec: &TableLogSpec, log: Arc<dyn LogStore>, range: KeyGroupRange, max_parallelism: u32) -> Self {
        let all = range.start == 0 && range.end == max_parallelism;
        let filter = (!all).then(|| (KeyHasher::new(max_parallelism), range));
        TableLogReader { table: spec.table, key: spec.key.clone(), log, filter, position: 0, ready: vec![] }
    }

    /// The rows of a record that are this subtask's.
    fn own(&mut self, batch: ChangeBatch) -> Result<ChangeBatch> {
        let Some((hasher, range)) = &mut self.filter else { return Ok(batch) };
        let keys: Vec<ArrayRef> = self.key.iter().map(|k| ArrayRef::clone(batch.column(*k))).collect();
        let groups = hasher.key_groups(&keys, batch.num_rows())?;
        let mask: BooleanArray = groups.iter().map(|g| Some(range.contains(*g))).collect();
        if mask.false_count() == 0 { Ok(batch) } else { batch.filter(&mask) }
    }

    /// Records up to the cut, merged to about `max_rows` rows; `None` when there are no more.
    fn next(&mut self, cut: Epoch, max_rows: usize) -> Result<Option<ChangeBatch>> {
        let (mut merged, mut count) = (vec![], 0);
        while count < max_rows.max(1) {
            if self.ready.is_empty() {
                let records = self.log.read(self.table, self.position, cut, RECORDS)?;
                self.ready = records.into_iter().rev().map(|(position, _, batch)| (position, batch)).collect();
            }
            let Some((position, batch)) = self.ready.pop() else { break };
            self.position = position;
            let batch = self.own(batch)?;
            if !batch.is_empty() {
                count += batch.num_rows();
                merged.push(batch);
            }
        }
        merged.first().map(ChangeBatch::schema).map(|schema| ChangeBatch::concat(&schema, &merged)).transpose()
    }
}

impl SourceReader for TableLogReader {
    /// Only a cut says that a record's epoch is complete: without one there is nothing to read.
    fn poll(&mut self, cut: Option<Epoch>, max_rows: usize) -> Result<SourcePoll> {
        let Some(cut) = cut else { return Ok(SourcePoll::Pending { wake_after: None }) };
        Ok(self.next(cut, max_rows)?.map_or(SourcePoll::CutReached, SourcePoll::Batch))
    }

    fn snapshot(&self) -> Result<Vec<u8>> {
        Ok(self.position.to_le_bytes().to_vec())
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        let position = bytes.try_into().map_err(|_| Error::new(SqlState::DATA_CORRUPTED, "stored position in the log cannot be read"))?;
        self.position = LogPosition::from_le_bytes(position);
        self.ready.clear();
        Ok(())
    }
}
