//! Rows to bytes: JSON lines and CSV with values as PostgreSQL prints them, and Parquet.

use std::fs::File;
use std::io::Write;

use arrow::array::{Array, ArrayRef, AsArray, Float32Array, ListArray, RecordBatch, StringArray, StructArray};
use arrow::datatypes::{Float64Type, SchemaRef};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::properties::WriterProperties;
use millstream_functions::to_text;
use millstream_types::{Column, Error, Result, SqlState, SqlType};

use super::config::{CsvStyle, FileFormat};

/// A file being written.
pub(super) enum Encoder {
    Json(File),
    Csv(File, CsvStyle),
    Parquet(Box<ArrowWriter<File>>),
}

fn broken(error: ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(io) => Error::from(*io),
            Err(other) => Error::new(SqlState::IO_ERROR, other.to_string()),
        },
        other => Error::new(SqlState::IO_ERROR, other.to_string()),
    }
}

/// Refuses what a format cannot hold.
///
/// # Errors
/// 0A000.
pub(super) fn check_types(format: FileFormat, columns: &[Column]) -> Result<()> {
    fn holds(t: &SqlType) -> bool {
        match t {
            SqlType::Interval | SqlType::Unknown => false,
            SqlType::Array(element) => holds(element),
            SqlType::Row(columns) => columns.iter().all(|c| holds(&c.sql_type)),
            _ => true,
        }
    }
    match columns.iter().find(|c| format == FileFormat::Parquet && !holds(&c.sql_type)) {
        None => Ok(()),
        Some(column) => Err(Error::unsupported(format!("type {} in a Parquet file", column.sql_type))
            .with_detail(format!("It is the type of column \"{}\".", column.name))
            .with_hint("Cast it to text.")),
    }
}

impl Encoder {
    /// Starts an empty file for rows of `schema`.
    pub(super) fn new(file: File, format: FileFormat, style: CsvStyle, schema: &SchemaRef) -> Result<Self> {
        Ok(match format {
            FileFormat::Json => Encoder::Json(file),
            FileFormat::Csv => {
                let mut file = file;
                if style.header {
                    let names: Vec<_> = schema.fields().iter().map(|f| Some(f.name().as_str())).collect();
                    let mut line = vec![];
                    push_csv(&mut line, names.into_iter(), style);
                    file.write_all(&line)?;
                }
                Encoder::Csv(file, style)
            }
            FileFormat::Parquet => {
                let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let writer = ArrowWriter::try_new(file, SchemaRef::clone(schema), Some(properties));
                Encoder::Parquet(Box::new(writer.map_err(broken)?))
            }
        })
    }

    /// Appends rows; returns about how many bytes they take.
    pub(super) fn write(&mut self, rows: &RecordBatch) -> Result<u64> {
        match self {
            Encoder::Json(file) => {
                let bytes = json_lines(rows)?;
                file.write_all(&bytes)?;
                Ok(bytes.len() as u64)
            }
            Encoder::Csv(file, style) => {
                let columns = rows.columns().iter().map(to_text).collect::<Result<Vec<_>>>()?;
                let mut bytes = vec![];
                for row in 0..rows.num_rows() {
                    push_csv(&mut bytes, columns.iter().map(|c| c.is_valid(row).then(|| c.value(row))), *style);
                }
                file.write_all(&bytes)?;
                Ok(bytes.len() as u64)
            }
            Encoder::Parquet(writer) => {
                writer.write(rows).map_err(broken)?;
                Ok(rows.get_array_memory_size() as u64)
            }
        }
    }

    /// Ends the file and brings it to the disk.
    pub(super) fn finish(self) -> Result<()> {
        let file = match self {
            Encoder::Json(file) | Encoder::Csv(file, _) => file,
            Encoder::Parquet(writer) => writer.into_inner().map_err(broken)?,
        };
        Ok(file.sync_all()?)
    }
}

