//! `SHOW` and `DESCRIBE`.

use std::fmt;

use sqlparser::ast::{Ident, ObjectName};

use super::drop::ObjectType;
use super::session::dotted;
use crate::keywords::quote_literal;

/// `SHOW ...`.
#[derive(Clone, Debug, PartialEq)]
pub enum Show {
    /// `SHOW TABLES | SOURCES | ... [FROM schema] [LIKE 'pattern']`; `SHOW JOBS` lists every job.
    Objects(ShowObjects),
    /// `SHOW CREATE <kind> name`.
    Create(ObjectType, ObjectName),
    /// `SHOW COLUMNS FROM t`, `DESCRIBE t`.
    Columns(ObjectName),
    /// `SHOW CHECKPOINTS FOR JOB j`: the last ones of the job of that name, also of a table or view.
    Checkpoints(ObjectName),
    /// `SHOW name`: a setting.
    Variable(String),
    /// `SHOW ALL`: every setting.
    All,
}

/// A list of objects.
#[derive(Clone, Debug, PartialEq)]
pub struct ShowObjects {
    /// Of which kind; `StreamingJob` for JOBS.
    pub object_type: ObjectType,
    /// Of which schema.
    pub schema: Option<Ident>,
    /// Whose names match this LIKE pattern.
    pub pattern: Option<String>,
}

impl fmt::Display for Show {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Show::Objects(objects) => {
                let plural = if objects.object_type == ObjectType::StreamingJob { "JOB" } else { objects.object_type.keyword() };
                write!(f, "SHOW {plural}S")?;
                if let Some(schema) = &objects.schema {
                    write!(f, " FROM {schema}")?;
                }
                objects.pattern.as_ref().map_or(Ok(()), |p| write!(f, " LIKE {}", quote_literal(p)))
            }
            Show::Create(kind, name) => write!(f, "SHOW CREATE {} {name}", kind.keyword()),
            Show::Columns(name) => write!(f, "SHOW COLUMNS FROM {name}"),
            Show::Checkpoints(name) => write!(f, "SHOW CHECKPOINTS FOR JOB {name}"),
            Show::Variable(name) => write!(f, "SHOW {}", dotted(name)),
            Show::All => f.write_str("SHOW ALL"),
        }
    }
}
