//! A pass over sqlparser's tree: refuses what it reads but SQL has not, and makes the tree print as it reads.

use std::ops::ControlFlow;

use millstream_types::{Error, SqlState};
use sqlparser::ast::{AccessExpr, Expr, Ident, Query, SetExpr, Spanned, TableFactor, UnaryOperator, VisitMut, VisitorMut};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use crate::dialect::StreamDialect;
use crate::fault::Parse;
use crate::keywords::{is_reserved, quote_identifier};
use crate::position::{expr_position, position_of};

/// Reserved words that stand for a value; sqlparser reads them as names of columns.
const WORD_VALUES: [&str; 11] = [
    "default",
    "user",
    "current_user",
    "current_role",
    "session_user",
    "system_user",
    "current_catalog",
    "current_schema",
    "current_date",
    "current_time",
    "current_timestamp",
];

/// Checks `node`, part of the statement `text`.
pub(crate) fn normalize<T: VisitMut>(node: &mut T, text: &str) -> Parse<()> {
    match node.visit(&mut Normalizer { text }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(e) => Err(e.into()),
    }
}

struct Normalizer<'a> {
    text: &'a str,
}

impl VisitorMut for Normalizer<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        if let Err(e) = spell_out_tables(&mut query.body) {
            return ControlFlow::Break(e);
        }
        let verb = match query.body.as_ref() {
            SetExpr::Insert(_) => "INSERT",
            SetExpr::Update(_) => "UPDATE",
            SetExpr::Delete(_) => "DELETE",
            SetExpr::Merge(_) => "MERGE",
            _ => return ControlFlow::Continue(()),
        };
        let start = query.body.span().start;
        let error = Error::unsupported(format!("{verb} inside WITH"));
        ControlFlow::Break(if start.line > 0 { error.with_position(position_of(self.text, start)) } else { error })
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        let TableFactor::Table { with_hints, .. } = factor else { return ControlFlow::Continue(()) };
        let Some(hint) = with_hints.first() else { return ControlFlow::Continue(()) };
        let error = Error::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"WITH\"")
            .with_hint("a table in FROM takes no WITH (...) options; they belong to the CREATE statement");
        ControlFlow::Break(match expr_position(hint, self.text) {
            Some(position) => error.with_position(position),
            None => error,
        })
    }

    /// sqlparser reads `a. 2` as a name of two parts, `2 .a` as a field of a number, and reserved words as columns.
    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        let is_number = |p: &Ident| p.quote_style.is_none() && p.value.starts_with(|c: char| c.is_ascii_digit());
        let wrong = match expr {
            Expr::Identifier(name)
                if name.quote_style.is_none() && is_reserved(&name.value) && !WORD_VALUES.contains(&name.value.as_str()) =>
            {
                Some((name.value.clone(), name.span))
            }
            Expr::CompoundIdentifier(parts) => parts.iter().find(|p| is_number(p)).map(|p| (p.value.clone(), p.span)),
            Expr::CompoundFieldAccess { root, .. } if matches!(root.as_ref(), Expr::Value(_)) => Some((root.to_string(), root.span())),
            Expr::CompoundFieldAccess { access_chain, .. } => access_chain.iter().find_map(|access| match access {
                AccessExpr::Dot(Expr::Identifier(_)) | AccessExpr::Subscript(_) => None,
                AccessExpr::Dot(other) => Some((other.to_string(), other.span())),
            }),
            _ => None,
        };
        let Some((word, span)) = wrong else { return ControlFlow::Continue(()) };
        let error = Error::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{word}\""));
        ControlFlow::Break(if span.start.line > 0 { error.with_position(position_of(self.text, span.start)) } else { error })
    }

    /// `- -1` prints as `--1`, a comment: parentheses keep the signs apart. So do they in `-(-1)`-like pairs of any symbol operators.
    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if let Expr::UnaryOp { op, expr: inner } = expr
            && *op != UnaryOperator::Not
            && matches!(inner.as_ref(), Expr::UnaryOp { op, .. } if *op != UnaryOperator::Not)
        {
            let operand = std::mem::replace(inner.as_mut(), Expr::Tuple(Vec::new()));
            **inner = Expr::Nested(Box::new(operand));
        }
        ControlFlow::Continue(())
    }
}

/// `TABLE t` becomes `SELECT * FROM t`, which it means: sqlparser's tree of it forgets quotes.
fn spell_out_tables(body: &mut SetExpr) -> Result<(), Error> {
    match body {
        SetExpr::SetOperation { left, right, .. } => {
            spell_out_tables(left)?;
            spell_out_tables(right)
        }
        SetExpr::Table(table) => {
            let mut tokens = vec![Token::make_keyword("SELECT"), Token::Mul, Token::make_keyword("FROM")];
            for part in table.schema_name.iter().chain(&table.table_name) {
                if tokens.len() > 3 {
                    tokens.push(Token::Period);
                }
                let quote = (quote_identifier(part) != *part).then_some('"');
                tokens.push(Token::make_word(part, quote));
            }
            let dialect = StreamDialect::default();
            let select = Parser::new(&dialect).with_tokens(tokens).parse_query_body(0).map_err(Error::internal)?;
            *body = *select;
            Ok(())
        }
        _ => Ok(()),
    }
}
