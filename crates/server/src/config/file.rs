//! `millstream.toml`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use millstream_types::{Error, Result, SqlState};
use serde::Deserialize;

/// The keys of the configuration file: the options of `millstream start` with underscores.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileConfig {
    /// `--data-dir`
    pub data_dir: Option<PathBuf>,
    /// `--sql-addr`
    pub sql_addr: Option<SocketAddr>,
    /// `--http-addr`
    pub http_addr: Option<SocketAddr>,
    /// `--slots`
    pub slots: Option<u32>,
    /// `--managed-memory`
    pub managed_memory: Option<ByteSize>,
    /// `--allow-files`
    pub allow_files: Vec<PathBuf>,
    /// `--insecure`
    pub insecure: bool,
}

impl FileConfig {
    /// Reads a file.
    ///
    /// # Errors
    /// F0000 naming the file, the line and the key that is unknown or wrong.
    pub fn read(path: &Path) -> Result<FileConfig> {
        let error = |what: String| Error::new(SqlState::CONFIG_FILE_ERROR, format!("configuration file {}: {what}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|e| error(e.to_string()))?;
        toml::from_str(&text).map_err(|e| {
            let line = e.span().map_or(1, |s| text[..s.start.min(text.len())].lines().count().max(1));
            let source = text.lines().nth(line - 1).unwrap_or_default().trim();
            error(format!("line {line}: {} in `{source}`", e.message().replace('\n', " ")))
        })
    }
}
