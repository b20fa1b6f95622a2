//! Analyzer rules, in order: grouping functions, floats of VALUES and UNION, whole-number literals, DataFusion's type coercion, then casts as PostgreSQL's.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Between, Case, Cast, InList, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;
use datafusion::optimizer::analyzer::resolve_grouping_function::ResolveGroupingFunction;
use datafusion::optimizer::analyzer::type_coercion::TypeCoercion;
use millstream_functions::{ArithmeticOp, cast_udf, external, registry};
use millstream_types::{Error, SqlType};

use super::arithmetic::narrow;
use super::floats::{FloatRows, Purpose};
use super::types::{typed, undefined_operator, unify, unmatched};

/// The rules of every statement, streams and reads alike.
pub(crate) fn analyzer_rules() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    vec![
        Arc::new(ResolveGroupingFunction::new()),
        // Before literals and types are looked at.
        Arc::new(FloatRows),
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

/// PostgreSQL's casts in a plan that was analyzed before casts were put around it.
pub(crate) fn final_casts(plan: LogicalPlan) -> Result<LogicalPlan> {
    FinalCasts.analyze(plan, &ConfigOptions::default())
}

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

/// Whole numbers become integer where they fit, `-x` the checked function, and bare strings take the type of what they stand beside.
#[derive(Debug)]
struct Literals;

impl AnalyzerRule for Literals {
    fn name(&self) -> &'static str {
        "postgres_literals"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        rewrite(plan, &|expr, schema, fixed| match expr {
            Expr::Literal(..) if !fixed => Ok(Transformed::yes(narrow(expr))),
            Expr::Between(_) | Expr::InList(_) | Expr::Case(_) | Expr::ScalarFunction(_) => with_typed_literals(expr, schema),
            // `$1::int` says what the parameter is.
            Expr::Cast(Cast { expr: inner, field }) if matches!(inner.as_ref(), Expr::Placeholder(p) if p.field.is_none()) => {
                let inner = match SqlType::from_arrow(field.data_type()) {
                    Ok(to) => typed(*inner, &to)?,
                    Err(_) => *inner,
                };
                Ok(Transformed::yes(Expr::Cast(Cast { expr: Box::new(inner), field })))
            }
            Expr::Negative(inner) => {
                let negate = registry().scalar(ArithmeticOp::Neg.function_name());
                let negate = negate.ok_or_else(|| external(Error::internal("no negation")))?;
                Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction::new_udf(negate, vec![*inner]))))
            }
            other => Ok(Transformed::no(other)),
        })
    }
}

/// BETWEEN, IN, CASE and the functions that choose among their arguments: one type for all, as PostgreSQL finds it.
fn with_typed_literals(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let compare = |op: &'static str| move |l: &SqlType, r: &SqlType| undefined_operator(op, l, r);
    let lost = || external(Error::internal("an expression lost an operand"));
    let rewritten = match expr {
        Expr::Between(Between { expr, negated, low, high }) => {
            let all = unify(vec![*expr, *low, *high], schema, Purpose::Compare, &compare(">="))?;
            let [expr, low, high] = <[Expr; 3]>::try_from(all).map_err(|_| lost())?;
            Expr::Between(Between::new(Box::new(expr), negated, Box::new(low), Box::new(high)))
        }
        Expr::InList(InList { expr, list, negated }) => {
            let all = std::iter::once(*expr).chain(list).collect();
            let mut all = unify(all, schema, Purpose::Compare, &compare("="))?.into_iter();
            let expr = all.next().ok_or_else(lost)?;
            Expr::InList(InList::new(Box::new(expr), all.collect(), negated))
        }
        Expr::Case(case) => typed_case(case, schema)?,
        Expr::ScalarFunction(ScalarFunction { func, args }) => {
            let args = match func.name() {
                "coalesce" | "greatest" | "least" => {
                    let name = func.name().to_uppercase();
                    unify(args, schema, Purpose::Choose, &|l, r| unmatched(&name, l, r))?
                }
                "nullif" => unify(args, schema, Purpose::Compare, &compare("="))?,
                _ => args,
            };
            Expr::ScalarFunction(ScalarFunction { func, args })
        }
        other => return Ok(Transformed::no(other)),
    };
    Ok(Transformed::yes(rewritten))
}

fn typed_case(case: Case, schema: &DFSchema) -> Result<Expr> {
    let lost = || external(Error::internal("a CASE lost a branch"));
    let Case { expr, when_then_expr, else_expr } = case;
    let (mut whens, mut thens): (Vec<Expr>, Vec<Expr>) = when_then_expr.into_iter().map(|(w, t)| (*w, *t)).unzip();
    let mut operand = None;
    if let Some(expr) = expr {
        let all = std::iter::once(*expr).chain(whens).collect();
        let mut all = unify(all, schema, Purpose::Compare, &|l, r| undefined_operator("=", l, r))?.into_iter();
        operand = Some(Box::new(all.next().ok_or_else(lost)?));
        whens = all.collect();
    }
    let has_else = else_expr.is_some();
    thens.extend(else_expr.map(|e| *e));
    let mut thens = unify(thens, schema, Purpose::Choose, &|l, r| unmatched("CASE", l, r))?;
    let otherwise = if has_else { Some(Box::new(thens.pop().ok_or_else(lost)?)) } else { None };
    let branches = whens.into_iter().zip(thens).map(|(w, t)| (Box::new(w), Box::new(t))).collect();
    Ok(Expr::Case(Case::new(operand, branches, otherwise)))
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
