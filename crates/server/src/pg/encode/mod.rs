//! Rows of Arrow batches as `DataRow` messages. Text is the text that the casts to text give, so a value looks the same on the wire and in
//! SQL; only top-level booleans are `t` and `f`.

mod binary;
mod numeric;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, StringArray};
use bytes::{BufMut, BytesMut};
use millstream_functions::{cast_array, to_text};
use millstream_types::{Error, Result, Schema, SqlState, SqlType};

pub(super) use binary::{EPOCH_DAYS, EPOCH_MICROS};
pub(super) use numeric::numeric_text;

/// How values of a column travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// As text.
    Text,
    /// In the binary form of the type.
    Binary,
}

impl Format {
    /// The format of a code.
    ///
    /// # Errors
    /// 22023 for a code that is neither 0 nor 1.
    pub(super) fn from_code(code: i16) -> Result<Format> {
        match code {
            0 => Ok(Format::Text),
            1 => Ok(Format::Binary),
            other => Err(Error::new(SqlState::INVALID_PARAMETER_VALUE, format!("unsupported format code: {other}"))),
        }
    }

    /// The code of a format.
    pub(super) fn code(self) -> i16 {
        match self {
            Format::Text => 0,
            Format::Binary => 1,
        }
    }
}

/// A batch ready to be written row by row.
pub(super) struct RowEncoder {
    columns: Vec<Cells>,
    rows: usize,
}

enum Cells {
    Text(StringArray),
    Boolean(BooleanArray),
    Binary(ArrayRef, SqlType),
}

impl RowEncoder {
    /// Prepares a batch of the schema; `formats` has one entry per column.
    ///
    /// # Errors
    /// XX000 if the batch is not of the schema; those of casts from library types that are wider than ours.
    pub(super) fn new(batch: &RecordBatch, schema: &Schema, formats: &[Format]) -> Result<RowEncoder> {
        if batch.num_columns() != schema.len() || formats.len() != schema.len() {
            let (have, need) = (batch.num_columns(), schema.len());
            return Err(Error::internal(format!("a batch of {have} columns for a result of {need}")));
        }
        let columns = batch.columns().iter().zip(&schema.columns).zip(formats);
        let columns = columns.map(|((array, column), format)| Cells::new(array, &column.sql_type, *format)).collect::<Result<_>>()?;
        Ok(RowEncoder { columns, rows: batch.num_rows() })
    }

    /// Rows of the batch.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// Appends a `DataRow` message. `row` must be below [`RowEncoder::len`].
    ///
    /// # Errors
    /// 22008 for a time that the binary form cannot carry, 54000 for a row that no message can.
    pub(super) fn put(&self, row: usize, out: &mut BytesMut) -> Result<()> {
        out.put_u8(b'D');
        let start = out.len();
        out.put_i32(0);
        out.put_u16(u16::try_from(self.columns.len()).map_err(|_| too_large())?);
        for cells in &self.columns {
            cells.put(row, out)?;
        }
        patch_length(out, start, out.len() - start)
    }
}

impl Cells {
    fn new(array: &ArrayRef, sql_type: &SqlType, format: Format) -> Result<Cells> {
        let array = cast_array(array, sql_type)?;
        Ok(match (format, sql_type) {
            (Format::Binary, SqlType::Text) => Cells::Text(array.as_string::<i32>().clone()),
            (Format::Binary, _) => Cells::Binary(array, sql_type.clone()),
            (Format::Text, SqlType::Boolean) => Cells::Boolean(array.as_boolean().clone()),
            (Format::Text, _) => Cells::Text(to_text(&array)?),
        })
    }

    fn put(&self, row: usize, out: &mut BytesMut) -> Result<()> {
        match self {
            Cells::Text(values) if values.is_valid(row) => put_sized(out, values.value(row).as_bytes()),
            Cells::Boolean(values) if values.is_valid(row) => put_sized(out, if values.value(row) { b"t" } else { b"f" }),
            Cells::Binary(values, sql_type) => binary::put_cell(values, sql_type, row, out),
            Cells::Text(_) | Cells::Boolean(_) => {
                out.put_i32(-1);
                Ok(())
            }
        }
    }
}

fn put_sized(out: &mut BytesMut, bytes: &[u8]) -> Result<()> {
    out.put_i32(i32::try_from(bytes.len()).map_err(|_| too_large())?);
    out.put_slice(bytes);
    Ok(())
}

/// Writes `length` into the four bytes at `at`.
fn patch_length(out: &mut BytesMut, at: usize, length: usize) -> Result<()> {
    let length = i32::try_from(length).map_err(|_| too_large())?;
    match out.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>()) {
        Some(place) => *place = length.to_be_bytes(),
        None => return Err(Error::internal("a length without its place")),
    }
    Ok(())
}

fn too_large() -> Error {
    Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "the row is too large for a message")
}
