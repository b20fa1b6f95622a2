//! Queries and changes of data.

use std::fmt;

use super::comma_separated::CommaSeparated;
use sqlparser::ast::{ObjectName, Query};

/// `EMIT ...` at the end of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// `EMIT CHANGES`: every change as it happens.
    Changes,
    /// `EMIT ON WINDOW CLOSE`: a window once, when the watermark closes it.
    OnWindowClose,
}

impl fmt::Display for Emit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Emit::Changes => " EMIT CHANGES",
            Emit::OnWindowClose => " EMIT ON WINDOW CLOSE",
        })
    }
}

/// A query with its emit clause.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectStatement {
    /// The query.
    pub query: Box<Query>,
    /// `EMIT ...`, if written.
    pub emit: Option<Emit>,
}

impl fmt::Display for SelectStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.query.fmt(f)?;
        self.emit.map_or(Ok(()), |emit| emit.fmt(f))
    }
}

/// An INSERT with the emit clause of its query.
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    /// sqlparser's INSERT, free of the clauses of other databases.
    pub insert: Box<sqlparser::ast::Insert>,
    /// `EMIT ...` at the end of its query, if written.
    pub emit: Option<Emit>,
}

impl fmt::Display for Insert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.insert.fmt(f)?;
        self.emit.map_or(Ok(()), |emit| emit.fmt(f))
    }
}

/// `TRUNCATE [TABLE] a, b [RESTART IDENTITY] [CASCADE]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Truncate {
    /// The tables.
    pub tables: Vec<ObjectName>,
    /// RESTART IDENTITY.
    pub restart_identity: bool,
    /// CASCADE.
    pub cascade: bool,
}

impl fmt::Display for Truncate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TRUNCATE TABLE {}", CommaSeparated(&self.tables))?;
        f.write_str(if self.restart_identity { " RESTART IDENTITY" } else { "" })?;
        f.write_str(if self.cascade { " CASCADE" } else { "" })
    }
}
