//! `CREATE VIEW` and `CREATE MATERIALIZED VIEW`.

use std::fmt;

use super::comma_separated::CommaSeparated;
use sqlparser::ast::{Ident, ObjectName};

use super::data::SelectStatement;
use super::options::RelationOption;

/// `CREATE [OR REPLACE] VIEW name [(columns)] AS query`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateView {
    /// OR REPLACE.
    pub or_replace: bool,
    /// The new view.
    pub name: ObjectName,
    /// Names for its columns; empty: the query's.
    pub columns: Vec<Ident>,
    /// The query.
    pub query: SelectStatement,
}

impl fmt::Display for CreateView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE {}VIEW {}", if self.or_replace { "OR REPLACE " } else { "" }, self.name)?;
        print_columns(f, &self.columns)?;
        write!(f, " AS {}", self.query)
    }
}

/// `CREATE MATERIALIZED VIEW [IF NOT EXISTS] name [(columns)] [WITH (...)] AS query`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateMaterializedView {
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// The new view.
    pub name: ObjectName,
    /// Names for its columns; empty: the query's.
    pub columns: Vec<Ident>,
    /// Job options.
    pub options: Vec<RelationOption>,
    /// The query.
    pub query: SelectStatement,
}

impl fmt::Display for CreateMaterializedView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE MATERIALIZED VIEW {}{}", if self.if_not_exists { "IF NOT EXISTS " } else { "" }, self.name)?;
        print_columns(f, &self.columns)?;
        if !self.options.is_empty() {
            write!(f, " WITH ({})", CommaSeparated(&self.options))?;
        }
        write!(f, " AS {}", self.query)
    }
}

fn print_columns(f: &mut fmt::Formatter<'_>, columns: &[Ident]) -> fmt::Result {
    if columns.is_empty() { Ok(()) } else { write!(f, " ({})", CommaSeparated(columns)) }
}
