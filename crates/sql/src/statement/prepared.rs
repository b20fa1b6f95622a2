//! `PREPARE`, `EXECUTE` and `DEALLOCATE`.

use std::fmt;

use super::comma_separated::CommaSeparated;
use sqlparser::ast::{DataType, Expr, Ident};

use super::Statement;

/// `PREPARE name [(types)] AS statement`.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepare {
    /// The prepared statement's name.
    pub name: Ident,
    /// Types of the first parameters.
    pub types: Vec<DataType>,
    /// A query or a change of data.
    pub statement: Box<Statement>,
}

impl fmt::Display for Prepare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PREPARE {}", self.name)?;
        if !self.types.is_empty() {
            write!(f, " ({})", CommaSeparated(&self.types))?;
        }
        write!(f, " AS {}", self.statement)
    }
}

/// `EXECUTE name [(values)]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Execute {
    /// The prepared statement.
    pub name: Ident,
    /// Its parameters.
    pub parameters: Vec<Expr>,
}

impl fmt::Display for Execute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EXECUTE {}", self.name)?;
        if self.parameters.is_empty() { Ok(()) } else { write!(f, " ({})", CommaSeparated(&self.parameters)) }
    }
}

/// `DEALLOCATE [PREPARE] name | ALL`.
#[derive(Clone, Debug, PartialEq)]
pub struct Deallocate {
    /// Which; `None` for ALL.
    pub name: Option<Ident>,
}

impl fmt::Display for Deallocate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "DEALLOCATE {name}"),
            None => f.write_str("DEALLOCATE ALL"),
        }
    }
}
