//! `SET` and `RESET`.

use std::fmt;

use crate::keywords::{quote_identifier, quote_literal};
use crate::position::Position;

/// How long a SET holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetScope {
    /// Until the session ends.
    Session,
    /// `SET LOCAL`: until the transaction ends.
    Local,
}

/// `SET [SESSION | LOCAL] name = value, ... | DEFAULT`. `SET TIME ZONE` sets `timezone`, `SET NAMES` sets `client_encoding`,
/// `SET SCHEMA` sets `search_path`.
#[derive(Clone, Debug, PartialEq)]
pub struct SetVariable {
    /// How long.
    pub scope: SetScope,
    /// The setting in lower case, dots included.
    pub name: String,
    /// The values' texts; `None` for DEFAULT.
    pub values: Option<Vec<String>>,
    /// Where the name stands.
    pub position: Position,
}

impl fmt::Display for SetVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scope = if self.scope == SetScope::Local { "LOCAL " } else { "" };
        let value = match &self.values {
            Some(values) => values.iter().map(|v| quote_literal(v)).collect::<Vec<_>>().join(", "),
            None => "DEFAULT".to_string(),
        };
        write!(f, "SET {scope}{} = {value}", dotted(&self.name))
    }
}

/// `RESET name | ALL`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reset {
    /// The setting; `None` for ALL.
    pub name: Option<String>,
}

impl fmt::Display for Reset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "RESET {}", dotted(name)),
            None => f.write_str("RESET ALL"),
        }
    }
}

/// A dotted setting name as SQL writes it.
pub(crate) fn dotted(name: &str) -> String {
    name.split('.').map(quote_identifier).collect::<Vec<_>>().join(".")
}
