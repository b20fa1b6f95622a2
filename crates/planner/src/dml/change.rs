//! UPDATE and DELETE as queries over the target: the old rows, and for UPDATE their new values behind them.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{
    Assignment, AssignmentTarget, Delete, Expr, FromTable, Ident, Query, SelectItem, SetExpr, TableFactor, TableWithJoins, Update,
    UpdateTableFromKind,
};
use millstream_types::{Column, Error, Result, SqlState};

use super::{check_assignable, is_literal};
use crate::BoundQuery;
use crate::bind::{Context, finish, to_plan};
use crate::catalog::{PlannerCatalog, PlannerRelation};

/// Old rows (all stored columns), then for UPDATE the new values of all visible columns.
#[derive(Debug, Clone)]
pub struct BoundChange {
    /// The query.
    pub query: BoundQuery,
    /// How many of its columns are the old row.
    pub old_columns: usize,
}

/// `UPDATE`.
///
/// # Errors
/// PostgreSQL's.
pub fn bind_update(catalog: &Arc<dyn PlannerCatalog>, update: &Update, text: &str, table: &PlannerRelation) -> Result<BoundChange> {
    let name = target_name(&update.table)?;
    let mut items = old_row(&name, table);
    for column in &table.columns {
        let assigned = update.assignments.iter().find(|a| assigned(a).as_deref() == Some(column.name.as_str()));
        items.push(item(assigned.map_or_else(|| reference(&name, &column.name), |a| a.value.clone()), &format!("new {}", column.name)));
    }
    check_targets(&update.assignments, table)?;
    let mut from = vec![update.table.clone()];
    match &update.from {
        Some(UpdateTableFromKind::BeforeSet(more) | UpdateTableFromKind::AfterSet(more)) => from.extend(more.iter().cloned()),
        None => (),
    }
    let query = query(items, from, update.selection.clone())?;
    let context = Context::for_dml(Arc::clone(catalog), table.id);
    let old_columns = table.columns.len() + table.hidden.len();
    let plan = to_plan(&context, &query, text)?;
    let typed = cast_new(plan, old_columns, &table.columns)?;
    Ok(BoundChange { query: finish(&context, typed, text)?, old_columns })
}

/// `DELETE`.
///
/// # Errors
/// PostgreSQL's.
pub fn bind_delete(catalog: &Arc<dyn PlannerCatalog>, delete: &Delete, text: &str, table: &PlannerRelation) -> Result<BoundChange> {
    let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) = &delete.from;
    let [target] = tables.as_slice() else { return Err(Error::unsupported("DELETE from several tables")) };
    let name = target_name(target)?;
    let mut from = vec![target.clone()];
    from.extend(delete.using.iter().flatten().cloned());
    let query = query(old_row(&name, table), from, delete.selection.clone())?;
    let context = Context::for_dml(Arc::clone(catalog), table.id);
    let plan = to_plan(&context, &query, text)?;
    Ok(BoundChange { query: finish(&context, plan, text)?, old_columns: table.columns.len() + table.hidden.len() })
}

/// The name by which the statement refers to its target.
fn target_name(table: &TableWithJoins) -> Result<Ident> {
    match &table.relation {
        TableFactor::Table { alias: Some(alias), .. } => Ok(alias.name.clone()),
        TableFactor::Table { name, .. } => {
            let last = name.0.last().and_then(|p| p.as_ident()).cloned();
            last.ok_or_else(|| Error::new(SqlState::SYNTAX_ERROR, "a table name is missing"))
        }
        _ => Err(Error::new(SqlState::SYNTAX_ERROR, "the target must be a table")),
    }
}

fn reference(table: &Ident, column: &str) -> Expr {
    Expr::CompoundIdentifier(vec![table.clone(), Ident::with_quote('"', column)])
}

fn item(expr: Expr, alias: &str) -> SelectItem {
    SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', alias) }
}

fn old_row(table: &Ident, relation: &PlannerRelation) -> Vec<SelectItem> {
    let stored = relation.columns.iter().chain(&relation.hidden);
    stored.map(|c| item(reference(table, &c.name), &format!("old {}", c.name))).collect()
}

fn assigned(assignment: &Assignment) -> Option<String> {
    match &assignment.target {
        AssignmentTarget::ColumnName(name) => name.0.last().and_then(|p| p.as_ident()).map(|i| i.value.clone()),
        AssignmentTarget::Tuple(_) => None,
    }
}

pub(super) fn check_targets(assignments: &[Assignment], table: &PlannerRelation) -> Result<()> {
    let mut seen: Vec<String> = vec![];
    for assignment in assignments {
        let name = assigned(assignment).ok_or_else(|| Error::unsupported("SET (a, b) = ..."))?;
        if !table.columns.iter().any(|c| c.name == name) {
            let message = format!("column \"{name}\" of relation \"{}\" does not exist", table.name);
            return Err(Error::new(SqlState::UNDEFINED_COLUMN, message));
        }
        if seen.contains(&name) {
            return Err(Error::new(SqlState::SYNTAX_ERROR, format!("multiple assignments to same column \"{name}\"")));
        }
        seen.push(name);
    }
    Ok(())
}

pub(super) fn query(items: Vec<SelectItem>, from: Vec<TableWithJoins>, selection: Option<Expr>) -> Result<Query> {
    let mut query = *millstream_sql::parse_query("SELECT 1")?.query;
    let SetExpr::Select(select) = query.body.as_mut() else { return Err(Error::internal("SELECT is no SELECT")) };
    select.projection = items;
    select.from = from;
    select.selection = selection;
    Ok(query)
}

/// Casts the new values behind the old row to their columns' types.
pub(super) fn cast_new(
    plan: datafusion::logical_expr::LogicalPlan,
    old: usize,
    columns: &[Column],
) -> Result<datafusion::logical_expr::LogicalPlan> {
    let mut projection = vec![];
    for (i, (column, field)) in plan.schema().columns().into_iter().zip(plan.schema().fields()).enumerate() {
        let name = column.name.clone();
        let expr = datafusion::logical_expr::Expr::Column(column);
        projection.push(match i.checked_sub(old).and_then(|n| columns.get(n)) {
            Some(target) => {
                check_assignable(&millstream_types::SqlType::from_arrow(field.data_type())?, is_literal(&plan, i), target)?;
                // Also where types are equal now: analysis may still narrow a literal.
                datafusion::logical_expr::cast(expr, target.sql_type.to_arrow()).alias(name)
            }
            None => expr,
        });
    }
    let builder = datafusion::logical_expr::LogicalPlanBuilder::from(plan);
    builder.project(projection).and_then(datafusion::logical_expr::LogicalPlanBuilder::build).map_err(millstream_functions::from_datafusion)
}

/// All stored rows of a table: TRUNCATE.
///
/// # Errors
/// XX000 if the table has no columns.
pub fn bind_all_rows(table: &PlannerRelation) -> Result<BoundQuery> {
    let source = Arc::new(crate::catalog::RelationSource::stored(Arc::new(table.clone())));
    let scan = datafusion::logical_expr::LogicalPlanBuilder::scan(table.name.as_str(), source, None);
    let plan = scan.and_then(datafusion::logical_expr::LogicalPlanBuilder::build).map_err(millstream_functions::from_datafusion)?;
    Ok(BoundQuery { plan, schema: table.stored_schema(), relations: vec![table.id], params: vec![] })
}
