//! Floats beside other numbers: PostgreSQL makes floats of the others, DataFusion would make decimals of the floats, which NaN and
//! infinity do not survive.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Cast, ScalarFunction};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Union, Values};
use datafusion::optimizer::AnalyzerRule;
use millstream_functions::cast_udf;
use millstream_types::SqlType;

use super::types::sql_type_of;

/// What the common type is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    /// Operators have none of `real` and another number: both become `double precision`.
    Compare,
    /// CASE, UNION and the like take `real`, to which every exact number goes by itself.
    Choose,
}

/// The float among numbers that all of them become; none if all are the same or none is a float.
fn common(types: &[SqlType], purpose: Purpose) -> Option<SqlType> {
    let numbers: Vec<&SqlType> = types.iter().filter(|t| **t != SqlType::Unknown).collect();
    if !numbers.iter().all(|t| t.is_numeric()) || numbers.iter().all(|t| **t == SqlType::Real) {
        return None;
    }
    let has = |wanted: &SqlType| numbers.contains(&wanted);
    match (has(&SqlType::Double), has(&SqlType::Real), purpose) {
        (true, ..) | (_, true, Purpose::Compare) => Some(SqlType::Double),
        (_, true, Purpose::Choose) => Some(SqlType::Real),
        _ => None,
    }
}

fn cast_to(expr: Expr, to: &SqlType) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(cast_udf(to), vec![expr]))
}

/// Expressions of one common type where a float is among them.
pub(super) fn as_floats(exprs: Vec<Expr>, schema: &DFSchema, purpose: Purpose) -> Result<Vec<Expr>> {
    let types = exprs.iter().map(|e| sql_type_of(e, schema)).collect::<Result<Vec<_>>>()?;
    let Some(to) = common(&types, purpose) else { return Ok(exprs) };
    Ok(exprs.into_iter().zip(types).map(|(e, t)| if t == to || t == SqlType::Unknown { e } else { cast_to(e, &to) }).collect())
}

/// The rows of VALUES and the branches of UNION, for which DataFusion finds types by itself.
#[derive(Debug)]
pub(super) struct FloatRows;

impl AnalyzerRule for FloatRows {
    fn name(&self) -> &'static str {
        "postgres_float_rows"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let rewritten = plan.transform_up_with_subqueries(|node| {
            let node = match node {
                LogicalPlan::Values(values) => float_values(values)?,
                LogicalPlan::Union(union) => float_union(union)?,
                // Their schemas were made of what is below them.
                other => Transformed::no(other),
            };
            Ok(node)
        })?;
        if !rewritten.transformed {
            return Ok(rewritten.data);
        }
        rewritten.data.transform_up_with_subqueries(|node| node.recompute_schema().map(Transformed::yes)).map(|t| t.data)
    }
}

/// DataFusion has put `CAST(float AS numeric)` around floats: take them off again.
fn float_values(values: Values) -> Result<Transformed<LogicalPlan>> {
    let empty = DFSchema::empty();
    let bare = |expr: &Expr| match expr {
        Expr::Cast(Cast { expr, field }) if field.data_type().is_decimal() || field.data_type().is_floating() => expr.as_ref().clone(),
        other => other.clone(),
    };
    let mut rows = values.values.clone();
    let mut changed = false;
    for column in 0..values.schema.fields().len() {
        let exprs: Vec<Expr> = values.values.iter().filter_map(|row| row.get(column)).map(bare).collect();
        let mut types = vec![];
        for expr in &exprs {
            match SqlType::from_arrow(&expr.get_type(&empty)?) {
                Ok(own) => types.push(own),
                Err(_) => return Ok(Transformed::no(LogicalPlan::Values(values))),
            }
        }
        let Some(to) = common(&types, Purpose::Choose) else { continue };
        if types.iter().all(|t| *t == to) {
            continue;
        }
        changed = true;
        for (row, expr) in rows.iter_mut().zip(exprs) {
            if let Some(cell) = row.get_mut(column) {
                *cell = Expr::Cast(Cast::new(Box::new(expr), to.to_arrow()));
            }
        }
    }
    if !changed {
        return Ok(Transformed::no(LogicalPlan::Values(values)));
    }
    LogicalPlanBuilder::values(rows)?.build().map(Transformed::yes)
}

fn float_union(union: Union) -> Result<Transformed<LogicalPlan>> {
    let width = union.schema.fields().len();
    let mut targets = vec![None; width];
    for (column, target) in targets.iter_mut().enumerate() {
        let types = union.inputs.iter().filter_map(|i| i.schema().fields().get(column)).map(|f| SqlType::from_arrow(f.data_type()));
        let Ok(types) = types.collect::<millstream_types::Result<Vec<_>>>() else { continue };
        *target = common(&types, Purpose::Choose);
    }
    if targets.iter().all(Option::is_none) {
        return Ok(Transformed::no(LogicalPlan::Union(union)));
    }
    let inputs = union.inputs.iter().map(|input| {
        let columns = input.schema().columns().into_iter().zip(&targets).map(|(column, target)| match target {
            Some(to) => {
                let (relation, name) = (column.relation.clone(), column.name.clone());
                cast_to(Expr::Column(column), to).alias_qualified(relation, name)
            }
            None => Expr::Column(column),
        });
        LogicalPlanBuilder::from(input.as_ref().clone()).project(columns)?.build().map(Arc::new)
    });
    Union::try_new_with_loose_types(inputs.collect::<Result<Vec<_>>>()?).map(|u| Transformed::yes(LogicalPlan::Union(u)))
}
