//! What stops a parse: sqlparser's error, to be put into PostgreSQL's words, or an error of our own.

use millstream_types::{Error, SqlState};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, TokenizerError};

use crate::position::{byte_of, char_position};

/// Result inside the parser.
pub(crate) type Parse<T> = Result<T, Fault>;

/// What stops a parse. Positions of `Own` are in the statement's text.
#[derive(Debug)]
pub(crate) enum Fault {
    Parser(ParserError),
    /// The token at the parser's position does not fit.
    Here,
    Own(Error),
}

impl From<ParserError> for Fault {
    fn from(e: ParserError) -> Self {
        Fault::Parser(e)
    }
}

impl From<Error> for Fault {
    fn from(e: Error) -> Self {
        Fault::Own(e)
    }
}

impl Fault {
    /// The error for the client; `parser` stands where it stopped.
    pub(crate) fn into_error(self, parser: &Parser, text: &str) -> Error {
        match self {
            Fault::Own(e) => e,
            Fault::Parser(ParserError::RecursionLimitExceeded) => too_complex(),
            Fault::Here => at_token(parser.peek_token_ref(), text),
            Fault::Parser(ParserError::ParserError(m) | ParserError::TokenizerError(m)) => match location_in(&m) {
                Some(location) => at_token(&token_at(parser, location), text),
                None if m.contains("found: EOF") => end_of_input(text),
                None => at_token(parser.peek_token_ref(), text),
            },
        }
    }
}

/// 54001.
pub(crate) fn too_complex() -> Error {
    Error::new(SqlState::STATEMENT_TOO_COMPLEX, "statement too complex")
        .with_detail(format!("expressions and subqueries may be nested {} levels deep", millstream_types::limits::MAX_EXPRESSION_DEPTH))
        .with_hint("split the statement, or write long chains of OR as IN (...)")
}

fn end_of_input(text: &str) -> Error {
    Error::new(SqlState::SYNTAX_ERROR, "syntax error at end of input").with_position(char_position(text, text.len()))
}

fn near(what: &str, token: &str, text: &str, byte: usize) -> Error {
    Error::new(SqlState::SYNTAX_ERROR, format!("{what} at or near \"{token}\"")).with_position(char_position(text, byte))
}

fn at_token(token: &TokenWithSpan, text: &str) -> Error {
    if token.token == Token::EOF {
        return end_of_input(text);
    }
    let (start, end) = (byte_of(text, token.span.start), byte_of(text, token.span.end));
    near("syntax error", text.get(start..end).unwrap_or_default(), text, start)
}

/// sqlparser writes the place into its message: `... at Line: 1, Column: 8`.
fn location_in(message: &str) -> Option<Location> {
    let (_, place) = message.rsplit_once(" at Line: ")?;
    let (line, column) = place.split_once(", Column: ")?;
    Some(Location { line: line.parse().ok()?, column: column.parse().ok()? })
}

fn token_at(parser: &Parser, location: Location) -> TokenWithSpan {
    let mut index = 0;
    loop {
        let token = parser.token_at(index);
        if token.token == Token::EOF || token.span.start == location {
            return token.clone();
        }
        index += 1;
    }
}

/// A tokenizer error in PostgreSQL's words: from the place of the error to the end of the text, as PostgreSQL shows it.
pub(crate) fn lexical_error(e: &TokenizerError, sql: &str) -> Error {
    let byte = byte_of(sql, e.location);
    let rest = sql.get(byte..).unwrap_or_default();
    let what = match e.message.as_str() {
        m if m.contains("multi-line comment") => return unterminated_comment(sql),
        m if m.contains("dollar") => "unterminated dollar-quoted string",
        m if m.contains("close delimiter") => "unterminated quoted identifier",
        m if m.contains("nterminated") => "unterminated quoted string",
        m if m.to_lowercase().contains("unicode") => "invalid Unicode escape",
        _ => {
            let first: String = rest.chars().take(1).collect();
            return if first.is_empty() { end_of_input(sql) } else { near("syntax error", &first, sql, byte) };
        }
    };
    near(what, rest, sql, byte)
}

/// sqlparser reports the end of the input; PostgreSQL shows where the comment begins.
fn unterminated_comment(sql: &str) -> Error {
    let byte = sql.find("/*").unwrap_or(sql.len());
    near("unterminated /* comment", sql.get(byte..).unwrap_or_default(), sql, byte)
}
