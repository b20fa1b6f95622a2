//! What the writer keeps of a table.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::row::Rows;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use millstream_state::KeyCodec;
use millstream_types::{ChangeBatch, Epoch, Error, JobId, RelationId, Result, Schema, SqlState};
use parking_lot::Mutex;

use super::memory::KeyMemory;

/// A table as the writer is told of it.
#[derive(Clone, Debug)]
pub struct TableInfo {
    /// The table.
    pub table: RelationId,
    /// Its job.
    pub job: JobId,
    /// Its name, for messages.
    pub name: String,
    /// Stored columns.
    pub schema: Schema,
    /// Key columns: the primary key, or the hidden `_row_id`.
    pub key: Vec<usize>,
    /// Columns that may not be NULL.
    pub not_null: Vec<usize>,
    /// True if the key is a hidden `_row_id` that the writer hands out.
    pub hidden_row_id: bool,
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) info: TableInfo,
    codec: KeyCodec,
    /// Held by the transaction that writes.
    pub(super) lock: Arc<tokio::sync::Mutex<()>>,
    pub(super) next_row_id: AtomicI64,
    /// Changed under `lock` only.
    pub(super) past: Mutex<Past>,
}

/// What the visible state does not show.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// Keys of records that the table has not published yet: whether a row is there after them.
    pub(super) overlay: KeyMemory<bool>,
    /// Keys that changed since the oldest snapshot that a transaction may hold.
    pub(super) recent: KeyMemory<()>,
    /// Changes up to this epoch are no longer in `recent`.
    pub(super) forgotten: Epoch,
}

impl Table {
    pub(super) fn new(info: TableInfo) -> Result<Self> {
        let codec = KeyCodec::new(info.key.iter().filter_map(|&k| info.schema.columns.get(k)).map(|c| c.sql_type.to_arrow()))?;
        Ok(Table { info, codec, lock: Arc::default(), next_row_id: AtomicI64::new(1), past: Mutex::default() })
    }

    fn key_columns(&self, rows: &RecordBatch) -> Vec<ArrayRef> {
        self.info.key.iter().map(|&k| Arc::clone(rows.column(k))).collect()
    }

    /// Key bytes of every row.
    pub(super) fn keys(&self, rows: &RecordBatch) -> Result<Rows> {
        self.codec.encode(&self.key_columns(rows))
    }

    /// Only the key columns, in key order.
    pub(super) fn project_key(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        Ok(rows.project(&self.info.key)?)
    }

    /// Columns and NOT NULL.
    pub(super) fn check_rows(&self, batch: &ChangeBatch) -> Result<()> {
        let rows = batch.rows();
        if rows.num_columns() != self.info.schema.len() {
            return Err(Error::internal(format!(
                "{} columns for table \"{}\", which has {}",
                rows.num_columns(),
                self.info.name,
                self.info.schema.len()
            )));
        }
        for &column in self.info.not_null.iter().chain(&self.info.key) {
            let values = rows.column(column);
            let null = |i: &usize| values.is_null(*i) && !batch.kind(*i).is_retraction();
            if values.null_count() > 0
                && let Some(row) = (0..rows.num_rows()).find(null)
            {
                return Err(self.not_null_violation(rows, row, column));
            }
        }
        Ok(())
    }

    fn not_null_violation(&self, rows: &RecordBatch, row: usize, column: usize) -> Error {
        let name = self.info.schema.columns.get(column).map_or("", |c| c.name.as_str());
        let table = &self.info.name;
        let message = format!("null value in column \"{name}\" of relation \"{table}\" violates not-null constraint");
        let shown = (0..rows.num_columns()).filter(|c| !(self.info.hidden_row_id && self.info.key.contains(c)));
        let values: Vec<String> = shown.map(|c| show(rows.column(c), row)).collect();
        Error::new(SqlState::NOT_NULL_VIOLATION, message).with_detail(format!("Failing row contains ({}).", values.join(", ")))
    }

    /// `(k)=(1)`, as PostgreSQL's details show a key.
    pub(super) fn describe_key(&self, rows: &RecordBatch, row: usize) -> String {
        let names: Vec<&str> = self.info.key.iter().filter_map(|&k| self.info.schema.columns.get(k)).map(|c| c.name.as_str()).collect();
        let values: Vec<String> = self.info.key.iter().map(|&k| show(rows.column(k), row)).collect();
        format!("({})=({})", names.join(", "), values.join(", "))
    }

    pub(super) fn duplicate(&self, rows: &RecordBatch, row: usize) -> Error {
        let constraint = format!("{}_pkey", self.info.name);
        Error::new(SqlState::UNIQUE_VIOLATION, format!("duplicate key value violates unique constraint \"{constraint}\""))
            .with_detail(format!("Key {} already exists.", self.describe_key(rows, row)))
    }

    pub(super) fn conflict(&self, rows: &RecordBatch, row: usize) -> Error {
        let error = Error::new(SqlState::SERIALIZATION_FAILURE, "could not serialize access due to concurrent update");
        let detail = if self.info.hidden_row_id {
            format!("A row of table \"{}\" was changed by a transaction that committed first.", self.info.name)
        } else {
            format!(
                "Key {} of table \"{}\" was changed by a transaction that committed first.",
                self.describe_key(rows, row),
                self.info.name
            )
        };
        error.with_detail(detail).with_hint("run the transaction again")
    }
}

fn show(column: &ArrayRef, row: usize) -> String {
    let options = FormatOptions::new().with_null("null");
    ArrayFormatter::try_new(column.as_ref(), &options).map_or_else(|_| "?".into(), |f| f.value(row).to_string())
}
