//! Expressions of a plan as the graph's own.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Decimal128Type, Float32Type, Float64Type, IntervalMonthDayNanoType, IntervalUnit, TimeUnit};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::{Between, Case, Expr, ExprSchemable, Like, Operator};
use millstream_functions::{cast_array, from_datafusion, is_time_dependent, is_volatile};
use millstream_graph::{BinaryOperator, ScalarExpr};
use millstream_types::{Datum, Error, Result, SqlType};

/// An expression over columns of `schema`.
///
/// # Errors
/// 0A000 for what the graph's language does not have.
pub(super) fn scalar(expr: &Expr, schema: &DFSchema) -> Result<ScalarExpr> {
    let boxed = |e: &Expr| scalar(e, schema).map(Box::new);
    Ok(match expr {
        Expr::Alias(alias) => scalar(&alias.expr, schema)?,
        Expr::Column(column) => {
            let index = schema.index_of_column(column).map_err(from_datafusion)?;
            ScalarExpr::column(index, SqlType::from_arrow(schema.field(index).data_type())?)
        }
        Expr::Literal(value, _) => ScalarExpr::Literal(datum(value)?),
        Expr::BinaryExpr(binary) => {
            ScalarExpr::Binary { op: operator(binary.op)?, left: boxed(&binary.left)?, right: boxed(&binary.right)? }
        }
        Expr::Not(e) => ScalarExpr::Not(boxed(e)?),
        Expr::IsNull(e) | Expr::IsUnknown(e) => ScalarExpr::IsNull(boxed(e)?),
        Expr::IsNotNull(e) | Expr::IsNotUnknown(e) => ScalarExpr::Not(Box::new(ScalarExpr::IsNull(boxed(e)?))),
        Expr::IsTrue(e) => is(boxed(e)?, true, false),
        Expr::IsFalse(e) => is(boxed(e)?, false, false),
        Expr::IsNotTrue(e) => is(boxed(e)?, true, true),
        Expr::IsNotFalse(e) => is(boxed(e)?, false, true),
        Expr::Between(Between { expr, negated, low, high }) => {
            let compare = |op, bound: &Expr| Ok::<_, Error>(ScalarExpr::Binary { op, left: boxed(expr)?, right: boxed(bound)? });
            let (low, high) = (compare(BinaryOperator::GtEq, low)?, compare(BinaryOperator::LtEq, high)?);
            let both = ScalarExpr::Binary { op: BinaryOperator::And, left: Box::new(low), right: Box::new(high) };
            if *negated { ScalarExpr::Not(Box::new(both)) } else { both }
        }
        Expr::Case(case) => case_expr(case, schema)?,
        Expr::InList(list) => ScalarExpr::InList {
            expr: boxed(&list.expr)?,
            list: list.list.iter().map(|e| scalar(e, schema)).collect::<Result<_>>()?,
            negated: list.negated,
        },
        Expr::Like(like) => like_expr(like, schema)?,
        Expr::Cast(cast) => ScalarExpr::Cast { expr: boxed(&cast.expr)?, to: SqlType::from_arrow(cast.field.data_type())? },
        Expr::ScalarFunction(call) => {
            let name = call.func.name();
            if is_time_dependent(name) || is_volatile(name) {
                return Err(Error::unsupported(format!("{name}() in a streaming query")));
            }
            let data_type = expr.get_type(schema).map_err(from_datafusion)?;
            let return_type = SqlType::from_arrow(&data_type)?;
            if name.starts_with("ms_cast_")
                && let [argument] = call.args.as_slice()
            {
                return Ok(ScalarExpr::Cast { expr: boxed(argument)?, to: return_type });
            }
            let args = call.args.iter().map(|e| scalar(e, schema)).collect::<Result<_>>()?;
            ScalarExpr::Function { name: name.to_owned(), args, return_type }
        }
        other => return Err(Error::unsupported(format!("{} in a streaming query", other.variant_name()))),
    })
}

fn is(expr: Box<ScalarExpr>, value: bool, negated: bool) -> ScalarExpr {
    let op = if negated { BinaryOperator::IsDistinctFrom } else { BinaryOperator::IsNotDistinctFrom };
    ScalarExpr::Binary { op, left: expr, right: Box::new(ScalarExpr::Literal(Datum::Boolean(value))) }
}

fn case_expr(case: &Case, schema: &DFSchema) -> Result<ScalarExpr> {
    let operand = case.expr.as_ref().map(|e| scalar(e, schema)).transpose()?;
    let branch = |(when, then): &(Box<Expr>, Box<Expr>)| {
        let when = scalar(when, schema)?;
        let condition = match &operand {
            Some(operand) => ScalarExpr::Binary { op: BinaryOperator::Eq, left: Box::new(operand.clone()), right: Box::new(when) },
            None => when,
        };
        Ok((condition, scalar(then, schema)?))
    };
    let branches = case.when_then_expr.iter().map(branch).collect::<Result<_>>()?;
    let otherwise = case.else_expr.as_ref().map(|e| scalar(e, schema).map(Box::new)).transpose()?;
    Ok(ScalarExpr::Case { branches, otherwise })
}

