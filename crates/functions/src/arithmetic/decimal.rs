//! numeric: exact, rounded half away from zero where the scale is reduced; 22003 when 38 digits are not enough.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Int16Type, Int32Type, Int64Type, i256};
use millstream_types::{Error, Result, SqlState, SqlType};

use super::checked::{self, FINE, Fault, OVERFLOW, ZERO, fault_error};
use super::types::{ArithmeticOp, digits};
use crate::cast::cast_array;
use crate::operand::Operand;

/// 10^38: the first magnitude that a numeric cannot hold.
pub(crate) const LIMIT: i128 = 10_i128.pow(38);

/// `10^exponent`, for exponents 0 to 38.
pub(crate) fn pow10(exponent: u32) -> i128 {
    10_i128.pow(exponent.min(38))
}

pub(super) fn evaluate(op: ArithmeticOp, l: &Operand, r: &Operand, rows: usize, result: &SqlType) -> Result<ArrayRef> {
    let (ld, rd) = (precision_and_scale(l)?, precision_and_scale(r)?);
    let out = result.to_arrow();
    let &DataType::Decimal128(_, scale) = &out else { return Err(Error::internal("numeric result expected")) };
    let scale = i16::from(scale);
    match op {
        ArithmeticOp::Mul => multiply(l, r, rows, (ld, rd), (&out, scale)),
        ArithmeticOp::Add | ArithmeticOp::Sub | ArithmeticOp::Mod => {
            let (l, r) = (unscaled(l)?, unscaled(r)?);
            let (a, b) = (factor(scale - ld.1), factor(scale - rd.1));
            let pair = (&l, &r);
            match op {
                ArithmeticOp::Add => decimals(pair, rows, &out, |x, y| sum(x, a, y, b, i128::overflowing_add)),
                ArithmeticOp::Sub => decimals(pair, rows, &out, |x, y| sum(x, a, y, b, i128::overflowing_sub)),
                _ => decimals(pair, rows, &out, |x, y| if y == 0 { (0, ZERO) } else { sum(x, a, y, b, |x, y| (x.wrapping_rem(y), false)) }),
            }
        }
        ArithmeticOp::Div => {
            let (l, r) = (unscaled(l)?, unscaled(r)?);
            let shift = u32::try_from(scale - ld.1 + rd.1).unwrap_or(0);
            decimals((&l, &r), rows, &out, |x, y| quotient(x, shift, y))
        }
        ArithmeticOp::Neg => decimals((&unscaled(l)?, &unscaled(r)?), rows, &out, |x, _| (-x, FINE)),
        ArithmeticOp::Pow => power(l, r, rows, result),
    }
}

fn factor(shift: i16) -> i128 {
    pow10(u32::try_from(shift).unwrap_or(0))
}

fn precision_and_scale(o: &Operand) -> Result<(i16, i16)> {
    digits(&SqlType::from_arrow(o.data_type())?).ok_or_else(|| Error::internal("numeric operand expected"))
}

/// An integer operand as its digits in a Decimal128 array of scale 0.
fn unscaled(o: &Operand) -> Result<Operand> {
    let values = match o.data_type() {
        DataType::Int16 => o.array.as_primitive::<Int16Type>().unary::<_, Decimal128Type>(i128::from),
        DataType::Int32 => o.array.as_primitive::<Int32Type>().unary::<_, Decimal128Type>(i128::from),
        DataType::Int64 => o.array.as_primitive::<Int64Type>().unary::<_, Decimal128Type>(i128::from),
        _ => return Ok(o.clone()),
    };
    Ok(o.with(Arc::new(values)))
}

fn decimals(pair: (&Operand, &Operand), rows: usize, out: &DataType, f: impl Fn(i128, i128) -> (i128, Fault)) -> Result<ArrayRef> {
    checked::binary::<Decimal128Type, Decimal128Type, Decimal128Type>(pair, rows, out, f, error)
}

