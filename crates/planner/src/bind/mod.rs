//! Binding: a parsed query to a typed logical plan. Names come from the catalog, types are made equal, operators, casts and aggregates
//! become PostgreSQL's from `crates/functions`.

mod arithmetic;
mod context;
mod expr_planner;
mod floats;
mod output_names;
mod rules;
mod table_functions;
mod types;

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast};
use datafusion::optimizer::Analyzer;
use datafusion::sql::planner::{ParserOptions, SqlToRel};
use datafusion::sql::sqlparser::ast::{Query, Spanned, Statement as SqlStatement, visit_relations};
use millstream_functions::from_datafusion_in;
use millstream_types::{Error, ObjectId, Result, Schema, SqlState, SqlType};

use crate::catalog::{PlannerCatalog, RelationSource};
pub(crate) use context::Context;
pub(crate) use rules::{analyzer_rules, final_casts};

/// A query that was bound.
#[derive(Debug, Clone)]
pub struct BoundQuery {
    /// The plan; its output has canonical types.
    pub plan: LogicalPlan,
    /// The output.
    pub schema: Schema,
    /// Every relation that it reads, once.
    pub relations: Vec<ObjectId>,
    /// Types of `$1`, `$2`, ...; `Unknown` where nothing says.
    pub params: Vec<SqlType>,
}

/// Binds a query. `text` is the statement's text, for positions.
///
/// # Errors
/// PostgreSQL's, with positions where they are known.
pub fn bind_query(catalog: &Arc<dyn PlannerCatalog>, query: &Query, text: &str) -> Result<BoundQuery> {
    let context = Context::new(Arc::clone(catalog));
    let plan = to_plan(&context, query, text)?;
    let mut bound = finish(&context, plan, text)?;
    output_names::apply(query, &mut bound.schema);
    Ok(bound)
}

/// The unanalyzed plan of a query.
pub(crate) fn to_plan(context: &Context, query: &Query, text: &str) -> Result<LogicalPlan> {
    let planner = SqlToRel::new_with_options(context, parser_options());
    let statement = SqlStatement::Query(Box::new(output_names::prepare(query)));
    planner.sql_statement_to_plan(statement).map_err(|e| {
        // DataFusion asks the catalog for names of WITH queries too: its error counts only where it stopped the planning.
        let error = worded(from_datafusion_in(text, e));
        let error = if error.state() == SqlState::INTERNAL_ERROR { context.take_error().unwrap_or(error) } else { error };
        if error.position().is_some() { error } else { located(error, query, text) }
    })
}

/// PostgreSQL's words for a WHERE that is no condition and for a column that is not grouped.
fn worded(error: Error) -> Error {
    if error.state() == SqlState::GROUPING_ERROR
        && let Some(column) = error.message().split_once("column \"").and_then(|(_, rest)| rest.split('"').next())
    {
        let message = format!("column \"{column}\" must appear in the GROUP BY clause or be used in an aggregate function");
        let worded = Error::new(SqlState::GROUPING_ERROR, message);
        return match error.position() {
            Some(position) => worded.with_position(position),
            None => worded,
        };
    }
    match error.message().split_once("non-boolean predicate").and_then(|(_, rest)| rest.rsplit_once("returning ")) {
        Some((_, found)) => Error::new(SqlState::DATATYPE_MISMATCH, format!("argument of WHERE must be type boolean, not type {found}")),
        None => error,
    }
}

/// The error with the position of the relation that it names.
fn located(error: Error, query: &Query, text: &str) -> Error {
    if error.state() != SqlState::UNDEFINED_TABLE {
        return error;
    }
    let found = visit_relations(query, |name| {
        let unquoted: Vec<&str> = name.0.iter().filter_map(|p| p.as_ident()).map(|i| i.value.as_str()).collect();
        if error.message().contains(&format!("\"{}\"", unquoted.join("."))) {
            ControlFlow::Break(name.span().start)
        } else {
            ControlFlow::Continue(())
        }
    });
    match found {
        ControlFlow::Break(start) if start.line > 0 => error.with_position(millstream_sql::position_of(text, start)),
        _ => error,
    }
}

pub(crate) fn parser_options() -> ParserOptions {
    ParserOptions::new()
        .with_parse_float_as_decimal(true)
        .with_map_string_types_to_utf8view(false)
        .with_collect_spans(true)
        .with_enable_ident_normalization(true)
}

/// Analyzes a plan: types, then PostgreSQL's operators and casts, then a canonical output.
pub(crate) fn finish(context: &Context, plan: LogicalPlan, text: &str) -> Result<BoundQuery> {
    let config = ConfigOptions::default();
    let analyzed = Analyzer::with_rules(analyzer_rules()).execute_and_check(plan, &config, |_, _| ());
    let plan = canonical(analyzed.map_err(|e| from_datafusion_in(text, e))?).map_err(|e| from_datafusion_in(text, e))?;
    let params = parameters(&plan, text)?;
    let schema = Schema::from_arrow(plan.schema().as_arrow())?;
    let relations = relations(&plan).map_err(|e| from_datafusion_in(text, e))?;
    drop(context.take_error());
    Ok(BoundQuery { plan, schema, relations, params })
}

/// Casts output columns whose type is not the one Arrow type of its SQL type (unsigned integers, views, nanoseconds).
fn canonical(plan: LogicalPlan) -> datafusion::common::Result<LogicalPlan> {
    let wanted = |t: &DataType| SqlType::from_arrow(t).map(|s| if s == SqlType::Unknown { DataType::Utf8 } else { s.to_arrow() });
    let schema = Arc::clone(plan.schema());
    if schema.fields().iter().all(|f| wanted(f.data_type()).is_ok_and(|w| w == *f.data_type())) {
        return Ok(plan);
    }
    let columns = schema.columns().into_iter().zip(schema.fields()).map(|(column, field)| {
        let to = wanted(field.data_type()).map_err(millstream_functions::external)?;
        let name = column.name.clone();
        let relation = column.relation.clone();
        let expr = Expr::Column(column);
        Ok(if to == *field.data_type() { expr } else { cast(expr, to).alias_qualified(relation, name) })
    });
    let columns = columns.collect::<datafusion::common::Result<Vec<_>>>()?;
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}

fn parameters(plan: &LogicalPlan, text: &str) -> Result<Vec<SqlType>> {
    let types = plan.get_parameter_types().map_err(|e| from_datafusion_in(text, e))?;
    let number = |name: &str| name.trim_start_matches('$').parse::<usize>().unwrap_or(0);
    let count = types.keys().map(|name| number(name)).max().unwrap_or(0);
    let mut params = vec![SqlType::Unknown; count];
    for (name, data_type) in types {
        if let (Some(slot), Some(data_type)) = (number(&name).checked_sub(1).and_then(|i| params.get_mut(i)), data_type) {
            *slot = SqlType::from_arrow(&data_type)?;
        }
    }
    Ok(params)
}

/// Numbers of the relations that a plan reads, subqueries included.
fn relations(plan: &LogicalPlan) -> datafusion::common::Result<Vec<ObjectId>> {
    let mut found = vec![];
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Some(source) = (scan.source.as_ref() as &dyn std::any::Any).downcast_ref::<RelationSource>()
            && !found.contains(&source.relation.id)
        {
            found.push(source.relation.id);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests;
