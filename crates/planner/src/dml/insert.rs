//! The rows of an INSERT.

use std::sync::Arc;

use datafusion::common::DFSchema;
use datafusion::logical_expr::Expr;
use datafusion::sql::planner::{PlannerContext, SqlToRel};
use datafusion::sql::sqlparser::ast::{Expr as SqlExpr, Insert, Query, SetExpr, UnaryOperator, Value as SqlValue};
use millstream_functions::from_datafusion_in;
use millstream_types::{Column, Error, Result, SqlState, SqlType};

use super::assign_with;
use crate::BoundQuery;
use crate::bind::{Context, finish, parser_options, to_plan};
use crate::catalog::PlannerCatalog;

/// Where an INSERT goes.
#[derive(Debug, Clone)]
pub struct InsertTarget {
    /// The table's name.
    pub name: String,
    /// Its visible columns.
    pub columns: Vec<Column>,
    /// The texts of their DEFAULTs.
    pub defaults: Vec<Option<String>>,
}

/// The query whose rows are inserted: all visible columns in order, with defaults and assignment casts.
///
/// # Errors
/// PostgreSQL's.
pub fn bind_insert(catalog: &Arc<dyn PlannerCatalog>, insert: &Insert, text: &str, target: &InsertTarget) -> Result<BoundQuery> {
    let context = Context::new(Arc::clone(catalog));
    let defaults = target.defaults.iter().map(|d| d.as_deref().map(|d| default(&context, d)).transpose());
    let defaults = defaults.collect::<Result<Vec<_>>>()?;
    let given: Vec<String> = insert.columns.iter().map(|c| c.to_string().trim_matches('"').to_owned()).collect();
    let plan = match &insert.source {
        Some(source) => to_plan(&context, &with_defaults(source, &given, target)?, text)?,
        None => {
            let one = millstream_sql::parse_query("SELECT 1")?;
            let plan = to_plan(&context, &one.query, "")?;
            let all: Vec<Column> = target.columns.clone();
            let plan = super::assign_with(without_columns(plan)?, &all, &[], &target.name, &defaults)?;
            return finish(&context, plan, text);
        }
    };
    finish(&context, assign_with(plan, &target.columns, &given, &target.name, &defaults)?, text)
}

/// One row without columns.
fn without_columns(plan: datafusion::logical_expr::LogicalPlan) -> Result<datafusion::logical_expr::LogicalPlan> {
    let empty: Vec<Expr> = vec![];
    let builder = datafusion::logical_expr::LogicalPlanBuilder::from(plan);
    builder.project(empty).and_then(datafusion::logical_expr::LogicalPlanBuilder::build).map_err(millstream_functions::from_datafusion)
}

fn default(context: &Context, text: &str) -> Result<Expr> {
    let expr = millstream_sql::parse_expression(text)?;
    let planner = SqlToRel::new_with_options(context, parser_options());
    planner.sql_to_expr(expr, &DFSchema::empty(), &mut PlannerContext::new()).map_err(|e| from_datafusion_in(text, e))
}

/// The query with the word DEFAULT in its VALUES replaced by what the column defaults to.
fn with_defaults(source: &Query, given: &[String], target: &InsertTarget) -> Result<Query> {
    let mut query = source.clone();
    let SetExpr::Values(values) = query.body.as_mut() else { return Ok(query) };
    let several = values.rows.len() > 1;
    for row in &mut values.rows {
        for (i, value) in row.iter_mut().enumerate() {
            let place = match given.get(i) {
                Some(name) => target.columns.iter().position(|c| c.name == *name),
                None => Some(i),
            };
            if is_default(value) {
                let text = place.and_then(|p| target.defaults.get(p)).and_then(Option::as_deref);
                *value = match (text, place) {
                    (Some(text), _) => millstream_sql::parse_expression(text)?,
                    (None, Some(_)) => millstream_sql::parse_expression("NULL")?,
                    (None, None) => return Err(Error::new(SqlState::SYNTAX_ERROR, "DEFAULT is not allowed in this context")),
                };
            } else if let (true, Some(column)) = (several, place.and_then(|p| target.columns.get(p)).filter(|c| is_literal_of(value, c))) {
                // PostgreSQL reads literals as the column's type; the rows must not agree on another one first.
                let mut typed = millstream_sql::parse_expression(&format!("CAST(NULL AS {})", column.sql_type))?;
                if let SqlExpr::Cast { expr, .. } = &mut typed {
                    std::mem::swap(expr.as_mut(), value);
                }
                *value = typed;
            }
        }
    }
    Ok(query)
}

fn is_default(value: &SqlExpr) -> bool {
    matches!(value, SqlExpr::Identifier(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("default"))
}

/// A string, or a number (signed or not) for a column of numbers or texts.
fn is_literal_of(value: &SqlExpr, column: &Column) -> bool {
    let v = match value {
        SqlExpr::Value(v) => v,
        SqlExpr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr } => match expr.as_ref() {
            SqlExpr::Value(v) if matches!(v.value, SqlValue::Number(..)) => v,
            _ => return false,
        },
        _ => return false,
    };
    let takes_number = column.sql_type.is_numeric() || column.sql_type == SqlType::Text;
    matches!(v.value, SqlValue::SingleQuotedString(_)) || (matches!(v.value, SqlValue::Number(..)) && takes_number)
}
