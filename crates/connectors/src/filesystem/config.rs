//! The options of `filesystem` sources and sinks.

use std::collections::BTreeMap;
use std::time::Duration;

use millstream_types::Result;

use crate::options::{Known, Options, aliased, known};

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FileFormat {
    /// One JSON object a line.
    Json,
    Csv,
    Parquet,
}

impl FileFormat {
    /// The ending of file names.
    pub(super) fn ending(self) -> &'static str {
        match self {
            FileFormat::Json => "json",
            FileFormat::Csv => "csv",
            FileFormat::Parquet => "parquet",
        }
    }
}

const FORMATS: [(&str, FileFormat); 3] = [("json", FileFormat::Json), ("csv", FileFormat::Csv), ("parquet", FileFormat::Parquet)];

/// How CSV is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct CsvStyle {
    /// The first record names the columns.
    pub(super) header: bool,
    pub(super) delimiter: u8,
    pub(super) quote: u8,
}

const SOURCE: [Known; 8] = [
    known("path"),
    known("format"),
    known("mode"),
    aliased("poll_interval", &["monitor_interval"]),
    known("on_error"),
    known("header"),
    known("delimiter"),
    known("quote"),
];

const SINK: [Known; 8] = [
    known("path"),
    known("format"),
    known("roll_rows"),
    known("roll_bytes"),
    known("roll_interval"),
    known("header"),
    known("delimiter"),
    known("quote"),
];

/// Parsed options of a source.
#[derive(Clone, Debug)]
pub(super) struct SourceConfig {
    /// A file, a directory or a pattern.
    pub(super) path: String,
    pub(super) format: FileFormat,
    /// New files and appended records are read as they come; else the source ends with the files that are there at its start.
    pub(super) watch: bool,
    pub(super) poll_interval: Duration,
    /// A malformed row is left out and counted; else it ends the job.
    pub(super) skip: bool,
    pub(super) csv: CsvStyle,
}

/// Parsed options of a sink.
#[derive(Clone, Debug)]
pub(super) struct SinkConfig {
    pub(super) path: String,
    pub(super) format: FileFormat,
    pub(super) roll_rows: u64,
    pub(super) roll_bytes: u64,
    pub(super) roll_interval: Duration,
    pub(super) csv: CsvStyle,
}

impl SourceConfig {
    /// Options: `path`, `format` ('json', 'csv', 'parquet'; by default what the path ends in), `mode` ('bounded', 'watch'),
    /// `poll_interval` of watching (default 1 s), `on_error` ('fail', 'skip'), and for CSV `header` (default true), `delimiter`, `quote`.
    pub(super) fn parse(options: &BTreeMap<String, String>) -> Result<Self> {
        let options = Options::new("filesystem", options, &SOURCE)?;
        let path = options.required("path")?.to_string();
        Ok(SourceConfig {
            format: format(&options, &path)?,
            path,
            watch: options.choice("mode", &[("bounded", false), ("watch", true)])?.unwrap_or(false),
            poll_interval: options.duration("poll_interval")?.unwrap_or(Duration::from_secs(1)),
            skip: options.choice("on_error", &[("fail", false), ("skip", true)])?.unwrap_or(false),
            csv: csv_style(&options)?,
        })
    }
}

impl SinkConfig {
    /// Options: `path` (a directory, or one file by its ending), `format`, `roll_rows` (default 1000000), `roll_bytes` (128 MiB),
    /// `roll_interval` (1 s), and for CSV as for a source.
    pub(super) fn parse(options: &BTreeMap<String, String>) -> Result<Self> {
        let options = Options::new("filesystem", options, &SINK)?;
        let path = options.required("path")?.to_string();
        Ok(SinkConfig {
            format: format(&options, &path)?,
            path,
            roll_rows: options.number("roll_rows", 1..=u64::MAX)?.unwrap_or(1_000_000),
            roll_bytes: options.number("roll_bytes", 1..=u64::MAX)?.unwrap_or(128 << 20),
            roll_interval: options.duration("roll_interval")?.unwrap_or(Duration::from_secs(1)),
            csv: csv_style(&options)?,
        })
    }

    /// True if the path names one file and no directory.
    pub(super) fn is_one_file(&self) -> bool {
        FORMATS.iter().any(|(ending, _)| self.path.ends_with(&format!(".{ending}")))
    }
}

fn format(options: &Options<'_>, path: &str) -> Result<FileFormat> {
    if let Some(format) = options.choice("format", &FORMATS)? {
        return Ok(format);
    }
    let plain = path.strip_suffix(".gz").unwrap_or(path);
    match FORMATS.iter().find(|(ending, _)| plain.ends_with(&format!(".{ending}"))) {
        Some((_, format)) => Ok(*format),
        None => options.required("format").map(|_| FileFormat::Json),
    }
}

fn csv_style(options: &Options<'_>) -> Result<CsvStyle> {
    let style = CsvStyle {
        header: options.boolean("header")?.unwrap_or(true),
        delimiter: options.character("delimiter")?.unwrap_or(b','),
        quote: options.character("quote")?.unwrap_or(b'"'),
    };
    if style.delimiter == style.quote {
        return Err(options.wrong("delimiter", "another character than the quote"));
    }
    Ok(style)
}
