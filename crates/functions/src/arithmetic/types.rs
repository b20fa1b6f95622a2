//! Which operand types an operator takes and what it returns (PostgreSQL's tables 9.4 and 9.32).
//!
//! Numerics have a fixed scale here, so the scale of a result follows from the types, not from the values:
//! `+ - %` the larger scale; `*` the sum of scales, reduced when the digits exceed 38, but never below the larger operand scale;
//! `/` 16 digits behind the point, or the larger scale if that is more.

use std::fmt;

use millstream_types::sql_type::NUMERIC_MAX_PRECISION;
use millstream_types::{Error, Result, SqlState, SqlType};

use crate::function::short_name;

/// Digits behind the point that a quotient has at least.
pub const QUOTIENT_SCALE: i8 = 16;

/// An operator of arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArithmeticOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`; truncates for integers
    Div,
    /// `%`; the sign of the dividend
    Mod,
    /// `^`
    Pow,
    /// unary `-`
    Neg,
}

impl ArithmeticOp {
    /// All of them.
    pub const ALL: [ArithmeticOp; 7] = [
        ArithmeticOp::Add,
        ArithmeticOp::Sub,
        ArithmeticOp::Mul,
        ArithmeticOp::Div,
        ArithmeticOp::Mod,
        ArithmeticOp::Pow,
        ArithmeticOp::Neg,
    ];

    /// Name of its UDF: stored in graphs, never changes.
    pub fn function_name(self) -> &'static str {
        match self {
            ArithmeticOp::Add => "ms_add",
            ArithmeticOp::Sub => "ms_sub",
            ArithmeticOp::Mul => "ms_mul",
            ArithmeticOp::Div => "ms_div",
            ArithmeticOp::Mod => "ms_mod",
            ArithmeticOp::Pow => "ms_pow",
            ArithmeticOp::Neg => "ms_neg",
        }
    }
}

impl fmt::Display for ArithmeticOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ArithmeticOp::Add => "+",
            ArithmeticOp::Sub | ArithmeticOp::Neg => "-",
            ArithmeticOp::Mul => "*",
            ArithmeticOp::Div => "/",
            ArithmeticOp::Mod => "%",
            ArithmeticOp::Pow => "^",
        })
    }
}

/// The result type of `op` over operands of these types.
///
/// # Errors
/// 42883 if there is no such operator.
pub fn result_type(op: ArithmeticOp, types: &[SqlType]) -> Result<SqlType> {
    let found = match types {
        [t] if op == ArithmeticOp::Neg => unary(t),
        [l, r] if op != ArithmeticOp::Neg => binary(op, l, r),
        _ => None,
    };
    found.ok_or_else(|| undefined_operator(op, types))
}

fn undefined_operator(op: ArithmeticOp, types: &[SqlType]) -> Error {
    let names: Vec<String> = types.iter().map(short_name).collect();
    let shown = match names.as_slice() {
        [only] => format!("{op} {only}"),
        [l, r] => format!("{l} {op} {r}"),
        other => format!("{op} ({})", other.join(", ")),
    };
    Error::new(SqlState::UNDEFINED_FUNCTION, format!("operator does not exist: {shown}"))
        .with_hint("no operator matches the given name and argument types; you might need to add explicit type casts")
}

/// The type that a bare NULL takes beside an operand of type `known`.
pub(crate) fn partner_of_null(known: &SqlType) -> SqlType {
    match known {
        SqlType::Date => SqlType::Integer,
        SqlType::Timestamp | SqlType::TimestampTz | SqlType::Time => SqlType::Interval,
        other => other.clone(),
    }
}

fn unary(t: &SqlType) -> Option<SqlType> {
    (t.is_numeric() || matches!(t, SqlType::Interval | SqlType::Unknown)).then(|| t.clone())
}

fn binary(op: ArithmeticOp, l: &SqlType, r: &SqlType) -> Option<SqlType> {
    match (l, r) {
        (SqlType::Unknown, SqlType::Unknown) => Some(SqlType::Integer),
        (SqlType::Unknown, known) => binary(op, &partner_of_null(known), known),
        (known, SqlType::Unknown) => binary(op, known, &partner_of_null(known)),
        (l, r) if l.is_numeric() && r.is_numeric() => number(op, l, r),
        _ => temporal(op, l, r),
    }
}

