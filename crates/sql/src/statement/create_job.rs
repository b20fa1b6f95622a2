//! `CREATE STREAMING JOB`.

use std::fmt;

use super::comma_separated::CommaSeparated;
use sqlparser::ast::ObjectName;

use super::data::Insert;
use super::options::RelationOption;

/// `CREATE STREAMING JOB [IF NOT EXISTS] name [WITH (...)] AS ...`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateStreamingJob {
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// The new job.
    pub name: ObjectName,
    /// Job options.
    pub options: Vec<RelationOption>,
    /// What it does.
    pub body: JobBody,
}

/// What a streaming job does.
#[derive(Clone, Debug, PartialEq)]
pub enum JobBody {
    /// One INSERT.
    Insert(Insert),
    /// `BEGIN INSERT ...; INSERT ...; END`: one job, shared sources. At least one.
    Block(Vec<Insert>),
}

impl JobBody {
    /// The INSERTs in order.
    pub fn inserts(&self) -> &[Insert] {
        match self {
            JobBody::Insert(insert) => std::slice::from_ref(insert),
            JobBody::Block(inserts) => inserts,
        }
    }
}

impl fmt::Display for CreateStreamingJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE STREAMING JOB {}{}", if self.if_not_exists { "IF NOT EXISTS " } else { "" }, self.name)?;
        if !self.options.is_empty() {
            write!(f, " WITH ({})", CommaSeparated(&self.options))?;
        }
        match &self.body {
            JobBody::Insert(insert) => write!(f, " AS {insert}"),
            JobBody::Block(inserts) => {
                f.write_str(" AS BEGIN ")?;
                inserts.iter().try_for_each(|insert| write!(f, "{insert}; "))?;
                f.write_str("END")
            }
        }
    }
}
