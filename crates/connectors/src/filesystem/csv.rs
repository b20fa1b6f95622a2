//! CSV records to columns as PostgreSQL's COPY reads them: an empty field is NULL, a quoted empty field is the empty text.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, StringBuilder};
use arrow::datatypes::SchemaRef;
use millstream_functions::cast_array;
use millstream_types::{Error, Result, Schema, SqlState};

use super::config::CsvStyle;
use super::decode::Malformed;

/// Decodes CSV into declared columns.
pub(super) struct CsvDecoder {
    style: CsvStyle,
    schema: Schema,
    arrow: SchemaRef,
    /// For each field of a record the column it is for.
    fields: Vec<Option<usize>>,
}

fn malformed(reason: impl Into<String>) -> Error {
    Error::new(SqlState::BAD_COPY_FILE_FORMAT, reason)
}

impl CsvDecoder {
    /// `names` are the fields of a record: from the header, or all declared columns.
    ///
    /// # Errors
    /// 22P04 if a column is not among them, or twice.
    pub(super) fn new(style: CsvStyle, schema: &Schema, names: &[String]) -> Result<Self> {
        let mut fields = vec![None; names.len()];
        for (i, column) in schema.columns.iter().enumerate() {
            let mut places = names.iter().enumerate().filter(|(_, n)| **n == column.name).map(|(at, _)| at);
            let missing =
                || malformed(format!("no column \"{}\"", column.name)).with_detail(format!("The columns are {}.", names.join(", ")));
            let at = places.next().ok_or_else(missing)?;
            if places.next().is_some() {
                return Err(malformed(format!("two columns \"{}\"", column.name)));
            }
            fields[at] = Some(i);
        }
        Ok(CsvDecoder { style, schema: schema.clone(), arrow: schema.to_arrow(), fields })
    }

    /// Decodes records.
    ///
    /// # Errors
    /// If any of them is malformed.
    pub(super) fn records<'a>(&self, records: impl ExactSizeIterator<Item = &'a str>) -> Result<RecordBatch> {
        let rows = records.len();
        let mut texts: Vec<StringBuilder> = self.schema.columns.iter().map(|_| StringBuilder::with_capacity(rows, rows * 8)).collect();
        for record in records {
            self.append(record, &mut texts)?;
        }
        let columns = self.schema.columns.iter().zip(&mut texts);
        let columns =
            columns.map(|(c, text)| cast_array(&(Arc::new(text.finish()) as ArrayRef), &c.sql_type)).collect::<Result<Vec<_>>>()?;
        self.batch(columns, rows)
    }

    /// Decodes one record; the error says which column does not fit.
    pub(super) fn record(&self, record: &str) -> Result<RecordBatch, Malformed> {
        let mut texts: Vec<StringBuilder> = self.schema.columns.iter().map(|_| StringBuilder::new()).collect();
        self.append(record, &mut texts).map_err(Malformed::row)?;
        let mut columns = vec![];
        for (column, text) in self.schema.columns.iter().zip(&mut texts) {
            let text: ArrayRef = Arc::new(text.finish());
            columns.push(cast_array(&text, &column.sql_type).map_err(|e| Malformed::column(&column.name, e))?);
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

    fn append(&self, record: &str, texts: &mut [StringBuilder]) -> Result<()> {
        let mut count = 0;
        parse(record, self.style, |value, quoted| {
            if let Some(Some(column)) = self.fields.get(count) {
                if value.is_empty() && !quoted { texts[*column].append_null() } else { texts[*column].append_value(value) }
            }
            count += 1;
        })?;
        match count.cmp(&self.fields.len()) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Less => Err(malformed(format!("missing data: {count} fields instead of {}", self.fields.len()))),
            std::cmp::Ordering::Greater => Err(malformed(format!("extra data: {count} fields instead of {}", self.fields.len()))),
        }
    }
}

/// The fields of a record, as texts.
///
/// # Errors
/// 22P04 for a quote that does not end.
pub(super) fn texts(record: &str, style: CsvStyle) -> Result<Vec<Option<String>>> {
    let mut out = vec![];
    parse(record, style, |value, quoted| out.push((quoted || !value.is_empty()).then(|| value.to_string())))?;
    Ok(out)
}

/// Calls `field` with each field's text and whether any of it was quoted. A doubled quote inside quotes is a quote.
fn parse(record: &str, style: CsvStyle, mut field: impl FnMut(&str, bool)) -> Result<()> {
    let bytes = record.as_bytes();
    let mut at = 0;
    loop {
        let mut text = Cow::Borrowed("");
        let mut quoted = false;
        loop {
            let rest = &bytes[at..];
            let plain = memchr::memchr2(style.delimiter, style.quote, rest).unwrap_or(rest.len());
            append(&mut text, &record[at..at + plain]);
            at += plain;
            if bytes.get(at) != Some(&style.quote) {
                break;
            }
            quoted = true;
            at += 1;
            loop {
                let length = memchr::memchr(style.quote, &bytes[at..]).ok_or_else(|| malformed("unterminated quoted field"))?;
                append(&mut text, &record[at..at + length]);
                at += length + 1;
                if bytes.get(at) != Some(&style.quote) {
                    break;
                }
                append(&mut text, &record[at..=at]);
                at += 1;
            }
        }
        field(&text, quoted);
        if at >= bytes.len() {
            return Ok(());
        }
        at += 1;
    }
}

fn append<'a>(text: &mut Cow<'a, str>, part: &'a str) {
    if text.is_empty() {
        *text = Cow::Borrowed(part);
    } else if !part.is_empty() {
        text.to_mut().push_str(part);
    }
}
