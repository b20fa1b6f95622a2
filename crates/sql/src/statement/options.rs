//! `WITH (key = 'value', ...)` and `FORMAT x ENCODE y (...)`.

use std::fmt;

use super::comma_separated::CommaSeparated;

use crate::keywords::{quote_identifier, quote_literal};
use crate::position::Position;

/// One option. The key is folded to lower case where it was not quoted; words and numbers are kept as their text.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationOption {
    /// The key, dots included (`properties.bootstrap.server`).
    pub key: String,
    /// The value's text.
    pub value: String,
    /// Where the key stands in the statement.
    pub position: Position,
}

impl fmt::Display for RelationOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.key.split('.').all(|part| quote_identifier(part) == part);
        let key = if plain { self.key.clone() } else { quote_literal(&self.key) };
        write!(f, "{key} = {}", quote_literal(&self.value))
    }
}

/// `FORMAT x ENCODE y [(options)]`.
#[derive(Clone, Debug, PartialEq)]
pub struct FormatClause {
    /// The format in lower case: `plain`, `upsert`, `debezium`, ...
    pub format: String,
    /// The encoding in lower case: `json`, `csv`, ...
    pub encode: String,
    /// Options of the encoding.
    pub options: Vec<RelationOption>,
    /// Where FORMAT stands.
    pub position: Position,
}

impl fmt::Display for FormatClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " FORMAT {} ENCODE {}", self.format.to_uppercase(), self.encode.to_uppercase())?;
        if self.options.is_empty() { Ok(()) } else { write!(f, " ({})", CommaSeparated(&self.options)) }
    }
}

/// What follows the columns of a relation with a connector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connector {
    /// The options of WITH.
    pub options: Vec<RelationOption>,
    /// The format clause.
    pub format: Option<FormatClause>,
}

impl Connector {
    /// The value of option `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.options.iter().find(|o| o.key == key).map(|o| o.value.as_str())
    }
}

impl fmt::Display for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.options.is_empty() {
            write!(f, " WITH ({})", CommaSeparated(&self.options))?;
        }
        self.format.as_ref().map_or(Ok(()), |format| format.fmt(f))
    }
}
