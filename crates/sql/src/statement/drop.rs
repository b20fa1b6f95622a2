//! `DROP` and the kinds of objects.

use std::fmt;

use super::comma_separated::CommaSeparated;
use serde::{Deserialize, Serialize};
use sqlparser::ast::ObjectName;

/// A kind of catalog object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ObjectType {
    /// A table.
    Table,
    /// A source.
    Source,
    /// A sink.
    Sink,
    /// A view.
    View,
    /// A materialized view.
    MaterializedView,
    /// A streaming job.
    StreamingJob,
    /// A database.
    Database,
    /// A schema.
    Schema,
}

impl ObjectType {
    /// All kinds.
    pub const ALL: [ObjectType; 8] = [
        ObjectType::MaterializedView,
        ObjectType::StreamingJob,
        ObjectType::Table,
        ObjectType::Source,
        ObjectType::Sink,
        ObjectType::View,
        ObjectType::Database,
        ObjectType::Schema,
    ];

    /// As SQL writes it: `MATERIALIZED VIEW`.
    pub fn keyword(self) -> &'static str {
        match self {
            ObjectType::Table => "TABLE",
            ObjectType::Source => "SOURCE",
            ObjectType::Sink => "SINK",
            ObjectType::View => "VIEW",
            ObjectType::MaterializedView => "MATERIALIZED VIEW",
            ObjectType::StreamingJob => "STREAMING JOB",
            ObjectType::Database => "DATABASE",
            ObjectType::Schema => "SCHEMA",
        }
    }
}

impl fmt::Display for ObjectType {
    /// In lower case, as error messages say it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.keyword().to_lowercase())
    }
}

/// `DROP <kind> [IF EXISTS] a, b [CASCADE]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Drop {
    /// What kind.
    pub object_type: ObjectType,
    /// IF EXISTS.
    pub if_exists: bool,
    /// Which.
    pub names: Vec<ObjectName>,
    /// CASCADE; RESTRICT is the default.
    pub cascade: bool,
}

impl fmt::Display for Drop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let condition = if self.if_exists { "IF EXISTS " } else { "" };
        let cascade = if self.cascade { " CASCADE" } else { "" };
        write!(f, "DROP {} {condition}{}{cascade}", self.object_type.keyword(), CommaSeparated(&self.names))
    }
}
