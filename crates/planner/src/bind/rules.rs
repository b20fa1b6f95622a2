//! Analyzer rules, in order: grouping functions, whole-number literals, DataFusion's type coercion, then casts as PostgreSQL's.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Cast, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;
use datafusion::optimizer::analyzer::resolve_grouping_function::ResolveGroupingFunction;
use datafusion::optimizer::analyzer::type_coercion::TypeCoercion;
use millstream_functions::{ArithmeticOp, cast_udf, external, registry};
use millstream_types::{Error, SqlType};

use super::arithmetic::narrow;

/// The rules of every statement, streams and reads alike.
pub(crate) fn analyzer_rules() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    vec![
        Arc::new(ResolveGroupingFunction::new()),
        // Before types are made equal: literals and minus decide what is equal.
        Arc::new(Literals),
        // Makes the operands of comparisons, CASE, UNION and functions equal; touches no keys.
        Arc::new(TypeCoercion::new()),
        // Behind it, because it puts casts of its own.
        Arc::new(FinalCasts),
    ]
}

/// What becomes of an expression over a schema; the flag is explained at [`rewrite`].
type Rewrite<'a> = &'a dyn Fn(Expr, &DFSchema, bool) -> Result<Transformed<Expr>>;

/// Rewrites every expression of every node, keeping output names. The flag says that the node is VALUES, whose types are fixed.
fn rewrite(plan: LogicalPlan, each: Rewrite<'_>) -> Result<LogicalPlan> {
    let rewritten = plan.transform_up_with_subqueries(|node| {
        if matches!(node, LogicalPlan::Limit(_)) {
            return Ok(Transformed::no(node));
        }
        let mut schema = merge_schema(&node.inputs());
        if let LogicalPlan::TableScan(scan) = &node {
            schema.merge(&scan.projected_schema);
        }
        let fixed = matches!(node, LogicalPlan::Values(_));
        let names = NamePreserver::new(&node);
        let mapped = node.map_expressions(|expr| {
            let saved = names.save(&expr);
            let changed = expr.transform_up(|e| each(e, &schema, fixed))?;
            Ok(changed.update_data(|e| saved.restore(e)))
        })?;
        mapped.map_data(|n| if fixed { Ok(n) } else { n.recompute_schema() })
    })?;
    Ok(rewritten.data)
}

/// Whole numbers become integer where they fit, `-x` the checked function.
#[derive(Debug)]
struct Literals;

impl AnalyzerRule for Literals {
    fn name(&self) -> &'static str {
        "postgres_literals"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        rewrite(plan, &|expr, _, fixed| match expr {
            Expr::Literal(..) if !fixed => Ok(Transformed::yes(narrow(expr))),
            Expr::Negative(inner) => {
                let negate = registry().scalar(ArithmeticOp::Neg.function_name());
                let negate = negate.ok_or_else(|| external(Error::internal("no negation")))?;
                Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction::new_udf(negate, vec![*inner]))))
            }
            other => Ok(Transformed::no(other)),
        })
    }
}

/// Every cast becomes PostgreSQL's.
#[derive(Debug)]
struct FinalCasts;

impl AnalyzerRule for FinalCasts {
    fn name(&self) -> &'static str {
        "postgres_casts"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        rewrite(plan, &|expr, schema, _| match expr {
            Expr::Cast(Cast { expr: inner, field }) => {
                let to = field.data_type();
                let from = inner.get_type(schema)?;
                if from == *to {
                    return Ok(Transformed::yes(*inner));
                }
                // Types that only DataFusion has (unsigned, views) stay its own business.
                let known = |t: &arrow::datatypes::DataType| SqlType::from_arrow(t).ok().filter(|s| s.to_arrow() == *t);
                match (known(&from), known(to)) {
                    (Some(_), Some(to)) => Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction::new_udf(cast_udf(&to), vec![*inner])))),
                    _ => Ok(Transformed::no(Expr::Cast(Cast { expr: inner, field }))),
                }
            }
            Expr::TryCast(_) => Err(external(Error::unsupported("TRY_CAST"))),
            other => Ok(Transformed::no(other)),
        })
    }
}
