//! Between numbers: range checked; floats round half to even, numerics half away from zero.

use arrow::array::{ArrayRef, AsArray, BooleanArray};
use arrow::compute::cast as arrow_cast;
use arrow::datatypes::{ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type};
use millstream_types::{Error, Result, SqlState, SqlType};
use std::sync::Arc;

use super::number_text::decimal_from_text;
use crate::arithmetic::checked::{FINE, Fault, OVERFLOW, unary};
use crate::arithmetic::decimal::{pow10, round_shift};
use crate::operand::Operand;

pub(super) fn cast(array: &ArrayRef, from: &SqlType, to: &SqlType) -> Result<ArrayRef> {
    use SqlType as T;
    match (from, to) {
        (T::Boolean, _) => Ok(arrow_cast(array, &to.to_arrow())?),
        (_, T::Boolean) => {
            let ints = array.as_primitive::<Int32Type>();
            Ok(Arc::new(BooleanArray::from_unary(ints, |v| v != 0)))
        }
        (T::SmallInt, T::Integer | T::BigInt | T::Real | T::Double)
        | (T::Integer, T::BigInt | T::Real | T::Double)
        | (T::BigInt, T::Real | T::Double)
        | (T::Real, T::Double) => Ok(arrow_cast(array, &to.to_arrow())?),
        (T::Real | T::Double, T::SmallInt | T::Integer | T::BigInt) => float_to_integer(&arrow_cast(array, &T::Double.to_arrow())?, to),
        (T::Double, T::Real) => double_to_real(array),
        (T::Numeric { scale, .. }, T::SmallInt | T::Integer | T::BigInt) => {
            let cut = u32::from(scale.unsigned_abs());
            narrow::<Decimal128Type>(array, to, move |v| i64::try_from(round_shift(v, cut)).ok())
        }
        (T::Numeric { scale, .. }, T::Real | T::Double) => numeric_to_float(array, *scale, to),
        (T::Numeric { scale: from, .. }, T::Numeric { precision, scale }) => rescale(array, *from, *precision, *scale),
        (f, T::Numeric { precision, scale }) if f.is_integer() => {
            rescale(&arrow_cast(array, &arrow::datatypes::DataType::Decimal128(19, 0))?, 0, *precision, *scale)
        }
        (_, T::Numeric { precision, scale }) => float_to_numeric(array, from, *precision, *scale),
        _ => narrow::<Int64Type>(&arrow_cast(array, &T::BigInt.to_arrow())?, to, Some),
    }
}

fn input(array: &ArrayRef) -> Operand {
    Operand { array: Arc::clone(array), scalar: false }
}

fn one<I: ArrowPrimitiveType, O: ArrowPrimitiveType>(
    array: &ArrayRef,
    to: &SqlType,
    f: impl Fn(I::Native) -> Option<O::Native>,
) -> Result<ArrayRef> {
    let f = |v| f(v).map_or((O::Native::default(), OVERFLOW), |z| (z, FINE));
    unary::<I, O>(&input(array), array.len(), &to.to_arrow(), f, |_| out_of_range(to))
}

fn narrow<I: ArrowPrimitiveType>(array: &ArrayRef, to: &SqlType, f: impl Fn(I::Native) -> Option<i64>) -> Result<ArrayRef> {
    match to {
        SqlType::SmallInt => one::<I, Int16Type>(array, to, |v| f(v).and_then(|v| i16::try_from(v).ok())),
        SqlType::Integer => one::<I, Int32Type>(array, to, |v| f(v).and_then(|v| i32::try_from(v).ok())),
        _ => one::<I, Int64Type>(array, to, f),
    }
}

/// 22003 with the type's name.
pub(crate) fn out_of_range(to: &SqlType) -> Error {
    let message = match to {
        SqlType::Real | SqlType::Double => "value out of range: overflow".to_string(),
        t => format!("{t} out of range"),
    };
    Error::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, message)
}

/// A float as a bigint, rounded half to even.
#[expect(clippy::cast_possible_truncation, reason = "checked against the range")]
pub(crate) fn round_to_i64(v: f64) -> Option<i64> {
    let r = v.round_ties_even();
    (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&r).then_some(r as i64)
}

