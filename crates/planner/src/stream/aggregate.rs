//! GROUP BY: keys, arguments and filters as columns of a Calc, aggregate calls over them.

use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::AggregateFunction as DfAggregate;
use datafusion::logical_expr::{Aggregate, Expr, ExprSchemable};
use millstream_functions::from_datafusion;
use millstream_graph::{AggregateCall, AggregateFunction, ScalarExpr};
use millstream_types::{Error, Result, SqlType};

use super::expression::scalar;

/// The aggregates that can follow changes.
pub(super) const NAMES: [&str; 8] = ["count", "sum", "avg", "min", "max", "bool_and", "bool_or", "string_agg"];

/// What a GROUP BY computes before and while grouping.
pub(super) struct Grouping {
    /// Key expressions over the input.
    pub(super) keys: Vec<ScalarExpr>,
    /// Arguments and filters over the input; the calls refer to them behind the keys.
    pub(super) inputs: Vec<ScalarExpr>,
    pub(super) aggregates: Vec<AggregateCall>,
}

/// Takes an Aggregate node apart.
///
/// # Errors
/// 0A000 for an aggregate that cannot follow changes.
pub(super) fn grouping(node: &Aggregate) -> Result<Grouping> {
    let schema = node.input.schema();
    if node.group_expr.iter().any(|e| matches!(e, Expr::GroupingSet(_))) {
        return Err(Error::unsupported("GROUPING SETS in a streaming query"));
    }
    let keys = node.group_expr.iter().map(|e| scalar(e, schema)).collect::<Result<Vec<_>>>()?;
    let mut grouping = Grouping { keys, inputs: vec![], aggregates: vec![] };
    for expr in &node.aggr_expr {
        let call = call(expr, schema, &mut grouping)?;
        grouping.aggregates.push(call);
    }
    Ok(grouping)
}

impl Grouping {
    /// The column that `expr` is in front of the GROUP BY.
    fn input(&mut self, expr: ScalarExpr) -> usize {
        let known = self.keys.iter().chain(&self.inputs).position(|e| *e == expr);
        known.unwrap_or_else(|| {
            self.inputs.push(expr);
            self.keys.len() + self.inputs.len() - 1
        })
    }
}

fn call(expr: &Expr, schema: &DFSchema, grouping: &mut Grouping) -> Result<AggregateCall> {
    let function = unalias(expr);
    let Expr::AggregateFunction(DfAggregate { func, params }) = function else {
        return Err(Error::unsupported(format!("{} in a streaming GROUP BY", function.variant_name())));
    };
    let name = func.name();
    if !params.order_by.is_empty() {
        return Err(Error::unsupported(format!("ORDER BY inside {name}() in a streaming query")));
    }
    if params.null_treatment.is_some() {
        return Err(Error::unsupported(format!("IGNORE or RESPECT NULLS of {name}() in a streaming query")));
    }
    let kind = match (name, params.args.as_slice()) {
        ("count", [_] | []) => AggregateFunction::Count,
        ("sum", [_]) => AggregateFunction::Sum,
        ("avg", [_]) => AggregateFunction::Avg,
        ("min", [_]) => AggregateFunction::Min,
        ("max", [_]) => AggregateFunction::Max,
        ("bool_and", [_]) => AggregateFunction::BoolAnd,
        ("bool_or", [_]) => AggregateFunction::BoolOr,
        ("string_agg", [_, delimiter]) => AggregateFunction::StringAgg { delimiter: constant_text(delimiter)? },
        ("count", _) => return Err(Error::unsupported("count() of several arguments in a streaming query")),
        (other, _) => {
            return Err(Error::unsupported(format!("aggregate {other}() in a streaming query"))
                .with_hint("streams have count, sum, avg, min, max, bool_and, bool_or and string_agg"));
        }
    };
    let argument = match params.args.first() {
        // count(*), and count of a constant that is not NULL, which is the same.
        Some(Expr::Literal(value, _)) if kind == AggregateFunction::Count && !value.is_null() && !params.distinct => None,
        Some(arg) => Some(grouping.input(scalar(arg, schema)?)),
        None => None,
    };
    let filter = params.filter.as_ref().map(|f| scalar(f, schema)).transpose()?.map(|f| grouping.input(f));
    let return_type = SqlType::from_arrow(&function.get_type(schema).map_err(from_datafusion)?)?;
    Ok(AggregateCall { function: kind, argument, distinct: params.distinct, filter, return_type })
}

fn unalias(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => unalias(&alias.expr),
        other => other,
    }
}

fn constant_text(expr: &Expr) -> Result<String> {
    match unalias(expr) {
        Expr::Literal(ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)) | ScalarValue::LargeUtf8(Some(text)), _) => {
            Ok(text.clone())
        }
        _ => Err(Error::unsupported("string_agg() with a delimiter that is no constant in a streaming query")),
    }
}
