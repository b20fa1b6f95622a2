//! A pass over sqlparser's tree: refuses what it reads but SQL has not, and makes the tree print as it reads.

use std::ops::ControlFlow;

use millstream_types::{Error, SqlState};
use sqlparser::ast::{Expr, Query, SetExpr, Spanned, TableFactor, UnaryOperator, VisitMut, VisitorMut};

use crate::fault::Parse;
use crate::position::{expr_position, position_of};

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