fn float_to_integer(array: &ArrayRef, to: &SqlType) -> Result<ArrayRef> {
    narrow::<Float64Type>(array, to, round_to_i64)
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is what the cast means")]
fn double_to_real(array: &ArrayRef) -> Result<ArrayRef> {
    let f = |v: f64| {
        let z = v as f32;
        let fault: Fault = if z.is_infinite() && v.is_finite() {
            1
        } else if z == 0.0 && v != 0.0 {
            4
        } else {
            0
        };
        (z, fault)
    };
    let error =
        |fault| crate::arithmetic::checked::fault_error(fault, SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow");
    unary::<Float64Type, Float32Type>(&input(array), array.len(), &SqlType::Real.to_arrow(), f, error)
}

/// The nearest double of a numeric.
pub(crate) fn numeric_as_f64(v: i128, scale: i8) -> f64 {
    if v.unsigned_abs() < (1 << 53) && scale <= 22 {
        // Both are exact doubles, so one division rounds once.
        return v as f64 / 10_f64.powi(i32::from(scale));
    }
    format!("{v}e{}", -i32::from(scale)).parse().unwrap_or(f64::NAN)
}

#[expect(clippy::cast_possible_truncation, reason = "38 digits fit a float's range; rounding is what the cast means")]
fn numeric_to_float(array: &ArrayRef, scale: i8, to: &SqlType) -> Result<ArrayRef> {
    match to {
        SqlType::Real => one::<Decimal128Type, Float32Type>(array, to, |v| Some(numeric_as_f64(v, scale) as f32)),
        _ => one::<Decimal128Type, Float64Type>(array, to, |v| Some(numeric_as_f64(v, scale))),
    }
}

/// `v` with another scale, `None` if it has more than `precision` digits then.
#[inline]
pub(crate) fn fit(v: i128, from: i8, precision: u8, scale: i8) -> Option<i128> {
    let shift = i16::from(scale) - i16::from(from);
    let moved =
        if shift >= 0 { v.checked_mul(pow10(u32::try_from(shift).ok()?))? } else { round_shift(v, u32::from(shift.unsigned_abs())) };
    (moved.unsigned_abs() < pow10(u32::from(precision)).unsigned_abs()).then_some(moved)
}

/// 22003 with the detail that PostgreSQL gives.
pub(crate) fn field_overflow(precision: u8, scale: i8) -> Error {
    let whole = i16::from(precision) - i16::from(scale);
    let bound = if whole == 0 { "1".to_string() } else { format!("10^{whole}") };
    Error::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
        .with_detail(format!("A field with precision {precision}, scale {scale} must round to an absolute value less than {bound}."))
}

fn rescale(array: &ArrayRef, from: i8, precision: u8, scale: i8) -> Result<ArrayRef> {
    let out = SqlType::Numeric { precision, scale }.to_arrow();
    let f = |v: i128| fit(v, from, precision, scale).map_or((0, OVERFLOW), |z| (z, FINE));
    unary::<Decimal128Type, Decimal128Type>(&input(array), array.len(), &out, f, |_| field_overflow(precision, scale))
}

/// Through the 15 (real: 6) significant digits that PostgreSQL takes.
fn float_to_numeric(array: &ArrayRef, from: &SqlType, precision: u8, scale: i8) -> Result<ArrayRef> {
    let digits = if *from == SqlType::Real { 5 } else { 14 };
    let doubles = arrow_cast(array, &SqlType::Double.to_arrow())?;
    let doubles = doubles.as_primitive::<Float64Type>();
    let out = doubles.iter().map(|v| v.map(|v| float_as_decimal(v, digits, precision, scale)).transpose());
    let values = out.collect::<Result<arrow::array::Decimal128Array>>()?;
    Ok(Arc::new(values.with_data_type(SqlType::Numeric { precision, scale }.to_arrow())))
}

fn float_as_decimal(v: f64, digits: usize, precision: u8, scale: i8) -> Result<i128> {
    if !v.is_finite() {
        let name = if v.is_nan() { "NaN" } else { "infinity" };
        return Err(Error::unsupported(format!("{name} as a numeric")));
    }
    decimal_from_text(&format!("{v:.digits$e}"), precision, scale).ok_or_else(|| field_overflow(precision, scale))?
}
