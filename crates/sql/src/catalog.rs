//! What the catalog stores about an object: plain, versioned by their owner, free of any parser's types.

mod descriptors;

use millstream_types::ObjectId;
use serde::{Deserialize, Serialize};

pub use descriptors::{
    ColumnDescriptor, ConnectorDescriptor, MaterializedViewDescriptor, ROW_ID_COLUMN, SinkDescriptor, SinkInputDescriptor,
    SourceDescriptor, StreamingJobDescriptor, TableDescriptor, ViewDescriptor, WatermarkDescriptor,
};

use crate::keywords::quote_identifier;
use crate::parser::parse;
use crate::redact::redacted;
use crate::statement::ObjectType;

/// An object of the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectDescriptor {
    /// Its number.
    pub id: ObjectId,
    /// Its database.
    pub database: String,
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Who made it.
    pub owner: String,
    /// The CREATE statement with its secrets; display [`ObjectDescriptor::displayed_definition`] instead.
    pub definition: String,
    /// The objects it needs.
    pub depends_on: Vec<ObjectId>,
    /// What it is.
    pub kind: ObjectKind,
}

impl ObjectDescriptor {
    /// The CREATE statement as SHOW CREATE prints it, without secrets. A definition that does not parse shows as its head only, so
    /// that nothing leaks.
    pub fn displayed_definition(&self) -> String {
        match parse(&self.definition) {
            Ok(statements) if !statements.is_empty() => {
                let printed: Vec<_> = statements.into_iter().map(|s| redacted(s.statement).to_string()).collect();
                printed.join("; ")
            }
            _ => format!("CREATE {} {}", self.kind.object_type().keyword(), quote_identifier(&self.name)),
        }
    }

    /// `schema.name`, quoted where needed.
    pub fn qualified_name(&self) -> String {
        format!("{}.{}", quote_identifier(&self.schema), quote_identifier(&self.name))
    }
}

/// What an object is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ObjectKind {
    /// A table.
    Table(TableDescriptor),
    /// A source.
    Source(SourceDescriptor),
    /// A sink.
    Sink(SinkDescriptor),
    /// A view.
    View(ViewDescriptor),
    /// A materialized view.
    MaterializedView(MaterializedViewDescriptor),
    /// A streaming job.
    StreamingJob(StreamingJobDescriptor),
}

impl ObjectKind {
    /// The kind's name.
    pub fn object_type(&self) -> ObjectType {
        match self {
            ObjectKind::Table(_) => ObjectType::Table,
            ObjectKind::Source(_) => ObjectType::Source,
            ObjectKind::Sink(_) => ObjectType::Sink,
            ObjectKind::View(_) => ObjectType::View,
            ObjectKind::MaterializedView(_) => ObjectType::MaterializedView,
            ObjectKind::StreamingJob(_) => ObjectType::StreamingJob,
        }
    }

    /// Its columns as a query sees them (a table's hidden key is not among them); none for a job.
    pub fn columns(&self) -> &[ColumnDescriptor] {
        match self {
            ObjectKind::Table(t) => &t.columns,
            ObjectKind::Source(s) => &s.columns,
            ObjectKind::Sink(s) => &s.columns,
            ObjectKind::View(v) => &v.columns,
            ObjectKind::MaterializedView(v) => &v.columns,
            ObjectKind::StreamingJob(_) => &[],
        }
    }
}
