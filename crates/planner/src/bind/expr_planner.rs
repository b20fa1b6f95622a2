//! Operators and special syntax, planned as PostgreSQL's functions while expressions are bound.

use datafusion::common::{DFSchema, Result};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::logical_expr::expr::{AggregateFunction, ScalarFunction};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawAggregateExpr, RawBinaryExpr, RawFieldAccessExpr};
use datafusion::logical_expr::{Expr, GetFieldAccess, lit};
use millstream_functions::{external, registry};
use millstream_types::Error;

use super::arithmetic;

/// PostgreSQL's operators.
#[derive(Debug)]
pub(super) struct PostgresPlanner;

fn call(name: &str, args: Vec<Expr>) -> Result<Expr> {
    let function = registry().scalar(name).ok_or_else(|| external(Error::unsupported(name.to_uppercase())))?;
    Ok(Expr::ScalarFunction(ScalarFunction::new_udf(function, args)))
}

impl ExprPlanner for PostgresPlanner {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        arithmetic::plan(expr, schema)
    }

    fn plan_field_access(&self, expr: RawFieldAccessExpr, _schema: &DFSchema) -> Result<PlannerResult<RawFieldAccessExpr>> {
        match expr.field_access {
            GetFieldAccess::NamedStructField { name } => call("get_field", vec![expr.expr, lit(name)]).map(PlannerResult::Planned),
            GetFieldAccess::ListIndex { key } => call("array_element", vec![expr.expr, *key]).map(PlannerResult::Planned),
            GetFieldAccess::ListRange { .. } => Err(external(Error::unsupported("an array slice"))),
        }
    }

    fn plan_array_literal(&self, exprs: Vec<Expr>, _schema: &DFSchema) -> Result<PlannerResult<Vec<Expr>>> {
        call("make_array", exprs).map(PlannerResult::Planned)
    }

    fn plan_position(&self, args: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        call("strpos", args).map(PlannerResult::Planned)
    }

    fn plan_extract(&self, args: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        call("extract", args).map(PlannerResult::Planned)
    }

    fn plan_substring(&self, args: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        call("substr", args).map(PlannerResult::Planned)
    }

    fn plan_struct_literal(&self, args: Vec<Expr>, is_named: bool) -> Result<PlannerResult<Vec<Expr>>> {
        call(if is_named { "named_struct" } else { "struct" }, args).map(PlannerResult::Planned)
    }

    fn plan_overlay(&self, _args: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        Err(external(Error::unsupported("OVERLAY")))
    }

    fn plan_compound_identifier(
        &self,
        field: &arrow::datatypes::Field,
        qualifier: Option<&datafusion::common::TableReference>,
        nested_names: &[String],
    ) -> Result<PlannerResult<Vec<Expr>>> {
        let column = datafusion::common::Column::new(qualifier.cloned(), field.name());
        let mut expr = Expr::Column(column);
        for name in nested_names {
            expr = call("get_field", vec![expr, lit(name.clone())])?;
        }
        Ok(PlannerResult::Planned(expr))
    }

    /// `count(*)` counts a constant, under its own name.
    fn plan_aggregate(&self, expr: RawAggregateExpr) -> Result<PlannerResult<RawAggregateExpr>> {
        #[expect(deprecated)]
        let star = matches!(expr.args.as_slice(), [] | [Expr::Wildcard { .. }]);
        if expr.func.name() != count_udaf().name() || !star {
            return Ok(PlannerResult::Original(expr));
        }
        let function =
            AggregateFunction::new_udf(expr.func, vec![lit(1_i64)], expr.distinct, expr.filter, expr.order_by, expr.null_treatment);
        Ok(PlannerResult::Planned(Expr::AggregateFunction(function).alias("count(*)")))
    }
}
