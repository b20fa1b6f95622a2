//! `CREATE TABLE` and `CREATE SOURCE`.

use std::fmt;

use super::comma_separated::CommaSeparated;
use sqlparser::ast::{DataType, Expr, Ident, ObjectName};

use super::options::Connector;
use crate::keywords::quote_literal;

/// `CREATE TABLE` or `CREATE SOURCE`; the statement's variant says which.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// The new relation.
    pub name: ObjectName,
    /// Columns, key and watermark.
    pub definition: RelationDefinition,
    /// Connector and format; empty for a plain table.
    pub connector: Connector,
}

impl CreateTable {
    /// Prints `CREATE <kind> ...`.
    pub(crate) fn print(&self, f: &mut fmt::Formatter<'_>, kind: &str) -> fmt::Result {
        let condition = if self.if_not_exists { "IF NOT EXISTS " } else { "" };
        write!(f, "CREATE {kind} {condition}{}{}{}", self.name, self.definition, self.connector)
    }
}

/// `(column, ..., WATERMARK FOR c AS expr, PRIMARY KEY (a, b))`. No columns at all prints as nothing: the connector knows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RelationDefinition {
    /// The columns in order; at least one if parentheses were written for a table.
    pub columns: Vec<ColumnDefinition>,
    /// Columns of the primary key, inline ones included; empty without a key.
    pub primary_key: Vec<Ident>,
    /// The watermark.
    pub watermark: Option<Watermark>,
    /// True if parentheses were written (`CREATE TABLE t ()`).
    pub has_parentheses: bool,
}

impl fmt::Display for RelationDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.has_parentheses {
            return Ok(());
        }
        let mut elements: Vec<String> = self.columns.iter().map(ToString::to_string).collect();
        elements.extend(self.watermark.iter().map(ToString::to_string));
        if !self.primary_key.is_empty() {
            elements.push(format!("PRIMARY KEY ({})", CommaSeparated(&self.primary_key)));
        }
        write!(f, " ({})", elements.join(", "))
    }
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: Ident,
    /// Its type; see [`crate::column_type()`].
    pub data_type: DataType,
    /// NOT NULL was written.
    pub not_null: bool,
    /// DEFAULT.
    pub default: Option<Expr>,
}

impl fmt::Display for ColumnDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.data_type)?;
        if let Some(default) = &self.default {
            write!(f, " DEFAULT {default}")?;
        }
        if self.not_null { f.write_str(" NOT NULL") } else { Ok(()) }
    }
}

/// `WATERMARK FOR column AS expr [WITH IDLE TIMEOUT 'interval']`.
#[derive(Clone, Debug, PartialEq)]
pub struct Watermark {
    /// The event time column.
    pub column: Ident,
    /// The watermark for a row.
    pub expr: Expr,
    /// The text of the interval after which an idle split is left out.
    pub idle_timeout: Option<String>,
}

impl fmt::Display for Watermark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WATERMARK FOR {} AS {}", self.column, self.expr)?;
        self.idle_timeout.as_ref().map_or(Ok(()), |t| write!(f, " WITH IDLE TIMEOUT {}", quote_literal(t)))
    }
}
