//! Many records at once, and if that fails one by one, to name the malformed one.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::DataType;
use millstream_types::{Error, Result, SqlState};

use super::csv::CsvDecoder;
use super::json::JsonDecoder;
use super::records::Record;

/// Warnings logged of one file.
const MAX_WARNINGS: u64 = 10;
/// Bytes of a malformed row that are shown.
const SHOWN_BYTES: usize = 200;

/// How the records of a file become rows.
pub(super) enum Decoder {
    Json(JsonDecoder),
    Csv(CsvDecoder),
}

/// Why a record is none.
pub(super) struct Malformed {
    column: Option<String>,
    error: Error,
}

impl Malformed {
    pub(super) fn row(error: Error) -> Self {
        Malformed { column: None, error }
    }

    pub(super) fn column(name: &str, error: Error) -> Self {
        Malformed { column: Some(name.to_string()), error }
    }

    /// The error for the job: file, line, column and reason; the row as detail.
    fn located(self, file: &str, line: u64, row: &[u8]) -> Error {
        let place = match &self.column {
            Some(column) => format!("malformed row in file \"{file}\", line {line}, column \"{column}\""),
            None => format!("malformed row in file \"{file}\", line {line}"),
        };
        let state = if self.error.state().as_str().starts_with("22") { self.error.state() } else { SqlState::BAD_COPY_FILE_FORMAT };
        let shown = String::from_utf8_lossy(&row[..row.len().min(SHOWN_BYTES)]).replace('\0', "\u{FFFD}");
        let more = if row.len() > SHOWN_BYTES { "..." } else { "" };
        Error::new(state, format!("{place}: {}", self.error.message()))
            .with_detail(format!("The row is: {shown}{more}"))
            .with_hint("Option on_error = 'skip' leaves malformed rows out.")
    }
}

/// Text may hold neither other encodings nor NUL.
fn check_text(bytes: &[u8]) -> Result<&str> {
    let wrong =
        |what: &str| Error::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, format!("invalid byte sequence for encoding \"UTF8\": {what}"));
    let text = std::str::from_utf8(bytes).map_err(|e| wrong(&format!("0x{:02x}", bytes.get(e.valid_up_to()).copied().unwrap_or(0))))?;
    if memchr::memchr(0, bytes).is_some() {
        return Err(wrong("0x00"));
    }
    Ok(text)
}

/// True if text in the column holds NUL, which JSON can write as an escape.
fn has_nul(array: &ArrayRef) -> bool {
    match array.data_type() {
        DataType::Utf8 => memchr::memchr(0, array.as_string::<i32>().value_data()).is_some(),
        DataType::List(_) => has_nul(array.as_list::<i32>().values()),
        DataType::Struct(_) => array.as_struct().columns().iter().any(has_nul),
        _ => false,
    }
}

impl Decoder {
    /// The rows of `records`, which point into `buffer`. With `skip` malformed ones are left out, logged and counted.
    ///
    /// # Errors
    /// The first malformed row: 22P04, or the value's own error of class 22.
    pub(super) fn decode(&self, file: &str, buffer: &[u8], records: &[Record], skip: bool, skipped: &mut u64) -> Result<RecordBatch> {
        if let Ok(batch) = self.all(buffer, records) {
            return Ok(batch);
        }
        let mut rows = vec![];
        for record in records {
            let bytes = &buffer[record.start..record.end];
            match self.one(bytes) {
                Ok(row) => rows.push(row),
                Err(malformed) => {
                    let error = malformed.located(file, record.line, bytes);
                    if !skip {
                        return Err(error);
                    }
                    *skipped += 1;
                    if *skipped <= MAX_WARNINGS {
                        tracing::warn!(target: "millstream::filesystem", "row skipped: {}", error.message());
                    }
                }
            }
        }
        let schema = match self {
            Decoder::Json(json) => json.schema(),
            Decoder::Csv(csv) => csv.schema(),
        };
        Ok(concat_batches(schema, &rows)?)
    }

    fn all(&self, buffer: &[u8], records: &[Record]) -> Result<RecordBatch> {
        let whole = records.first().zip(records.last()).map_or(&[] as &[u8], |(first, last)| &buffer[first.start..last.end]);
        let text = check_text(whole)?;
        if text.starts_with('\u{FEFF}') {
            return Err(Error::new(SqlState::BAD_COPY_FILE_FORMAT, "byte order mark"));
        }
        let base = records.first().map_or(0, |r| r.start);
        let batch = match self {
            Decoder::Json(json) => json.lines(records.iter().map(|r| &buffer[r.start..r.end]))?,
            Decoder::Csv(csv) => csv.records(records.iter().map(|r| &text[r.start - base..r.end - base]))?,
        };
        if batch.columns().iter().any(has_nul) {
            return Err(Error::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, "NUL in text"));
        }
        Ok(batch)
    }

    fn one(&self, bytes: &[u8]) -> Result<RecordBatch, Malformed> {
        let text = check_text(bytes).map_err(Malformed::row)?;
        if text.starts_with('\u{FEFF}') {
            return Err(Malformed::row(Error::new(SqlState::BAD_COPY_FILE_FORMAT, "the file starts with a byte order mark")));
        }
        let batch = match self {
            Decoder::Json(json) => json.line(bytes)?,
            Decoder::Csv(csv) => csv.record(text)?,
        };
        match batch.columns().iter().position(has_nul) {
            None => Ok(batch),
            Some(i) => {
                let error = Error::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\": 0x00");
                Err(Malformed::column(batch.schema().field(i).name(), error))
            }
        }
    }
}
