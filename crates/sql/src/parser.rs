//! The wrapping parser: our statements first, sqlparser for what is inside them.

mod create;
mod cursor;
mod data;
mod elements;
mod explain;
mod job;
mod objects;
mod session;
mod show;
mod statement_parser;
mod transaction;
mod unsupported;

use millstream_types::limits::MAX_EXPRESSION_DEPTH;
use millstream_types::{Error, Result};
use sqlparser::ast::Expr;

use crate::depth::nesting_depth;
use crate::dialect::StreamDialect;
use crate::fault::{Fault, Parse, too_complex};
use crate::lexer::{StatementTokens, split};
use crate::normalize::normalize;
use crate::rewrite::rewrite;
use crate::statement::{SelectStatement, Statement};
use statement_parser::StatementParser;

/// One statement of an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The statement.
    pub statement: Statement,
    /// Its own text, without the semicolon and what is around it. Positions and spans in `statement` are in this text.
    pub text: String,
    /// Characters of the input before `text`: add it to positions in `text` to get positions in the input.
    pub offset: usize,
}

/// Parses all statements of `sql`; empty ones are skipped. Positions of errors are in `sql`.
///
/// # Errors
/// 42601 with PostgreSQL's words, 0A000 for clauses that are not there, 54001 for what is nested too deeply, 22021, 42622.
pub fn parse(sql: &str) -> Result<Vec<Parsed>> {
    split(sql)?
        .into_iter()
        .map(|tokens| {
            let (text, offset) = (tokens.text.to_string(), tokens.offset);
            let statement = with_parser(tokens, |p| p.statement()).map_err(|e| shift(e, offset))?;
            Ok(Parsed { statement, text, offset })
        })
        .collect()
}

/// Parses a lone expression, as the catalog stores defaults and watermarks.
///
/// # Errors
/// As [`parse`]; also if there is not exactly one expression.
pub fn parse_expression(text: &str) -> Result<Expr> {
    only(text, |p| {
        let mut expr = p.expr()?;
        normalize(&mut expr, p.text)?;
        Ok(expr)
    })
}

/// Parses a lone query, as the catalog stores views.
///
/// # Errors
/// As [`parse`]; also if there is not exactly one query.
pub fn parse_query(text: &str) -> Result<SelectStatement> {
    only(text, |p| p.select())
}

/// The text of `statement` to be stored: what it prints, checked to parse to the same tree again.
///
/// # Errors
/// 0A000 for a statement whose printed form reads differently (sqlparser prints a few rare spellings wrongly).
pub fn stored_text(statement: &Statement) -> Result<String> {
    let printed = statement.to_string();
    match parse(&printed) {
        Ok(again) if matches!(again.as_slice(), [one] if one.statement == *statement) => Ok(printed),
        _ => Err(Error::unsupported("storing this statement").with_detail(format!("it would be stored as: {printed}"))),
    }
}

fn only<T>(text: &str, f: impl FnOnce(&mut StatementParser) -> Parse<T>) -> Result<T> {
    let mut statements = split(text)?;
    match (statements.pop(), statements.is_empty()) {
        (Some(tokens), true) => {
            let offset = tokens.offset;
            with_parser(tokens, f).map_err(|e| shift(e, offset))
        }
        _ => Err(Error::new(millstream_types::SqlState::SYNTAX_ERROR, "syntax error at end of input")),
    }
}

fn with_parser<T>(tokens: StatementTokens, f: impl FnOnce(&mut StatementParser) -> Parse<T>) -> Result<T> {
    if nesting_depth(&tokens.tokens, MAX_EXPRESSION_DEPTH) > MAX_EXPRESSION_DEPTH {
        return Err(too_complex());
    }
    let dialect = StreamDialect::with_budget(10_000 + 64 * tokens.tokens.len() as u64);
    let mut parser = StatementParser::new(rewrite(tokens.tokens), tokens.text, &dialect);
    let result = f(&mut parser).and_then(|value| parser.end().map(|()| value));
    match result {
        Ok(value) => Ok(value),
        Err(Fault::Own(e)) => Err(e),
        Err(_) if dialect.is_exhausted() => Err(too_complex()),
        Err(fault) => Err(fault.into_error(&parser.parser, parser.text)),
    }
}

fn shift(e: Error, offset: usize) -> Error {
    match e.position() {
        Some(position) => e.with_position(position.saturating_add(u32::try_from(offset).unwrap_or(u32::MAX))),
        None => e,
    }
}