/// NULL is nothing, the empty text is quoted.
fn push_csv<'a>(out: &mut Vec<u8>, values: impl Iterator<Item = Option<&'a str>>, style: CsvStyle) {
    for (i, value) in values.enumerate() {
        if i > 0 {
            out.push(style.delimiter);
        }
        let Some(value) = value else { continue };
        let special = |b: u8| b == style.delimiter || b == style.quote || matches!(b, b'\n' | b'\r');
        // A record of blanks only would be taken for a blank line.
        if !value.bytes().any(special) && !value.trim().is_empty() {
            out.extend_from_slice(value.as_bytes());
            continue;
        }
        out.push(style.quote);
        for b in value.bytes() {
            if b == style.quote {
                out.push(b);
            }
            out.push(b);
        }
        out.push(style.quote);
    }
    out.push(b'\n');
}

/// A column prepared for printing as JSON.
enum JsonColumn {
    /// Numbers and booleans.
    Bare(StringArray),
    Quoted(StringArray),
    List(ListArray, Box<JsonColumn>),
    Row(StructArray, Vec<(Vec<u8>, JsonColumn)>),
}

fn key(name: &str) -> Vec<u8> {
    let mut out = vec![];
    push_json_text(&mut out, name);
    out.push(b':');
    out
}

fn json_lines(rows: &RecordBatch) -> Result<Vec<u8>> {
    let schema = rows.schema();
    let columns = schema.fields().iter().zip(rows.columns());
    let columns = columns.map(|(f, c)| Ok((key(f.name()), JsonColumn::new(c)?))).collect::<Result<Vec<_>>>()?;
    let mut out = Vec::with_capacity(rows.num_rows() * 64);
    for row in 0..rows.num_rows() {
        push_object(&mut out, &columns, row);
        out.push(b'\n');
    }
    Ok(out)
}

fn push_object(out: &mut Vec<u8>, columns: &[(Vec<u8>, JsonColumn)], row: usize) {
    out.push(b'{');
    for (i, (key, column)) in columns.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        out.extend_from_slice(key);
        column.push(out, row);
    }
    out.push(b'}');
}

impl JsonColumn {
    fn new(array: &ArrayRef) -> Result<Self> {
        if let Some(list) = array.as_list_opt::<i32>() {
            return Ok(JsonColumn::List(list.clone(), Box::new(JsonColumn::new(list.values())?)));
        }
        if let Some(row) = array.as_struct_opt() {
            let fields = row.fields().iter().zip(row.columns());
            let fields = fields.map(|(f, c)| Ok((key(f.name()), JsonColumn::new(c)?))).collect::<Result<Vec<_>>>()?;
            return Ok(JsonColumn::Row(row.clone(), fields));
        }
        let finite = match array.data_type() {
            arrow::datatypes::DataType::Float64 => array.as_primitive::<Float64Type>().iter().flatten().all(f64::is_finite),
            arrow::datatypes::DataType::Float32 => {
                array.as_any().downcast_ref::<Float32Array>().is_none_or(|a| a.iter().flatten().all(f32::is_finite))
            }
            _ => true,
        };
        let sql_type = SqlType::from_arrow(array.data_type())?;
        let bare = (sql_type.is_numeric() || sql_type == SqlType::Boolean) && finite;
        let text = to_text(array)?;
        Ok(if bare { JsonColumn::Bare(text) } else { JsonColumn::Quoted(text) })
    }

    fn push(&self, out: &mut Vec<u8>, row: usize) {
        match self {
            JsonColumn::Bare(text) if text.is_valid(row) => out.extend_from_slice(text.value(row).as_bytes()),
            JsonColumn::Quoted(text) if text.is_valid(row) => push_json_text(out, text.value(row)),
            JsonColumn::Row(array, fields) if array.is_valid(row) => push_object(out, fields, row),
            JsonColumn::List(array, values) if array.is_valid(row) => {
                out.push(b'[');
                let offsets = array.value_offsets();
                for (i, at) in (offsets[row]..offsets[row + 1]).enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    values.push(out, usize::try_from(at).unwrap_or(0));
                }
                out.push(b']');
            }
            _ => out.extend_from_slice(b"null"),
        }
    }
}

fn push_json_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for b in text.bytes() {
        match b {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => out.extend_from_slice(format!("\\u{b:04x}").as_bytes()),
            _ => out.push(b),
        }
    }
    out.push(b'"');
}
