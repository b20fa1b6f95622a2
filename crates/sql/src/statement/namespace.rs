//! `CREATE DATABASE`, `CREATE SCHEMA` and `COMMENT ON`.

use std::fmt;

use sqlparser::ast::ObjectName;

use super::drop::ObjectType;
use crate::keywords::quote_literal;

/// `CREATE DATABASE` or `CREATE SCHEMA`; the statement's variant says which.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateNamespace {
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// The new name.
    pub name: ObjectName,
}

impl CreateNamespace {
    /// Prints `CREATE <kind> ...`.
    pub(crate) fn print(&self, f: &mut fmt::Formatter<'_>, kind: &str) -> fmt::Result {
        write!(f, "CREATE {kind} {}{}", if self.if_not_exists { "IF NOT EXISTS " } else { "" }, self.name)
    }
}

/// `COMMENT ON <kind> name IS 'text' | NULL`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comment {
    /// The kind; `None` for COLUMN.
    pub object_type: Option<ObjectType>,
    /// The object, or the column with its relation before it.
    pub name: ObjectName,
    /// The text; `None` removes it.
    pub comment: Option<String>,
}

impl fmt::Display for Comment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.object_type.map_or("COLUMN", ObjectType::keyword);
        let text = self.comment.as_deref().map_or_else(|| "NULL".to_string(), quote_literal);
        write!(f, "COMMENT ON {kind} {} IS {text}", self.name)
    }
}
