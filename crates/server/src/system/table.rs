//! Rows of text and numbers, built by hand, as a batch.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Float32Array, Int16Array, Int32Array, Int64Array, ListArray, RecordBatch, StringArray,
    TimestampMicrosecondArray, new_null_array,
};
use arrow::datatypes::Int16Type;
use millstream_types::{Column, Result, Schema, SqlType};

/// A value of a system relation.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Null,
    Text(String),
    Number(i64),
    Bool(bool),
    Float(f32),
    /// Microseconds since 1970-01-01 UTC.
    Time(i64),
    /// An array.
    Numbers(Vec<i64>),
}

impl Cell {
    fn float(&self) -> Option<f32> {
        if let Cell::Float(v) = self { Some(*v) } else { None }
    }

    fn number(&self) -> Option<i64> {
        if let Cell::Number(v) = self { Some(*v) } else { None }
    }
}

impl From<&str> for Cell {
    fn from(v: &str) -> Self {
        Cell::Text(v.to_owned())
    }
}

impl From<String> for Cell {
    fn from(v: String) -> Self {
        Cell::Text(v)
    }
}

impl From<bool> for Cell {
    fn from(v: bool) -> Self {
        Cell::Bool(v)
    }
}

impl From<i32> for Cell {
    fn from(v: i32) -> Self {
        Cell::Number(i64::from(v))
    }
}

impl From<u64> for Cell {
    fn from(v: u64) -> Self {
        Cell::Number(i64::try_from(v).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Cell {
    fn from(v: u32) -> Self {
        Cell::Number(i64::from(v))
    }
}

impl From<usize> for Cell {
    fn from(v: usize) -> Self {
        Cell::Number(i64::try_from(v).unwrap_or(i64::MAX))
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(v: Option<T>) -> Self {
        v.map_or(Cell::Null, Into::into)
    }
}

/// Rows of one shape.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub(crate) schema: Schema,
    rows: Vec<Vec<Cell>>,
}

impl Rows {
    /// No rows of these columns.
    pub(crate) fn new(columns: &[(&str, SqlType)]) -> Self {
        Rows { schema: Schema::new(columns.iter().map(|(n, t)| Column::new(*n, t.clone())).collect()), rows: vec![] }
    }

    /// One more row; a missing cell is NULL.
    pub(crate) fn push(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    pub(crate) fn into_batch(self) -> Result<RecordBatch> {
        let columns = self.schema.columns.iter().enumerate().map(|(i, c)| {
            let cells = self.rows.iter().map(|r| r.get(i).unwrap_or(&Cell::Null));
            let array: ArrayRef = match c.sql_type {
                SqlType::BigInt => Arc::new(cells.map(Cell::number).collect::<Int64Array>()),
                SqlType::Boolean => Arc::new(cells.map(|c| if let Cell::Bool(v) = c { Some(*v) } else { None }).collect::<BooleanArray>()),
                SqlType::Integer => Arc::new(cells.map(|c| c.number().and_then(|v| i32::try_from(v).ok())).collect::<Int32Array>()),
                SqlType::SmallInt => Arc::new(cells.map(|c| c.number().and_then(|v| i16::try_from(v).ok())).collect::<Int16Array>()),
                SqlType::Real => Arc::new(cells.map(Cell::float).collect::<Float32Array>()),
                SqlType::Array(ref element) if **element == SqlType::SmallInt => {
                    let lists = cells.map(|c| if let Cell::Numbers(v) = c { Some(v.iter().map(|n| i16::try_from(*n).ok())) } else { None });
                    Arc::new(ListArray::from_iter_primitive::<Int16Type, _, _>(lists))
                }
                SqlType::Array(_) => new_null_array(&c.sql_type.to_arrow(), self.rows.len()),
                SqlType::TimestampTz => {
                    let times = cells.map(|c| if let Cell::Time(v) = c { Some(*v) } else { None });
                    Arc::new(times.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
                }
                _ => Arc::new(cells.map(|c| if let Cell::Text(v) = c { Some(v.as_str()) } else { None }).collect::<StringArray>()),
            };
            array
        });
        Ok(RecordBatch::try_new(self.schema.to_arrow(), columns.collect())?)
    }
}
