//! The serving end of CREATE TABLE and CREATE MATERIALIZED VIEW: keeps the rows and publishes a version per epoch.
//!
//! Changelog in: any. Out: none, it ends its chain. State: the relation itself, in the [`millstream_state::RelationStore`], where readers
//! and subscriptions find it; a snapshot is table 0 with key = the row (arrow-row) and value = how often it is there (8 bytes).
//! Watermarks end here.

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use arrow::row::{OwnedRow, RowConverter, SortField};
use millstream_graph::MaterializeSpec;
use millstream_state::{RelationSpec, RelationWriter, ScanRequest, SnapshotReader, SnapshotWriter, StateEntry, StateTableId, StateValue};
use millstream_types::{
    Barrier, ChangeBatch, Epoch, Error, KeyGroupRange, KeyHasher, Result, RowKind, Schema, SqlState, Watermark, limits,
};

use super::calc::rows;
use super::{OperatorContext, Output, StateSize, StatefulOperator};

const ROWS: StateTableId = StateTableId(0);

/// The operator of a [`MaterializeSpec`].
pub struct Materialize {
    spec: MaterializeSpec,
    schema: SchemaRef,
    /// Columns that say whose row it is.
    key: Vec<usize>,
    writer: RelationWriter,
    ctx: OperatorContext,
}

impl Materialize {
    /// Registers this subtask's partition of the relation.
    ///
    /// # Errors
    /// XX000 if the columns cannot be kept.
    pub fn new(spec: &MaterializeSpec, schema: &Schema, ctx: &OperatorContext) -> Result<Self> {
        let writer = ctx.relations.register(RelationSpec {
            relation: spec.relation,
            name: spec.name.clone(),
            schema: schema.clone(),
            key: spec.key.clone(),
            subtask: ctx.subtask,
            parallelism: ctx.parallelism,
            max_parallelism: ctx.max_parallelism,
        })?;
        let key = spec.key.clone().unwrap_or_else(|| (0..schema.len()).collect());
        Ok(Materialize { spec: spec.clone(), schema: schema.to_arrow(), key, writer, ctx: ctx.clone() })
    }

    fn range(&self) -> KeyGroupRange {
        KeyGroupRange::of_subtask(self.ctx.subtask, self.ctx.parallelism, self.ctx.max_parallelism)
    }

    fn converter(&self) -> Result<RowConverter> {
        Ok(RowConverter::new(self.schema.fields().iter().map(|f| SortField::new(f.data_type().clone())).collect())?)
    }

    /// Batches of the newest version; none if nothing was published yet.
    fn newest(&self) -> Result<Vec<RecordBatch>> {
        let request = ScanRequest { epoch: Epoch::MAX, projection: (0..self.schema.fields().len()).collect(), limit: None };
        match self.ctx.relations.scan(self.spec.relation, self.ctx.subtask, &request) {
            Ok(batches) => batches.collect(),
            Err(e) if e.state() == SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE || e.state() == SqlState::SNAPSHOT_TOO_OLD => Ok(vec![]),
            Err(e) => Err(e),
        }
    }
}

impl StatefulOperator for Materialize {
    fn process_batch(&mut self, _input: usize, batch: ChangeBatch, _out: &mut dyn Output) -> Result<()> {
        self.writer.apply(&batch)
    }

    fn process_watermark(&mut self, _watermark: Watermark, _out: &mut dyn Output) -> Result<()> {
        Ok(())
    }

    fn on_barrier(&mut self, barrier: &Barrier, _out: &mut dyn Output) -> Result<()> {
        self.writer.publish(*barrier).map(drop)
    }

    fn finish(&mut self, _out: &mut dyn Output) -> Result<()> {
        self.writer.finish();
        Ok(())
    }

    fn snapshot(&mut self, out: &mut dyn SnapshotWriter) -> Result<()> {
        let converter = self.converter()?;
        let mut hasher = KeyHasher::new(self.ctx.max_parallelism);
        // Equal rows follow each other, also across batches.
        let mut last: Option<(OwnedRow, u16, i64)> = None;
        for batch in self.newest()? {
            let keys: Vec<ArrayRef> = self.key.iter().map(|k| ArrayRef::clone(batch.column(*k))).collect();
            let key_groups = hasher.key_groups(&keys, batch.num_rows())?;
            let encoded = converter.convert_columns(batch.columns())?;
            for (row, key_group) in encoded.iter().zip(key_groups) {
                match &mut last {
                    Some((same, _, count)) if same.row() == row => *count += 1,
                    other => {
                        if let Some(done) = other.replace((row.owned(), key_group, 1)) {
                            put(&done, out)?;
                        }
                    }
                }
            }
        }
        last.iter().try_for_each(|done| put(done, out))
    }

    fn restore(&mut self, from: &mut dyn SnapshotReader) -> Result<()> {
        // What an earlier attempt published in this process gives way to the snapshot.
        for batch in self.newest()? {
            let kinds = vec![RowKind::Delete; batch.num_rows()];
            self.writer.apply(&ChangeBatch::new(batch, kinds))?;
        }
        let converter = self.converter()?;
        let parser = converter.parser();
        let mut keys: Vec<Vec<u8>> = vec![];
        loop {
            let entry = from.next(self.range())?;
            let last = entry.is_none();
            if let Some(entry) = entry {
                let Count(count) = entry.decode()?;
                let count = usize::try_from(count).map_err(|_| corrupted())?;
                keys.extend(std::iter::repeat_n(entry.key, count));
            }
            if keys.len() >= limits::BATCH_TARGET_ROWS || (last && !keys.is_empty()) {
                let columns = converter.convert_rows(keys.iter().map(|k| parser.parse(k)))?;
                let batch = rows(&self.schema, columns, keys.len())?;
                self.writer.apply(&ChangeBatch::inserts(batch))?;
                keys.clear();
            }
            if last {
                return Ok(());
            }
        }
    }

    fn state_size(&self) -> StateSize {
        if self.ctx.subtask > 0 {
            return StateSize::default();
        }
        StateSize { keys: self.ctx.relations.rows(self.spec.relation), bytes: self.ctx.relations.bytes(self.spec.relation) }
    }
}

fn put((row, key_group, count): &(OwnedRow, u16, i64), out: &mut dyn SnapshotWriter) -> Result<()> {
    out.put(StateEntry::new(*key_group, ROWS, row.row().as_ref(), &Count(*count)))
}

fn corrupted() -> Error {
    Error::new(SqlState::DATA_CORRUPTED, "stored rows of a relation cannot be read")
}

/// How often a row is there.
struct Count(i64);

impl StateValue for Count {
    const VERSION: u8 = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_le_bytes());
    }

    fn decode(_version: u8, bytes: &[u8]) -> Result<Self> {
        bytes.try_into().map(|b| Count(i64::from_le_bytes(b))).map_err(|_| corrupted())
    }
}

#[cfg(test)]
mod tests;
