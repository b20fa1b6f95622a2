//! Binary operators: arithmetic becomes checked functions, and a bare string takes the type of the other side.

use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Expr, ExprSchemable};
use datafusion::sql::sqlparser::ast::BinaryOperator as Op;
use millstream_functions::{ArithmeticOp, external, registry};
use millstream_types::{Error, SqlType};

pub(super) fn plan(expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
    let RawBinaryExpr { op, left, right } = expr;
    let arithmetic = match op {
        Op::Plus => Some(ArithmeticOp::Add),
        Op::Minus => Some(ArithmeticOp::Sub),
        Op::Multiply => Some(ArithmeticOp::Mul),
        Op::Divide => Some(ArithmeticOp::Div),
        Op::Modulo => Some(ArithmeticOp::Mod),
        Op::BitwiseXor | Op::PGExp => Some(ArithmeticOp::Pow),
        _ => None,
    };
    if let Some(arithmetic) = arithmetic {
        let (left, right) = (narrow(left), narrow(right));
        let (left, right) = same_type(left, right, schema)?;
        return Ok(PlannerResult::Planned(call(arithmetic.function_name(), vec![left, right])?));
    }
    match op {
        Op::Eq | Op::NotEq | Op::Lt | Op::LtEq | Op::Gt | Op::GtEq | Op::Spaceship => {
            let (left, right) = same_type(left, right, schema)?;
            Ok(PlannerResult::Original(RawBinaryExpr { op, left, right }))
        }
        Op::PGRegexMatch => Ok(PlannerResult::Planned(call("regexp_like", vec![left, right])?)),
        Op::PGRegexNotMatch => Ok(PlannerResult::Planned(Expr::Not(Box::new(call("regexp_like", vec![left, right])?)))),
        Op::And | Op::Or | Op::StringConcat => Ok(PlannerResult::Original(RawBinaryExpr { op, left, right })),
        other => Err(external(Error::unsupported(format!("operator {other}")))),
    }
}

fn call(name: &str, args: Vec<Expr>) -> Result<Expr> {
    let function = registry().scalar(name).ok_or_else(|| external(Error::internal(format!("no function {name}"))))?;
    Ok(Expr::ScalarFunction(ScalarFunction::new_udf(function, args)))
}

/// A whole number is an integer if it fits, as in PostgreSQL.
pub(super) fn narrow(expr: Expr) -> Expr {
    match expr {
        Expr::Literal(ScalarValue::Int64(Some(v)), meta) => match i32::try_from(v) {
            Ok(small) => Expr::Literal(ScalarValue::Int32(Some(small)), meta),
            Err(_) => Expr::Literal(ScalarValue::Int64(Some(v)), meta),
        },
        other => other,
    }
}

/// A string literal beside something that is no string is a value of that type (22P02 if it is none).
fn same_type(left: Expr, right: Expr, schema: &DFSchema) -> Result<(Expr, Expr)> {
    let (l, r) = (left.get_type(schema)?, right.get_type(schema)?);
    let text = |e: &Expr| matches!(e, Expr::Literal(ScalarValue::Utf8(_), _));
    Ok(match (text(&left), text(&right)) {
        (true, false) if takes_text(&r) => (typed(left, &r)?, right),
        (false, true) if takes_text(&l) => {
            let typed = typed(right, &l)?;
            (left, typed)
        }
        _ => (left, right),
    })
}

fn takes_text(data_type: &DataType) -> bool {
    !matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null)
}

fn typed(literal: Expr, data_type: &DataType) -> Result<Expr> {
    let Expr::Literal(value, meta) = literal else { return Ok(literal) };
    let to = SqlType::from_arrow(data_type).map_err(external)?;
    // A number of any precision: the other side's scale would round the literal.
    let to = if let SqlType::Numeric { scale, .. } = to { SqlType::Numeric { precision: 38, scale: scale.max(16) } } else { to };
    let array = millstream_functions::cast_array(&value.to_array()?, &to).map_err(external)?;
    Ok(Expr::Literal(ScalarValue::try_from_array(&array, 0)?, meta))
}
