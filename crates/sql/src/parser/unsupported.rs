//! Statements that are known by name but not there.

use sqlparser::tokenizer::Token;

use super::statement_parser::StatementParser;
use crate::fault::{Fault, Parse};
use crate::position::Position;
use crate::statement::Statement;

/// Statements known by their first word alone.
const VERBS: &[&str] = &[
    "alter",
    "analyze",
    "analyse",
    "call",
    "checkpoint",
    "cluster",
    "copy",
    "do",
    "flush",
    "grant",
    "import",
    "listen",
    "load",
    "lock",
    "merge",
    "move",
    "notify",
    "reassign",
    "refresh",
    "reindex",
    "release",
    "revoke",
    "savepoint",
    "security",
    "stop",
    "subscribe",
    "unlisten",
    "use",
    "vacuum",
    "verify",
];

/// Objects that CREATE, DROP, ALTER and COMMENT ON know elsewhere; longer names before their prefixes.
const OBJECTS: &[&str] = &[
    "access method",
    "aggregate",
    "cast",
    "collation",
    "connection",
    "constraint",
    "conversion",
    "domain",
    "event trigger",
    "extension",
    "foreign data wrapper",
    "foreign table",
    "function",
    "group",
    "index",
    "language",
    "macro",
    "operator class",
    "operator family",
    "operator",
    "owned",
    "policy",
    "procedure",
    "publication",
    "role",
    "routine",
    "rule",
    "savepoint",
    "secret",
    "sequence",
    "server",
    "statistics",
    "subscription",
    "tablespace",
    "temporary sequence",
    "temporary table",
    "temporary view",
    "temp sequence",
    "temp table",
    "temp view",
    "text search",
    "transform",
    "trigger",
    "type",
    "unique index",
    "unlogged table",
    "user mapping",
    "user",
];

impl StatementParser<'_> {
    /// 0A000 for this statement as a whole; its text is not parsed further.
    pub(super) fn known_unsupported(&mut self, name: &str) -> Statement {
        while *self.peek(0) != Token::EOF {
            self.parser.advance_token();
        }
        Statement::Unsupported { name: name.to_string(), position: Position(1), text: self.text.to_string() }
    }

    /// An object of [`OBJECTS`] that begins `skip` tokens ahead.
    pub(super) fn unsupported_object(&self, skip: usize) -> Option<&'static str> {
        OBJECTS
            .iter()
            .copied()
            .find(|object| object.split(' ').enumerate().all(|(i, word)| crate::lexer::is_word(self.peek(skip + i), word)))
    }

    /// Any other statement: known by name, or known to sqlparser, or a syntax error.
    pub(super) fn other(&mut self) -> Parse<Statement> {
        let Token::Word(first) = self.peek(0).clone() else { return Err(Fault::Here) };
        let verb = first.value.to_uppercase();
        if VERBS.contains(&first.value.as_str()) {
            let object = self.unsupported_object(1).or_else(|| {
                let own = ["materialized view", "streaming job", "table", "source", "sink", "view", "database", "schema", "system"];
                own.into_iter().find(|words| words.split(' ').enumerate().all(|(i, w)| crate::lexer::is_word(self.peek(1 + i), w)))
            });
            let name = match object {
                Some(object) if ["alter", "refresh", "stop"].contains(&first.value.as_str()) => format!("{verb} {}", object.to_uppercase()),
                _ => verb,
            };
            return Ok(self.known_unsupported(&name));
        }
        let skip = match first.value.as_str() {
            "create" if self.ahead("create or replace") => 3,
            "comment" => 2,
            "create" | "drop" => 1,
            "discard" => {
                let Token::Word(what) = self.peek(1) else { return Err(Fault::Here) };
                let name = format!("DISCARD {}", what.value.to_uppercase());
                return Ok(self.known_unsupported(&name));
            }
            _ => {
                self.parser.parse_statement()?;
                self.end()?;
                return Ok(self.known_unsupported(&verb));
            }
        };
        if let Some(object) = self.unsupported_object(skip) {
            let verb = if skip == 2 { "COMMENT ON".to_string() } else { verb };
            return Ok(self.known_unsupported(&format!("{verb} {}", object.to_uppercase())));
        }
        (0..skip).for_each(|_| self.parser.advance_token());
        Err(Fault::Here)
    }
}
