//! Source and sink `filesystem`: JSON lines, CSV and Parquet files below the allowed roots.
//!
//! [`config`] parses options, [`root`] is the only place that touches names: everything is opened beneath a root and must be a regular
//! file. Reading: [`records`] cuts bytes into whole records, [`json`] and [`csv`] turn records into columns, [`decode`] finds the
//! malformed one among them, [`parquet`] reads Parquet, [`reader`] goes from file to file, [`infer`] guesses columns that were not
//! declared. Writing: [`encode`] makes rows into bytes, [`sink`] into files that appear whole or not at all.

mod config;
mod csv;
mod decode;
mod encode;
mod infer;
mod json;
mod parquet;
mod reader;
mod records;
mod root;
mod sink;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use millstream_types::{Column, Result, Schema};

pub use reader::FileReader;
pub use sink::FileWriter;
pub(crate) use sink::commit;

/// Checks a source at CREATE: its columns (inferred from the first file if none are declared) and whether it ends.
///
/// # Errors
/// 42704, 22023 for options; 42501 outside the roots; 58P01 if there is nothing to infer columns from.
pub(crate) fn check_source(options: &BTreeMap<String, String>, declared: &Schema, roots: &[PathBuf]) -> Result<(Schema, bool)> {
    let config = config::SourceConfig::parse(options)?;
    let schema = infer::schema(&config, declared, roots)?;
    Ok((schema, !config.watch))
}

/// Checks a sink at CREATE.
///
/// # Errors
/// 42704, 22023 for options; 42501 outside the roots; 0A000 for a type the format cannot hold.
pub(crate) fn check_sink(options: &BTreeMap<String, String>, columns: &[Column], roots: &[PathBuf]) -> Result<()> {
    let config = config::SinkConfig::parse(options)?;
    root::Location::parse(&config.path, roots)?;
    encode::check_types(config.format, columns)
}
