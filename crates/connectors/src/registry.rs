//! The closed list of connectors.

use std::collections::BTreeMap;
use std::path::PathBuf;

use millstream_graph::{SinkSpec, SourceSpec};
use millstream_runtime::connector::{ConnectorProvider, SinkContext, SinkWriter, SourceContext};
use millstream_runtime::source::SourceReader;
use millstream_types::{Column, Error, Result, Schema, SqlState};

use crate::blackhole::{self, BlackholeWriter};
use crate::datagen::{DatagenConfig, DatagenReader};
use crate::filesystem::{self, FileReader, FileWriter};
use crate::nexmark::{NexmarkConfig, NexmarkReader};
use crate::options::nearest;
use crate::print::{self, PrintWriter};

/// Every connector there is.
pub struct ConnectorRegistry {
    file_roots: Vec<PathBuf>,
}

/// What the planner needs to know of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceProperties {
    /// Its columns: the declared ones, or those the connector defines or infers when none were declared.
    pub schema: Schema,
    /// True if it ends.
    pub bounded: bool,
    /// True if its rows are never taken back.
    pub append_only: bool,
}

/// What the planner needs to know of a sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinkProperties {
    /// True if it takes inserts only.
    pub append_only: bool,
}

#[derive(Clone, Copy)]
enum SourceKind {
    Datagen,
    Nexmark,
    Filesystem,
}

#[derive(Clone, Copy)]
enum SinkKind {
    Blackhole,
    Print,
    Filesystem,
}

const SOURCES: [(&str, SourceKind); 3] =
    [("datagen", SourceKind::Datagen), ("filesystem", SourceKind::Filesystem), ("nexmark", SourceKind::Nexmark)];
const SINKS: [(&str, SinkKind); 3] = [("blackhole", SinkKind::Blackhole), ("filesystem", SinkKind::Filesystem), ("print", SinkKind::Print)];

fn find<T: Copy>(what: &str, list: &[(&str, T)], connector: &str) -> Result<T> {
    let name = connector.trim().to_ascii_lowercase();
    if let Some((_, found)) = list.iter().find(|(n, _)| *n == name) {
        return Ok(*found);
    }
    let names: Vec<_> = list.iter().map(|(n, _)| *n).collect();
    let error = Error::new(SqlState::UNDEFINED_OBJECT, format!("there is no {what} connector \"{connector}\""))
        .with_detail(format!("There are {}.", names.join(", ")));
    Err(match nearest(&name, names.into_iter()) {
        Some(name) => error.with_hint(format!("Perhaps you meant \"{name}\".")),
        None => error,
    })
}

impl ConnectorRegistry {
    /// All connectors; files are read and written only below `file_roots`.
    pub fn new(file_roots: Vec<PathBuf>) -> Self {
        ConnectorRegistry { file_roots }
    }

    /// The directories below which files may be read and written.
    pub fn file_roots(&self) -> &[PathBuf] {
        &self.file_roots
    }

    /// Checks a source's options at CREATE and says what it gives.
    ///
    /// # Errors
    /// 42704 for an unknown connector or option, 22023 for a wrong value, 42703 and 42804 for columns it cannot give.
    pub fn validate_source(&self, connector: &str, options: &BTreeMap<String, String>, declared: &Schema) -> Result<SourceProperties> {
        let (schema, bounded) = match find("source", &SOURCES, connector)? {
            SourceKind::Datagen => {
                let config = DatagenConfig::parse(options, declared)?;
                (declared.clone(), config.is_bounded())
            }
            SourceKind::Nexmark => {
                let config = NexmarkConfig::parse(options)?;
                (config.schema(declared)?, config.is_bounded())
            }
            SourceKind::Filesystem => filesystem::check_source(options, declared, &self.file_roots)?,
        };
        Ok(SourceProperties { schema, bounded, append_only: true })
    }

    /// Checks a sink's options at CREATE.
    ///
    /// # Errors
    /// As [`ConnectorRegistry::validate_source`].
    pub fn validate_sink(&self, connector: &str, options: &BTreeMap<String, String>, columns: &[Column]) -> Result<SinkProperties> {
        let kind = find("sink", &SINKS, connector)?;
        match kind {
            SinkKind::Blackhole => blackhole::check(options)?,
            SinkKind::Print => print::check(options)?,
            SinkKind::Filesystem => filesystem::check_sink(options, columns, &self.file_roots)?,
        }
        Ok(SinkProperties { append_only: matches!(kind, SinkKind::Filesystem) })
    }
}

impl ConnectorProvider for ConnectorRegistry {
    fn source(&self, spec: &SourceSpec, ctx: &SourceContext) -> Result<Box<dyn SourceReader>> {
        Ok(match find("source", &SOURCES, &spec.connector)? {
            SourceKind::Datagen => Box::new(DatagenReader::new(spec, ctx)?),
            SourceKind::Nexmark => Box::new(NexmarkReader::new(spec, ctx)?),
            SourceKind::Filesystem => Box::new(FileReader::new(spec, ctx, &self.file_roots)?),
        })
    }

    fn sink(&self, spec: &SinkSpec, _schema: &Schema, ctx: &SinkContext) -> Result<Box<dyn SinkWriter>> {
        Ok(match find("sink", &SINKS, &spec.connector)? {
            SinkKind::Blackhole => {
                blackhole::check(&spec.options)?;
                Box::new(BlackholeWriter::new(ctx))
            }
            SinkKind::Print => Box::new(PrintWriter::new(spec, ctx)?),
            SinkKind::Filesystem => Box::new(FileWriter::new(spec, ctx, &self.file_roots)?),
        })
    }

    fn commit_sink(&self, spec: &SinkSpec, committables: &[Vec<u8>]) -> Result<()> {
        match find("sink", &SINKS, &spec.connector)? {
            SinkKind::Filesystem => filesystem::commit(spec, committables, &self.file_roots),
            SinkKind::Blackhole | SinkKind::Print => Ok(()),
        }
    }
}