fn like_expr(like: &Like, schema: &DFSchema) -> Result<ScalarExpr> {
    if like.escape_char.is_some_and(|c| c != '\\') {
        return Err(Error::unsupported("LIKE with ESCAPE in a streaming query"));
    }
    Ok(ScalarExpr::Like {
        expr: Box::new(scalar(&like.expr, schema)?),
        pattern: Box::new(scalar(&like.pattern, schema)?),
        negated: like.negated,
        case_insensitive: like.case_insensitive,
    })
}

fn operator(op: Operator) -> Result<BinaryOperator> {
    Ok(match op {
        Operator::Eq => BinaryOperator::Eq,
        Operator::NotEq => BinaryOperator::NotEq,
        Operator::Lt => BinaryOperator::Lt,
        Operator::LtEq => BinaryOperator::LtEq,
        Operator::Gt => BinaryOperator::Gt,
        Operator::GtEq => BinaryOperator::GtEq,
        Operator::And => BinaryOperator::And,
        Operator::Or => BinaryOperator::Or,
        Operator::IsDistinctFrom => BinaryOperator::IsDistinctFrom,
        Operator::IsNotDistinctFrom => BinaryOperator::IsNotDistinctFrom,
        other => return Err(Error::unsupported(format!("operator {other} in a streaming query"))),
    })
}

/// A literal as a datum of its canonical type.
pub(super) fn datum(value: &ScalarValue) -> Result<Datum> {
    let sql_type = SqlType::from_arrow(&value.data_type())?;
    if value.is_null() {
        return Ok(Datum::Null(sql_type));
    }
    let array = value.to_array().map_err(from_datafusion)?;
    let array: ArrayRef = if *array.data_type() == sql_type.to_arrow() { array } else { cast_array(&array, &sql_type)? };
    first(&array, &sql_type)
}

/// The first value of an array of `sql_type`'s representation.
///
/// # Errors
/// 0A000 for a type that has no constants.
pub fn datum_of(array: &ArrayRef, sql_type: &SqlType) -> Result<Datum> {
    if array.is_null(0) { Ok(Datum::Null(sql_type.clone())) } else { first(array, sql_type) }
}

fn first(array: &ArrayRef, sql_type: &SqlType) -> Result<Datum> {
    use arrow::datatypes as t;
    Ok(match (array.data_type(), sql_type) {
        (DataType::Boolean, _) => Datum::Boolean(array.as_boolean().value(0)),
        (DataType::Int16, _) => Datum::SmallInt(array.as_primitive::<t::Int16Type>().value(0)),
        (DataType::Int32, _) => Datum::Integer(array.as_primitive::<t::Int32Type>().value(0)),
        (DataType::Int64, _) => Datum::BigInt(array.as_primitive::<t::Int64Type>().value(0)),
        (DataType::Float32, _) => Datum::Real(array.as_primitive::<Float32Type>().value(0)),
        (DataType::Float64, _) => Datum::Double(array.as_primitive::<Float64Type>().value(0)),
        (DataType::Decimal128(precision, scale), _) => {
            Datum::Numeric { unscaled: array.as_primitive::<Decimal128Type>().value(0), precision: *precision, scale: *scale }
        }
        (DataType::Utf8, _) => Datum::Text(array.as_string::<i32>().value(0).to_owned()),
        (DataType::Binary, _) => Datum::Bytea(array.as_binary::<i32>().value(0).to_vec()),
        (DataType::Date32, _) => Datum::Date(array.as_primitive::<t::Date32Type>().value(0)),
        (DataType::Time64(TimeUnit::Microsecond), _) => Datum::Time(array.as_primitive::<t::Time64MicrosecondType>().value(0)),
        (DataType::Timestamp(TimeUnit::Microsecond, zone), _) => {
            let micros = array.as_primitive::<t::TimestampMicrosecondType>().value(0);
            if zone.is_some() { Datum::TimestampTz(micros) } else { Datum::Timestamp(micros) }
        }
        (DataType::Interval(IntervalUnit::MonthDayNano), _) => {
            let v = array.as_primitive::<IntervalMonthDayNanoType>().value(0);
            Datum::Interval { months: v.months, days: v.days, nanos: v.nanoseconds }
        }
        (_, other) => return Err(Error::unsupported(format!("a constant of type {other} in a streaming query"))),
    })
}
