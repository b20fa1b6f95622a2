//! JSON objects to columns, by name. A missing key is NULL, an unknown one is ignored.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Schema as ArrowSchema, SchemaRef};
use arrow::json::ReaderBuilder;
use millstream_functions::cast_array;
use millstream_types::{Column, Error, Result, Schema, SqlState, SqlType};

use super::decode::Malformed;

/// Decodes JSON into declared columns.
pub(super) struct JsonDecoder {
    schema: Schema,
    arrow: SchemaRef,
    /// As Arrow decodes it: only types whose conversions are PostgreSQL's, all others as text, which is cast.
    fast: SchemaRef,
    /// Everything as text.
    slow: SchemaRef,
}

/// The type under which Arrow decodes a column. Integers are text: Arrow would cut 1.5 to 1.
fn through(sql_type: &SqlType, all_text: bool) -> SqlType {
    match sql_type {
        SqlType::Array(element) => SqlType::Array(Box::new(through(element, all_text))),
        SqlType::Row(columns) => SqlType::Row(columns.iter().map(|c| Column::new(&c.name, through(&c.sql_type, all_text))).collect()),
        SqlType::Real | SqlType::Double if !all_text => sql_type.clone(),
        _ => SqlType::Text,
    }
}

impl JsonDecoder {
    pub(super) fn new(schema: &Schema) -> Self {
        let shape = |all_text: bool| -> SchemaRef {
            let mut fields: Vec<Field> =
                schema.columns.iter().map(|c| Field::new(&c.name, through(&c.sql_type, all_text).to_arrow(), true)).collect();
            if fields.is_empty() {
                // Rows must be counted even if no column is read.
                fields.push(Field::new("", DataType::Utf8, true));
            }
            Arc::new(ArrowSchema::new(fields))
        };
        JsonDecoder { schema: schema.clone(), arrow: schema.to_arrow(), fast: shape(false), slow: shape(true) }
    }

    /// Decodes lines, one object each.
    ///
    /// # Errors
    /// If any of them is malformed.
    pub(super) fn lines<'a>(&self, lines: impl ExactSizeIterator<Item = &'a [u8]>) -> Result<RecordBatch> {
        let count = lines.len();
        let decoded = self.decode(&self.fast, lines, count)?;
        let columns = self.schema.columns.iter().zip(decoded.columns());
        let columns = columns.map(|(c, array)| cast_array(array, &c.sql_type)).collect::<Result<Vec<_>>>()?;
        self.batch(columns, count)
    }

    /// Decodes one line; the error says which column does not fit.
    pub(super) fn line(&self, line: &[u8]) -> Result<RecordBatch, Malformed> {
        let decoded = self.decode(&self.slow, std::iter::once(line), 1).map_err(Malformed::row)?;
        let mut columns = vec![];
        for (column, array) in self.schema.columns.iter().zip(decoded.columns()) {
            columns.push(cast_array(array, &column.sql_type).map_err(|e| Malformed::column(&column.name, e))?);
        }
        self.batch(columns, 1).map_err(Malformed::row)
    }

    /// Of the batches it gives.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.arrow
    }

    fn batch(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(SchemaRef::clone(&self.arrow), columns, &options)?)
    }

    fn decode<'a>(&self, schema: &SchemaRef, lines: impl Iterator<Item = &'a [u8]>, count: usize) -> Result<RecordBatch> {
        let malformed = |reason: String| Error::new(SqlState::BAD_COPY_FILE_FORMAT, reason);
        let builder = ReaderBuilder::new(SchemaRef::clone(schema)).with_batch_size(count.max(1)).with_coerce_primitive(true);
        let mut decoder = builder.build_decoder()?;
        for line in lines {
            if line.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
                return Err(malformed("not a JSON object".into()));
            }
            let before = decoder.len();
            let used = decoder.decode(line).map_err(|e| malformed(reason(&e)))?;
            if decoder.has_partial_record() {
                return Err(malformed("the JSON object does not end on its line".into()));
            }
            if decoder.len() != before + 1 || !line[used..].iter().all(u8::is_ascii_whitespace) {
                return Err(malformed("more than one JSON value on a line".into()));
            }
        }
        let batch = decoder.flush().map_err(|e| malformed(reason(&e)))?;
        batch.filter(|b| b.num_rows() == count).ok_or_else(|| malformed("not a JSON object".into()))
    }
}

fn reason(error: &arrow::error::ArrowError) -> String {
    let text = error.to_string();
    text.strip_prefix("Json error: ").unwrap_or(&text).to_string()
}
