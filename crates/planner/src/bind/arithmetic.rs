//! Binary operators: arithmetic becomes checked functions, and a bare string takes the type of the other side.

use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Expr, lit};
use datafusion::sql::sqlparser::ast::BinaryOperator as Op;
use millstream_functions::{ArithmeticOp, cast_udf, external, registry};
use millstream_types::{Error, SqlType};

use super::floats::Purpose;
use super::types::{Category, category, is_bare, sql_type_of, typed, undefined_operator, unify};

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
        let (left, right) = operands(arithmetic, narrow(left), narrow(right), schema)?;
        return Ok(PlannerResult::Planned(call(arithmetic.function_name(), vec![left, right])?));
    }
    match op {
        Op::Eq | Op::NotEq | Op::Lt | Op::LtEq | Op::Gt | Op::GtEq | Op::Spaceship => {
            let name = op.to_string();
            let both = unify(vec![narrow(left), narrow(right)], schema, Purpose::Compare, &|l, r| undefined_operator(&name, l, r))?;
            let (left, right) = pair(both)?;
            Ok(PlannerResult::Original(RawBinaryExpr { op, left, right }))
        }
        Op::StringConcat => concat(left, right, schema),
        Op::PGRegexMatch => Ok(PlannerResult::Planned(call("regexp_like", vec![left, right])?)),
        Op::PGRegexIMatch => Ok(PlannerResult::Planned(call("regexp_like", vec![left, right, lit("i")])?)),
        Op::PGRegexNotMatch => Ok(PlannerResult::Planned(Expr::Not(Box::new(call("regexp_like", vec![left, right])?)))),
        Op::PGRegexNotIMatch => Ok(PlannerResult::Planned(Expr::Not(Box::new(call("regexp_like", vec![left, right, lit("i")])?)))),
        Op::And | Op::Or => Ok(PlannerResult::Original(RawBinaryExpr { op, left, right })),
        other => Err(external(Error::unsupported(format!("operator {other}")))),
    }
}

fn call(name: &str, args: Vec<Expr>) -> Result<Expr> {
    let function = registry().scalar(name).ok_or_else(|| external(Error::internal(format!("no function {name}"))))?;
    Ok(Expr::ScalarFunction(ScalarFunction::new_udf(function, args)))
}

fn pair(both: Vec<Expr>) -> Result<(Expr, Expr)> {
    <[Expr; 2]>::try_from(both).map(|[l, r]| (l, r)).map_err(|_| external(Error::internal("an operator without two operands")))
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

/// Operands of arithmetic, whose types may differ (`date + integer`): a bare string beside a number or interval is one, too. Beside a
/// date it is what PostgreSQL finds an operator for: a date to subtract, an interval to add.
fn operands(op: ArithmeticOp, left: Expr, right: Expr, schema: &DFSchema) -> Result<(Expr, Expr)> {
    let (l, r) = (sql_type_of(&left, schema)?, sql_type_of(&right, schema)?);
    let beside = |t: &SqlType| match (category(t), op) {
        (Category::Number | Category::Interval, _) => Some(t.clone()),
        (Category::Date, ArithmeticOp::Sub) => Some(t.clone()),
        (Category::Date, ArithmeticOp::Add) => Some(SqlType::Interval),
        _ => None,
    };
    match (is_bare(&left), is_bare(&right), beside(&l), beside(&r)) {
        (false, true, Some(to), _) => Ok((left, typed(right, &to)?)),
        (true, false, _, Some(to)) => Ok((typed(left, &to)?, right)),
        _ => Ok((left, right)),
    }
}

/// `||` over text: NULL if either side is. Anything that is no array joins in as its text.
fn concat(left: Expr, right: Expr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
    let (left, right) = (narrow(left), narrow(right));
    let (l, r) = (sql_type_of(&left, schema)?, sql_type_of(&right, schema)?);
    let other = |t: &SqlType| matches!(category(t), Category::Array | Category::Bytes | Category::Row);
    if other(&l) || other(&r) {
        return Ok(PlannerResult::Original(RawBinaryExpr { op: Op::StringConcat, left, right }));
    }
    let texty = |t: &SqlType| matches!(category(t), Category::Text | Category::Unknown);
    if !texty(&l) && !texty(&r) {
        return Err(external(undefined_operator("||", &l, &r)));
    }
    let as_text = |e: Expr, t: &SqlType| match t {
        SqlType::Text => e,
        _ => Expr::ScalarFunction(ScalarFunction::new_udf(cast_udf(&SqlType::Text), vec![e])),
    };
    Ok(PlannerResult::Planned(call("ms_concat", vec![as_text(left, &l), as_text(right, &r)])?))
}
