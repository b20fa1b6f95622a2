//! ON CONFLICT DO UPDATE: the new values of rows that are there, from the row and the one that was to be inserted.

use std::sync::Arc;

use datafusion::common::TableReference;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, TableSource};
use datafusion::sql::planner::{PlannerContext, SqlToRel};
use datafusion::sql::sqlparser::ast::{Assignment, AssignmentTarget, Expr as SqlExpr};
use millstream_functions::{from_datafusion, from_datafusion_in};
use millstream_types::Result;

use super::change::{cast_new, check_targets};
use crate::BoundQuery;
use crate::bind::{Context, finish, parser_options};
use crate::catalog::{PlannerCatalog, PlannerRelation};

/// A query over `pairs`, whose columns are the stored row (all stored columns) and then the excluded one (visible columns): the stored
/// row, then the new values of all visible columns, for the pairs that `selection` lets pass.
///
/// # Errors
/// PostgreSQL's.
pub fn bind_conflict_update(
    catalog: &Arc<dyn PlannerCatalog>,
    assignments: &[Assignment],
    selection: Option<&SqlExpr>,
    text: &str,
    table: &PlannerRelation,
    pairs: Arc<dyn TableSource>,
) -> Result<BoundQuery> {
    check_targets(assignments, table)?;
    let context = Context::new(Arc::clone(catalog));
    let stored = table.columns.len() + table.hidden.len();
    let scan = LogicalPlanBuilder::scan("pairs", pairs, None).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)?;
    let (own, excluded) = (TableReference::bare(table.name.clone()), TableReference::bare("excluded"));
    let names = table.columns.iter().chain(&table.hidden).chain(&table.columns).map(|c| c.name.clone());
    let qualified = scan.schema().columns().into_iter().zip(names).enumerate().map(|(i, (column, name))| {
        let relation = if i < stored { own.clone() } else { excluded.clone() };
        Expr::Column(column).alias_qualified(Some(relation), name)
    });
    let qualified: Vec<Expr> = qualified.collect();
    let mut plan = LogicalPlanBuilder::from(scan).project(qualified).map_err(from_datafusion)?;
    let schema = Arc::clone(plan.schema());
    let planner = SqlToRel::new_with_options(&context, parser_options());
    let bind = |e: &SqlExpr| planner.sql_to_expr(e.clone(), &schema, &mut PlannerContext::new()).map_err(|e| from_datafusion_in(text, e));
    if let Some(selection) = selection {
        plan = plan.filter(bind(selection)?).map_err(from_datafusion)?;
    }
    let mut projection: Vec<Expr> = vec![];
    let columns = schema.columns();
    for (column, name) in columns.iter().take(stored).zip(table.columns.iter().chain(&table.hidden)) {
        projection.push(Expr::Column(column.clone()).alias(format!("old {}", name.name)));
    }
    for (i, column) in table.columns.iter().enumerate() {
        let assigned = assignments.iter().find(|a| match &a.target {
            AssignmentTarget::ColumnName(name) => name.0.last().and_then(|p| p.as_ident()).is_some_and(|n| n.value == column.name),
            AssignmentTarget::Tuple(_) => false,
        });
        let value = match assigned {
            Some(assignment) => bind(&assignment.value)?,
            None => Expr::Column(columns[i].clone()),
        };
        projection.push(value.alias(format!("new {}", column.name)));
    }
    let plan = plan.project(projection).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)?;
    finish(&context, cast_new(plan, stored, &table.columns)?, text)
}
