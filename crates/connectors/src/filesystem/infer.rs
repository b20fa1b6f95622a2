//! Columns from the first rows of the first file, when none are declared.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use arrow::json::reader::infer_json_schema;
use millstream_functions::cast_array;
use millstream_types::{Column, Error, Result, Schema, SqlState, SqlType};

use super::config::{CsvStyle, FileFormat, SourceConfig};
use super::records::RecordFile;
use super::root::Location;
use super::{csv, parquet};

/// Rows that are looked at.
const SAMPLE_ROWS: usize = 1_000;

/// The declared columns, or those of the first file.
///
/// # Errors
/// 42501, 58P01, 22P04 for the file; 42P16 if it has no rows to infer from.
pub(super) fn schema(config: &SourceConfig, declared: &Schema, roots: &[PathBuf]) -> Result<Schema> {
    let location = Location::parse(&config.path, roots)?;
    if !declared.is_empty() {
        return Ok(declared.clone());
    }
    let root = location.open(false)?;
    let none = |why: &str| {
        Error::new(SqlState::INVALID_TABLE_DEFINITION, format!("columns of \"{}\" cannot be inferred: {why}", config.path))
            .with_hint("Declare them: CREATE SOURCE name (id bigint, word text) WITH (...).")
    };
    let files = root.list(location.path())?;
    let name = files.first().ok_or_else(|| none("there is no file"))?;
    let open = root.open_file(name)?;
    if config.format == FileFormat::Parquet {
        return parquet::schema(name, open);
    }
    let quote = (config.format == FileFormat::Csv).then_some(config.csv.quote);
    let mut file = RecordFile::new(name, open, quote, 0, 1)?;
    let mut rows = vec![];
    while rows.len() < SAMPLE_ROWS {
        let records = file.next(SAMPLE_ROWS - rows.len(), true)?;
        if records.is_empty() {
            break;
        }
        for record in records {
            let text = std::str::from_utf8(&file.buffer()[record.start..record.end]).map_err(|_| none("it is not UTF-8"))?;
            if text.starts_with('\u{FEFF}') {
                return Err(none("it starts with a byte order mark"));
            }
            rows.push(text.to_string());
        }
    }
    if rows.is_empty() {
        return Err(none("the first file is empty"));
    }
    match config.format {
        FileFormat::Csv => csv_schema(&rows, config.csv),
        _ => json_schema(&rows).map_err(|e| none(e.message())),
    }
}

fn json_schema(rows: &[String]) -> Result<Schema> {
    let sample = rows.join("\n");
    let malformed = |e: arrow::error::ArrowError| Error::new(SqlState::BAD_COPY_FILE_FORMAT, e.to_string());
    let (found, _) = infer_json_schema(sample.as_bytes(), None).map_err(malformed)?;
    let mut schema = Schema::from_arrow(&found)?;
    for column in &mut schema.columns {
        known_type(&mut column.sql_type);
    }
    // In the order in which the keys appear, which the inference does not keep.
    schema.columns.sort_by_cached_key(|c| {
        let key = serde_json::Value::from(c.name.as_str()).to_string();
        (sample.find(&format!("{key}:")).or_else(|| sample.find(&key)), c.name.clone())
    });
    Ok(schema)
}

/// What was only ever null is text.
fn known_type(sql_type: &mut SqlType) {
    match sql_type {
        SqlType::Unknown => *sql_type = SqlType::Text,
        SqlType::Array(element) => known_type(element),
        SqlType::Row(columns) => columns.iter_mut().for_each(|c| known_type(&mut c.sql_type)),
        _ => {}
    }
}

fn csv_schema(rows: &[String], style: CsvStyle) -> Result<Schema> {
    let parsed = rows.iter().map(|r| csv::texts(r, style)).collect::<Result<Vec<_>>>()?;
    let first = parsed.first().map_or(&[] as &[_], Vec::as_slice);
    let data = if style.header { &parsed[1..] } else { &parsed[..] };
    let name = |i: usize| match first[i].as_ref().filter(|_| style.header) {
        Some(name) => name.clone(),
        None => format!("column{}", i + 1),
    };
    let column = |i: usize| {
        let values: Vec<Option<&str>> = data.iter().map(|row| row.get(i).and_then(Option::as_deref)).collect();
        Column::new(name(i), text_type(&values))
    };
    Ok(Schema::new((0..first.len()).map(column).collect()))
}

/// The narrowest type that all values have.
fn text_type(values: &[Option<&str>]) -> SqlType {
    let present: Vec<&str> = values.iter().flatten().copied().collect();
    if present.is_empty() {
        return SqlType::Text;
    }
    let array: ArrayRef = Arc::new(StringArray::from(values.to_vec()));
    let fits = |t: &SqlType| cast_array(&array, t).is_ok();
    let looks = |t: &SqlType| match t {
        SqlType::Boolean => present.iter().all(|v| v.eq_ignore_ascii_case("true") || v.eq_ignore_ascii_case("false")),
        SqlType::Date => present.iter().all(|v| v.len() == 10 && v.starts_with(|c: char| c.is_ascii_digit())),
        SqlType::Timestamp => present.iter().all(|v| v.len() >= 16 && v.starts_with(|c: char| c.is_ascii_digit())),
        _ => true,
    };
    let candidates = [SqlType::BigInt, SqlType::Double, SqlType::Boolean, SqlType::Date, SqlType::Timestamp];
    candidates.into_iter().find(|t| looks(t) && fits(t)).unwrap_or(SqlType::Text)
}