fn number(op: ArithmeticOp, l: &SqlType, r: &SqlType) -> Option<SqlType> {
    let float = |t: &SqlType| matches!(t, SqlType::Real | SqlType::Double);
    if float(l) || float(r) {
        let real = *l == SqlType::Real && *r == SqlType::Real && op != ArithmeticOp::Pow;
        return (op != ArithmeticOp::Mod).then_some(if real { SqlType::Real } else { SqlType::Double });
    }
    if let (Some(a), Some(b)) = (integer_rank(l), integer_rank(r)) {
        let wider = if a >= b { l } else { r };
        return Some(if op == ArithmeticOp::Pow { SqlType::Double } else { wider.clone() });
    }
    let ((p1, s1), (p2, s2)) = (digits(l)?, digits(r)?);
    let scale = s1.max(s2);
    let whole = (p1 - s1).max(p2 - s2);
    Some(match op {
        ArithmeticOp::Add | ArithmeticOp::Sub => numeric(whole + 1 + scale, scale),
        ArithmeticOp::Mod => numeric(whole + scale, scale),
        ArithmeticOp::Mul => {
            let room = i16::from(NUMERIC_MAX_PRECISION) - (p1 - s1) - (p2 - s2);
            numeric(p1 + p2, (s1 + s2).min(scale.max(room)))
        }
        _ => numeric(38, scale.max(i16::from(QUOTIENT_SCALE))),
    })
}

fn integer_rank(t: &SqlType) -> Option<u8> {
    match t {
        SqlType::SmallInt => Some(0),
        SqlType::Integer => Some(1),
        SqlType::BigInt => Some(2),
        _ => None,
    }
}

/// Precision and scale of the numeric that holds every value of an exact type.
pub(crate) fn digits(t: &SqlType) -> Option<(i16, i16)> {
    match t {
        SqlType::SmallInt => Some((5, 0)),
        SqlType::Integer => Some((10, 0)),
        SqlType::BigInt => Some((19, 0)),
        SqlType::Numeric { precision, scale } => Some((i16::from(*precision), i16::from(*scale))),
        _ => None,
    }
}

fn numeric(precision: i16, scale: i16) -> SqlType {
    let max = i16::from(NUMERIC_MAX_PRECISION);
    let (precision, scale) = (precision.clamp(1, max), scale.clamp(0, max));
    let fits = |v: i16| u8::try_from(v).unwrap_or(NUMERIC_MAX_PRECISION);
    SqlType::Numeric { precision: fits(precision), scale: i8::try_from(scale).unwrap_or(0) }
}

fn temporal(op: ArithmeticOp, l: &SqlType, r: &SqlType) -> Option<SqlType> {
    use ArithmeticOp as O;
    use SqlType as T;
    Some(match (op, l, r) {
        (O::Add | O::Sub, T::Date, T::SmallInt | T::Integer | T::BigInt) => T::Date,
        (O::Add, T::SmallInt | T::Integer | T::BigInt, T::Date) => T::Date,
        (O::Sub, T::Date, T::Date) => T::Integer,
        (O::Add, T::Date, T::Time) | (O::Add, T::Time, T::Date) => T::Timestamp,
        (O::Add | O::Sub, T::Date | T::Timestamp, T::Interval) => T::Timestamp,
        (O::Add, T::Interval, T::Date | T::Timestamp) => T::Timestamp,
        (O::Add | O::Sub, T::TimestampTz, T::Interval) | (O::Add, T::Interval, T::TimestampTz) => T::TimestampTz,
        (O::Sub, T::Timestamp | T::TimestampTz | T::Date, T::Timestamp | T::TimestampTz | T::Date) => T::Interval,
        (O::Add | O::Sub, T::Time, T::Interval) | (O::Add, T::Interval, T::Time) => T::Time,
        (O::Sub, T::Time, T::Time) => T::Interval,
        (O::Add | O::Sub, T::Interval, T::Interval) => T::Interval,
        (O::Mul | O::Div, T::Interval, n) if n.is_numeric() => T::Interval,
        (O::Mul, n, T::Interval) if n.is_numeric() => T::Interval,
        _ => return None,
    })
}
