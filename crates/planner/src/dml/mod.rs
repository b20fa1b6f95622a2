//! INSERT, UPDATE and DELETE as queries: the rows to insert, or the old rows with their new values.

mod change;
mod conflict;
mod insert;

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast, lit};
use millstream_functions::from_datafusion;
use millstream_types::{Column, Error, Result, SqlState, SqlType};

pub use change::{BoundChange, bind_all_rows, bind_delete, bind_update};
pub use conflict::bind_conflict_update;
pub use insert::{InsertTarget, bind_insert};

/// A query's output as the columns of a target, in the target's order: `given` names the target columns of the query's columns (empty:
/// the first ones); the others are NULL. Values are cast as assignments.
///
/// # Errors
/// 42601 for the wrong number of columns, 42703 and 42701 for names, 42804 for types that do not fit.
pub(crate) fn assign(plan: LogicalPlan, target: &[Column], given: &[String], name: &str) -> Result<LogicalPlan> {
    let nulls = target.iter().map(|_| None).collect::<Vec<_>>();
    assign_with(plan, target, given, name, &nulls)
}

/// As [`assign`], with a value for columns that are not given.
pub(crate) fn assign_with(
    plan: LogicalPlan,
    target: &[Column],
    given: &[String],
    name: &str,
    defaults: &[Option<Expr>],
) -> Result<LogicalPlan> {
    let places = places(target, given, name, plan.schema().fields().len())?;
    let columns = plan.schema().columns();
    let mut projection = Vec::with_capacity(target.len());
    for (i, column) in target.iter().enumerate() {
        let to = column.sql_type.to_arrow();
        let expr = match places.iter().position(|p| *p == i) {
            Some(source) => {
                let from = plan.schema().field(source).data_type();
                check_assignable(&SqlType::from_arrow(from)?, is_literal(&plan, source), column)?;
                // Also where types are equal now: analysis may still narrow a literal. A cast to its own type goes away there.
                cast(Expr::Column(columns[source].clone()), to)
            }
            None => match defaults.get(i).and_then(Option::as_ref) {
                Some(default) => cast(default.clone(), to),
                None => cast(lit(ScalarValue::Null), to),
            },
        };
        projection.push(expr.alias(&column.name));
    }
    LogicalPlanBuilder::from(plan).project(projection).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
}

/// For each column of the query, the index of its target column.
fn places(target: &[Column], given: &[String], name: &str, columns: usize) -> Result<Vec<usize>> {
    let mut places = Vec::with_capacity(columns);
    for column in given {
        let place = target.iter().position(|c| c.name == *column);
        let place = place
            .ok_or_else(|| Error::new(SqlState::UNDEFINED_COLUMN, format!("column \"{column}\" of relation \"{name}\" does not exist")))?;
        if places.contains(&place) {
            return Err(Error::new(SqlState::DUPLICATE_COLUMN, format!("column \"{column}\" specified more than once")));
        }
        places.push(place);
    }
    let wanted = if given.is_empty() { target.len() } else { places.len() };
    if columns > wanted {
        return Err(Error::new(SqlState::SYNTAX_ERROR, "INSERT has more expressions than target columns"));
    }
    if !given.is_empty() && columns < wanted {
        return Err(Error::new(SqlState::SYNTAX_ERROR, "INSERT has more target columns than expressions"));
    }
    Ok(if given.is_empty() { (0..columns).collect() } else { places })
}

fn unalias(expr: &Expr) -> &Expr {
    if let Expr::Alias(alias) = expr { unalias(&alias.expr) } else { expr }
}

/// True if a column of a query is written as constants only: a string there is of no type yet.
pub(crate) fn is_literal(plan: &LogicalPlan, column: usize) -> bool {
    fn constant(expr: &Expr) -> bool {
        match expr {
            Expr::Literal(..) => true,
            Expr::Alias(alias) => constant(&alias.expr),
            Expr::Cast(cast) => constant(&cast.expr),
            Expr::Placeholder(parameter) => parameter.field.is_none(),
            Expr::ScalarFunction(call) => call.name().starts_with("ms_") && call.args.iter().all(constant),
            _ => false,
        }
    }
    match plan {
        LogicalPlan::Projection(projection) => match projection.expr.get(column).map(unalias) {
            Some(Expr::Column(inner)) => {
                let at = projection.input.schema().index_of_column(inner);
                at.is_ok_and(|i| is_literal(&projection.input, i))
            }
            Some(expr) => constant(expr),
            None => false,
        },
        LogicalPlan::Values(values) => values.values.iter().all(|row| row.get(column).is_some_and(constant)),
        LogicalPlan::Sort(sort) => is_literal(&sort.input, column),
        LogicalPlan::Limit(limit) => is_literal(&limit.input, column),
        _ => false,
    }
}

/// PostgreSQL's assignment casts: constant texts go anywhere, numbers among each other, everything into text.
pub(crate) fn check_assignable(from: &SqlType, literal: bool, column: &Column) -> Result<()> {
    let to = &column.sql_type;
    let temporal = |t: &SqlType| matches!(t, SqlType::Date | SqlType::Timestamp | SqlType::TimestampTz);
    let fits = from == to
        || *from == SqlType::Unknown
        || (*from == SqlType::Text && literal)
        || *to == SqlType::Text
        || (from.is_numeric() && to.is_numeric())
        || (temporal(from) && temporal(to))
        || matches!((from, to), (SqlType::Timestamp | SqlType::TimestampTz, SqlType::Time))
        || matches!((from, to), (SqlType::Time, SqlType::Interval) | (SqlType::Interval, SqlType::Time))
        || matches!((from, to), (SqlType::Array(_), SqlType::Array(_)) | (SqlType::Row(_), SqlType::Row(_)));
    if fits {
        return Ok(());
    }
    // Whole numbers are narrowed later.
    let from = if literal && *from == SqlType::BigInt { &SqlType::Integer } else { from };
    let message = format!("column \"{}\" is of type {to} but expression is of type {from}", column.name);
    Err(Error::new(SqlState::DATATYPE_MISMATCH, message).with_hint("you will need to rewrite or cast the expression"))
}

#[cfg(test)]
mod tests;
