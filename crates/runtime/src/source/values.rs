//! VALUES and SELECT without FROM: constant rows, once, from subtask 0. Append, then the end.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, new_empty_array};
use arrow::compute::concat;
use millstream_functions::cast_array;
use millstream_graph::ValuesSpec;
use millstream_types::{ChangeBatch, Epoch, Error, Result, Schema, SqlState};

use super::{SourcePoll, SourcePosition, SourceReader};
use crate::operator::calc::rows;

/// The reader of a [`ValuesSpec`].
pub struct ValuesReader {
    rows: ChangeBatch,
    /// Rows handed out.
    done: usize,
}

impl ValuesReader {
    /// The rows as columns of `schema`; none but for subtask 0.
    ///
    /// # Errors
    /// XX000 if a row has another number of columns; class 22 if a value does not fit its column.
    pub fn new(spec: &ValuesSpec, schema: &Schema, subtask: u32) -> Result<Self> {
        let values = if subtask == 0 { spec.rows.as_slice() } else { &[] };
        if let Some(row) = values.iter().find(|r| r.len() != schema.len()) {
            return Err(Error::internal(format!("a row of {} values for {} columns", row.len(), schema.len())));
        }
        let column = |i: usize| {
            let t = &schema.columns[i].sql_type;
            let cells = values.iter().map(|row| cast_array(&row[i].to_array()?, t)).collect::<Result<Vec<ArrayRef>>>()?;
            let parts: Vec<&dyn Array> = cells.iter().map(AsRef::as_ref).collect();
            if parts.is_empty() { Ok(new_empty_array(&t.to_arrow())) } else { Ok::<_, Error>(concat(&parts)?) }
        };
        let columns = (0..schema.len()).map(column).collect::<Result<Vec<_>>>()?;
        Ok(ValuesReader { rows: ChangeBatch::inserts(rows(&Arc::clone(&schema.to_arrow()), columns, values.len())?), done: 0 })
    }
}

impl SourceReader for ValuesReader {
    fn poll(&mut self, cut: Option<Epoch>, max_rows: usize) -> Result<SourcePoll> {
        let len = (self.rows.num_rows() - self.done).min(max_rows.max(1));
        if len > 0 {
            self.done += len;
            return Ok(SourcePoll::Batch(self.rows.slice(self.done - len, len)));
        }
        Ok(if cut.is_some() { SourcePoll::CutReached } else { SourcePoll::Finished })
    }

    fn snapshot(&self) -> Result<Vec<u8>> {
        Ok((self.done as u64).to_le_bytes().to_vec())
    }

    fn restore(&mut self, positions: &[SourcePosition], _epoch: Epoch) -> Result<()> {
        // Subtask 0 has the rows, at any parallelism.
        let Some(position) = positions.iter().find(|p| p.subtask == 0).filter(|_| self.rows.num_rows() > 0) else { return Ok(()) };
        let wrong = || Error::new(SqlState::DATA_CORRUPTED, "stored position of VALUES cannot be read");
        let done = u64::from_le_bytes(position.bytes.as_slice().try_into().map_err(|_| wrong())?);
        self.done = usize::try_from(done).ok().filter(|d| *d <= self.rows.num_rows()).ok_or_else(wrong)?;
        Ok(())
    }
}
