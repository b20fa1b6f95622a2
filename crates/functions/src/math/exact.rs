//! Integers and numerics. The scale of `round(x, n)` and `trunc(x, n)` is `n` where it is a constant, that of `x` otherwise.

use arrow::array::{ArrayRef, Decimal128Array, Int32Array, Int64Array};
use arrow::datatypes::{DataType, Decimal128Type, Int16Type, Int32Type, Int64Type};
use datafusion::common::ScalarValue;
use millstream_types::{Error, Result, SqlState, SqlType};

use crate::arithmetic::checked::FINE;
use crate::arithmetic::decimal::{error, pow10, quotient as divide, round_shift};
use crate::arithmetic::{ArithmeticOp, result_type};
use crate::cast::cast_array;
use crate::cast::number::{field_overflow, fit, out_of_range};
use crate::operand::Args;

type Constants<'a> = &'a [Option<&'a ScalarValue>];

fn decimal(t: &DataType) -> (u8, i8) {
    match t {
        DataType::Decimal128(p, s) => (*p, *s),
        _ => (38, 0),
    }
}

fn digits(t: &DataType) -> i16 {
    let (p, s) = decimal(t);
    i16::from(p) - i16::from(s)
}

fn numeric(precision: i16, scale: i16) -> DataType {
    let p = u8::try_from(precision.clamp(1, 38)).unwrap_or(38);
    let s = i8::try_from(scale.clamp(0, 38)).unwrap_or(0);
    DataType::Decimal128(p.max(s.unsigned_abs()), s)
}

/// Scale 0, one digit more for the carry.
pub(super) fn whole(types: &[DataType], _: Constants<'_>) -> DataType {
    types.first().map_or(DataType::Decimal128(38, 0), |t| numeric(digits(t) + 1, 0))
}

/// The scale of the second argument if it is a constant.
pub(super) fn scaled(types: &[DataType], constants: Constants<'_>) -> DataType {
    let Some(t) = types.first() else { return DataType::Decimal128(38, 0) };
    let n = match constants.get(1) {
        Some(Some(ScalarValue::Int64(Some(n)))) => Some(*n),
        Some(Some(ScalarValue::Int32(Some(n)))) => Some(i64::from(*n)),
        Some(Some(ScalarValue::Int16(Some(n)))) => Some(i64::from(*n)),
        _ => None,
    };
    let scale = n.map_or(i16::from(decimal(t).1), |n| i16::try_from(n.clamp(0, 38)).unwrap_or(0));
    let room = 38 - digits(t) - 1;
    numeric(digits(t) + 1 + scale, scale.min(room.max(0)))
}

fn of_operator(op: ArithmeticOp, types: &[DataType]) -> DataType {
    let types: Option<Vec<SqlType>> = types.iter().map(|t| SqlType::from_arrow(t).ok()).collect();
    types.and_then(|t| result_type(op, &t).ok()).map_or(DataType::Decimal128(38, 0), |t| t.to_arrow())
}

/// As `%`.
pub(super) fn remainder(types: &[DataType], _: Constants<'_>) -> DataType {
    of_operator(ArithmeticOp::Mod, types)
}

/// As `^`.
pub(super) fn root(types: &[DataType], _: Constants<'_>) -> DataType {
    of_operator(ArithmeticOp::Pow, types)
}

/// A whole quotient.
pub(super) fn quotient(_: &[DataType], _: Constants<'_>) -> DataType {
    DataType::Decimal128(38, 0)
}

/// 22003 for the smallest integer.
pub(super) fn abs(args: &Args) -> Result<ArrayRef> {
    let overflow = || SqlType::from_arrow(&args.out).map_or_else(|e| e, |t| out_of_range(&t));
    match &args.out {
        DataType::Int16 => {
            let v = args.lane::<arrow::array::Int16Array>(0)?;
            args.map::<Int16Type>(|row| v.get(row).checked_abs().ok_or_else(overflow))
        }
        DataType::Int32 => {
            let v = args.lane::<Int32Array>(0)?;
            args.map::<Int32Type>(|row| v.get(row).checked_abs().ok_or_else(overflow))
        }
        DataType::Int64 => {
            let v = args.lane::<Int64Array>(0)?;
            args.map::<Int64Type>(|row| v.get(row).checked_abs().ok_or_else(overflow))
        }
        _ => {
            let v = args.lane::<Decimal128Array>(0)?;
            args.map::<Decimal128Type>(|row| Ok(v.get(row).abs()))
        }
    }
}

pub(super) fn sign(args: &Args) -> Result<ArrayRef> {
    let v = args.lane::<Decimal128Array>(0)?;
    args.map::<Decimal128Type>(|row| Ok(v.get(row).signum()))
}

/// Digits behind the point as a divisor.
fn unit(args: &Args) -> i128 {
    pow10(u32::from(decimal(args.data_type(0)).1.unsigned_abs()))
}

pub(super) fn ceil(args: &Args) -> Result<ArrayRef> {
    let (v, unit) = (args.lane::<Decimal128Array>(0)?, unit(args));
    args.map::<Decimal128Type>(|row| Ok(-(-v.get(row)).div_euclid(unit)))
}

pub(super) fn floor(args: &Args) -> Result<ArrayRef> {
    let (v, unit) = (args.lane::<Decimal128Array>(0)?, unit(args));
    args.map::<Decimal128Type>(|row| Ok(v.get(row).div_euclid(unit)))
}

/// Half away from zero; a negative `n` rounds before the point.
pub(super) fn round(args: &Args) -> Result<ArrayRef> {
    cut(args, round_shift)
}

pub(super) fn trunc(args: &Args) -> Result<ArrayRef> {
    cut(args, |v, digits| if digits > 38 { 0 } else { v / pow10(digits) })
}

fn cut(args: &Args, f: impl Fn(i128, u32) -> i128) -> Result<ArrayRef> {
    let v = args.lane::<Decimal128Array>(0)?;
    let n = match args.operands.get(1) {
        Some(n) => Some(n.with(cast_array(&n.array, &SqlType::BigInt)?)),
        None => None,
    };
    let n = n.as_ref().map(|n| n.lane::<Int64Array>()).transpose()?;
    let from = decimal(args.data_type(0)).1;
    let (precision, scale) = decimal(&args.out);
    args.map::<Decimal128Type>(|row| {
        let n = n.as_ref().map_or(0, |n| n.get(row).clamp(-99, 99));
        let drop = (i64::from(from) - n).clamp(0, 99);
        let drop = u32::try_from(drop).unwrap_or(0);
        let kept = if drop == 0 { v.get(row) } else { f(v.get(row), drop) };
        let restored = if kept == 0 { Some(0) } else { kept.checked_mul(pow10(drop)) };
        restored.and_then(|v| fit(v, from, precision, scale)).ok_or_else(|| field_overflow(precision, scale))
    })
}

/// The quotient without its fraction.
pub(super) fn div(args: &Args) -> Result<ArrayRef> {
    let (a, b) = (args.lane::<Decimal128Array>(0)?, args.lane::<Decimal128Array>(1)?);
    let (sa, sb) = (decimal(args.data_type(0)).1, decimal(args.data_type(1)).1);
    args.map::<Decimal128Type>(|row| {
        let (x, y) = (a.get(row), b.get(row));
        if y == 0 {
            return Err(Error::new(SqlState::DIVISION_BY_ZERO, "division by zero"));
        }
        let up = |v: i128, by: i8| v.checked_mul(pow10(u32::try_from(by).unwrap_or(0)));
        match (up(x, sb.saturating_sub(sa).max(0)), up(y, sa.saturating_sub(sb).max(0))) {
            (Some(x), Some(y)) => Ok(x / y),
            _ => match divide(x, u32::from(sb.unsigned_abs()), y) {
                (z, FINE) => Ok(round_shift(z, u32::from(sa.unsigned_abs()))),
                (_, fault) => Err(error(fault)),
            },
        }
    })
}

/// Greatest common divisor, or the least common multiple.
pub(super) fn gcd(args: &Args, multiple: bool) -> Result<ArrayRef> {
    let t = SqlType::from_arrow(&args.out)?;
    let of = |a: i64, b: i64| -> i128 {
        let (x, y) = (i128::from(a).abs(), i128::from(b).abs());
        let (mut g, mut r) = (x, y);
        while r != 0 {
            (g, r) = (r, g % r);
        }
        match (multiple, g) {
            (false, g) => g,
            (true, 0) => 0,
            (true, g) => x / g * y,
        }
    };
    match &args.out {
        DataType::Int32 => {
            let (a, b) = (args.lane::<Int32Array>(0)?, args.lane::<Int32Array>(1)?);
            let f = |row| i32::try_from(of(i64::from(a.get(row)), i64::from(b.get(row)))).map_err(|_| out_of_range(&t));
            args.map::<Int32Type>(f)
        }
        _ => {
            let (a, b) = (args.lane::<Int64Array>(0)?, args.lane::<Int64Array>(1)?);
            args.map::<Int64Type>(|row| i64::try_from(of(a.get(row), b.get(row))).map_err(|_| out_of_range(&t)))
        }
    }
}
