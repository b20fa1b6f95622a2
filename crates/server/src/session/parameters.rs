//! Parameters of prepared statements: `$n` in the tree is replaced by the value as a literal with its type.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{CastKind, Expr, Value, Visit, VisitMut, visit_expressions, visit_expressions_mut};
use millstream_sql::Parsed;
use millstream_sql::statement::Statement;
use millstream_types::{Datum, Error, Result, SqlState};

/// The highest `$n` of a statement.
pub(super) fn count(statement: &Statement) -> usize {
    let mut highest = 0;
    let mut visit = |e: &Expr| {
        highest = highest.max(number(e).unwrap_or(0));
        ControlFlow::<()>::Continue(())
    };
    match statement {
        Statement::Query(s) => drop(visit_expressions(&s.query, &mut visit)),
        Statement::Insert(s) => drop(visit_expressions(&s.insert, &mut visit)),
        Statement::Update(s) => drop(visit_all(s.as_ref(), &mut visit)),
        Statement::Delete(s) => drop(visit_all(s.as_ref(), &mut visit)),
        _ => (),
    }
    highest
}

fn visit_all<T: Visit>(node: &T, visit: &mut impl FnMut(&Expr) -> ControlFlow<()>) -> ControlFlow<()> {
    visit_expressions(node, visit)
}

fn number(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Value(v) => match &v.value {
            Value::Placeholder(name) => name.strip_prefix('$').and_then(|n| n.parse().ok()),
            _ => None,
        },
        _ => None,
    }
}

/// The statement with its parameters' values.
///
/// # Errors
/// 42P02 for a parameter without a value.
pub(super) fn bind(parsed: &Parsed, values: &[Datum]) -> Result<Parsed> {
    if values.is_empty() {
        return Ok(parsed.clone());
    }
    let mut bound = parsed.clone();
    match &mut bound.statement {
        Statement::Query(s) => replace(&mut s.query, values)?,
        Statement::Insert(s) => replace(&mut s.insert, values)?,
        Statement::Update(s) => replace(s.as_mut(), values)?,
        Statement::Delete(s) => replace(s.as_mut(), values)?,
        _ => return Err(Error::new(SqlState::UNDEFINED_PARAMETER, "there is no parameter $1")),
    }
    Ok(bound)
}

fn replace<T: VisitMut>(node: &mut T, values: &[Datum]) -> Result<()> {
    let done = visit_expressions_mut(node, |e| {
        let Some(n) = number(e) else { return ControlFlow::Continue(()) };
        let Some(value) = n.checked_sub(1).and_then(|i| values.get(i)) else {
            return ControlFlow::Break(Error::new(SqlState::UNDEFINED_PARAMETER, format!("there is no parameter ${n}")));
        };
        match literal(value) {
            Ok(literal) => {
                *e = literal;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    });
    match done {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// `CAST('text' AS type)`: PostgreSQL's text form is exact for every type.
fn literal(value: &Datum) -> Result<Expr> {
    let sql_type = value.sql_type();
    let text = match value {
        Datum::Null(_) => Value::Null,
        Datum::Text(text) => return Ok(Expr::Value(Value::SingleQuotedString(text.clone()).into())),
        other => {
            let array = millstream_functions::to_text(&other.to_array()?)?;
            Value::SingleQuotedString(array.value(0).to_owned())
        }
    };
    let value = Expr::Value(text.into());
    if sql_type == millstream_types::SqlType::Unknown {
        return Ok(value);
    }
    let template = millstream_sql::parse_expression(&format!("CAST(NULL AS {sql_type})"))?;
    match template {
        Expr::Cast { data_type, array, format, .. } => {
            Ok(Expr::Cast { kind: CastKind::Cast, expr: Box::new(value), data_type, array, format })
        }
        _ => Err(Error::internal("a cast is no cast")),
    }
}