pub(crate) fn error(fault: Fault) -> Error {
    fault_error(fault, SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
}

/// `z`, unless it has more than 38 digits.
#[inline(always)]
pub(crate) fn bounded(z: i128, overflow: bool) -> (i128, Fault) {
    (z, if overflow || z >= LIMIT || z <= -LIMIT { OVERFLOW } else { FINE })
}

#[inline(always)]
fn sum(x: i128, a: i128, y: i128, b: i128, f: impl Fn(i128, i128) -> (i128, bool)) -> (i128, Fault) {
    let (x, o1) = if a == 1 { (x, false) } else { x.overflowing_mul(a) };
    let (y, o2) = if b == 1 { (y, false) } else { y.overflowing_mul(b) };
    let (z, o3) = f(x, y);
    bounded(z, o1 || o2 || o3)
}

fn multiply(
    l: &Operand,
    r: &Operand,
    rows: usize,
    ((p1, s1), (p2, s2)): ((i16, i16), (i16, i16)),
    (out, scale): (&DataType, i16),
) -> Result<ArrayRef> {
    if p1 + p2 > 38 || scale != s1 + s2 {
        let cut = u32::try_from(s1 + s2 - scale).unwrap_or(0);
        return decimals((&unscaled(l)?, &unscaled(r)?), rows, out, |x, y| product(x, y, cut));
    }
    // The digits always fit: no check. An integer column is read as it is.
    let integer = |o: &Operand| o.data_type().is_integer();
    match (integer(l), integer(r)) {
        (true, false) => mixed(l, r, rows, out),
        (false, true) => mixed(r, l, rows, out),
        _ => decimals((&unscaled(l)?, &unscaled(r)?), rows, out, |x, y| (x.wrapping_mul(y), FINE)),
    }
}

fn mixed(integer: &Operand, numeric: &Operand, rows: usize, out: &DataType) -> Result<ArrayRef> {
    let integer = integer.with(cast(&integer.array, &DataType::Int64)?);
    let f = |x: i64, y: i128| (i128::from(x).wrapping_mul(y), FINE);
    checked::binary::<Int64Type, Decimal128Type, Decimal128Type>((&integer, numeric), rows, out, f, error)
}

/// `x * y / 10^cut`, rounded.
pub(crate) fn product(x: i128, y: i128, cut: u32) -> (i128, Fault) {
    match x.checked_mul(y) {
        Some(z) => bounded(round_shift(z, cut), false),
        None => {
            let wide = i256::from_i128(x).wrapping_mul(i256::from_i128(y));
            narrow(wide_div(wide, i256::from_i128(pow10(cut))))
        }
    }
}

/// `x * 10^shift / y`, rounded.
pub(crate) fn quotient(x: i128, shift: u32, y: i128) -> (i128, Fault) {
    if y == 0 {
        return (0, ZERO);
    }
    if shift <= 38
        && let Some(scaled) = x.checked_mul(pow10(shift))
    {
        return bounded(div_round(scaled, y), false);
    }
    let mut wide = i256::from_i128(x).wrapping_mul(i256::from_i128(pow10(shift)));
    if shift > 38 {
        match wide.checked_mul(i256::from_i128(pow10(shift - 38))) {
            Some(more) => wide = more,
            None => return (0, OVERFLOW),
        }
    }
    narrow(wide_div(wide, i256::from_i128(y)))
}

fn narrow(z: i256) -> (i128, Fault) {
    z.to_i128().map_or((0, OVERFLOW), |z| bounded(z, false))
}

/// Rounds half away from zero.
fn wide_div(x: i256, y: i256) -> i256 {
    let (q, rem) = (x.wrapping_div(y), x.wrapping_rem(y));
    let twice = rem.wrapping_abs().wrapping_add(rem.wrapping_abs());
    if twice < y.wrapping_abs() {
        return q;
    }
    let negative = (x < i256::ZERO) != (y < i256::ZERO);
    if negative { q.wrapping_sub(i256::ONE) } else { q.wrapping_add(i256::ONE) }
}

/// `x / y`, rounded half away from zero; `y` is not 0.
pub(crate) fn div_round(x: i128, y: i128) -> i128 {
    let (q, rem) = (x / y, x % y);
    if rem.unsigned_abs() >= y.unsigned_abs() - rem.unsigned_abs() && rem != 0 { if (x < 0) == (y < 0) { q + 1 } else { q - 1 } } else { q }
}

/// `x / 10^cut`, rounded half away from zero.
pub(crate) fn round_shift(x: i128, cut: u32) -> i128 {
    match cut {
        0 => x,
        1..=38 => div_round(x, pow10(cut)),
        _ => 0,
    }
}

/// Powers go through double precision: 15 digits are exact.
fn power(l: &Operand, r: &Operand, rows: usize, result: &SqlType) -> Result<ArrayRef> {
    let double = super::float::evaluate(ArithmeticOp::Pow, l, r, rows, &SqlType::Double)?;
    cast_array(&double, result)
}
