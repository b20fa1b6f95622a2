//! Which types go together: PostgreSQL's categories, and what a bare string or parameter becomes beside a typed value.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Expr, ExprSchemable};
use millstream_functions::external;
use millstream_types::{Error, SqlState, SqlType};

use super::floats::{Purpose, as_floats};

/// Types that are made equal without being asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Category {
    Number,
    Text,
    Boolean,
    Bytes,
    Date,
    Time,
    Interval,
    Array,
    Row,
    /// NULL and parameters: goes with everything.
    Unknown,
}

/// The category of a type; `Unknown` for what SQL has no name for.
pub(super) fn category(sql_type: &SqlType) -> Category {
    match sql_type {
        t if t.is_numeric() => Category::Number,
        SqlType::Text => Category::Text,
        SqlType::Boolean => Category::Boolean,
        SqlType::Bytea => Category::Bytes,
        SqlType::Date | SqlType::Timestamp | SqlType::TimestampTz => Category::Date,
        SqlType::Time => Category::Time,
        SqlType::Interval => Category::Interval,
        SqlType::Array(_) => Category::Array,
        SqlType::Row(_) => Category::Row,
        _ => Category::Unknown,
    }
}

/// True for what takes its type from its surroundings: a string literal, NULL, a parameter without a type.
pub(super) fn is_bare(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(ScalarValue::Utf8(_) | ScalarValue::Null, _) => true,
        Expr::Placeholder(parameter) => parameter.field.is_none(),
        _ => false,
    }
}

/// A bare expression as a value of `to` (22P02 if its text is none); others stay.
pub(super) fn typed(expr: Expr, to: &SqlType) -> Result<Expr> {
    match expr {
        Expr::Literal(value @ ScalarValue::Utf8(_), meta) if *to != SqlType::Text => {
            // A number of any precision: the other side's scale would round the literal.
            let wide = |scale: i8| SqlType::Numeric { precision: 38, scale: scale.max(16) };
            let to = if let SqlType::Numeric { scale, .. } = to { wide(*scale) } else { to.clone() };
            let array = millstream_functions::cast_array(&value.to_array()?, &to).map_err(external)?;
            Ok(Expr::Literal(ScalarValue::try_from_array(&array, 0)?, meta))
        }
        Expr::Placeholder(Placeholder { id, field: None }) => {
            Ok(Expr::Placeholder(Placeholder { id, field: Some(Arc::new(Field::new("", to.to_arrow(), true))) }))
        }
        other => Ok(other),
    }
}

/// Gives the bare ones among `exprs` the type of the first that has one, and checks that the others go with it. `mismatch` makes the
/// error of two types that do not.
pub(super) fn unify(
    exprs: Vec<Expr>,
    schema: &DFSchema,
    purpose: Purpose,
    mismatch: &dyn Fn(&SqlType, &SqlType) -> Error,
) -> Result<Vec<Expr>> {
    let mut common: Option<SqlType> = None;
    for expr in exprs.iter().filter(|e| !is_bare(e)) {
        let Ok(own) = SqlType::from_arrow(&expr.get_type(schema)?) else { return Ok(exprs) };
        match &common {
            Some(known) if category(known) == category(&own) || category(&own) == Category::Unknown => (),
            Some(known) if category(known) != Category::Unknown => return Err(external(mismatch(known, &own))),
            _ => common = Some(own),
        }
    }
    match common {
        // Structures are compared as they are: their texts have no reader here.
        Some(t) if !matches!(category(&t), Category::Unknown | Category::Array | Category::Row) => {
            let exprs = exprs.into_iter().map(|e| typed(e, &t)).collect::<Result<Vec<_>>>()?;
            if category(&t) == Category::Number { as_floats(exprs, schema, purpose) } else { Ok(exprs) }
        }
        _ => Ok(exprs),
    }
}

/// The type of an expression, if SQL has a name for it.
pub(super) fn sql_type_of(expr: &Expr, schema: &DFSchema) -> Result<SqlType> {
    let data_type = expr.get_type(schema)?;
    Ok(if matches!(data_type, DataType::Null) { SqlType::Unknown } else { SqlType::from_arrow(&data_type).map_err(external)? })
}

/// 42883 for operands that an operator does not take.
pub(super) fn undefined_operator(op: &str, left: &SqlType, right: &SqlType) -> Error {
    let message = format!("operator does not exist: {} {op} {}", short(left), short(right));
    Error::new(SqlState::UNDEFINED_FUNCTION, message)
        .with_hint("no operator matches the given name and argument types; you might need to add explicit type casts")
}

/// 42804 for results that have no common type; `what` is the construct in capitals.
pub(super) fn unmatched(what: &str, left: &SqlType, right: &SqlType) -> Error {
    Error::new(SqlState::DATATYPE_MISMATCH, format!("{what} types {} and {} cannot be matched", short(left), short(right)))
}

fn short(sql_type: &SqlType) -> String {
    match sql_type {
        SqlType::Numeric { .. } => "numeric".into(),
        other => other.to_string(),
    }
}
