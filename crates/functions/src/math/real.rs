//! Functions of double precision, with PostgreSQL's errors where they have no value.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, Float64Array};
use arrow::datatypes::{Float32Type, Float64Type};
use millstream_types::{Error, Result, SqlState, SqlType};

use crate::arithmetic::{ArithmeticOp, apply};
use crate::cast::number::out_of_range;
use crate::operand::Args;

/// Any value is fine.
pub(super) fn plain(args: &Args, f: impl Fn(f64) -> f64) -> Result<ArrayRef> {
    let v = args.lane::<Float64Array>(0)?;
    args.map::<Float64Type>(|row| Ok(f(v.get(row))))
}

/// A finite argument gives a finite result.
pub(super) fn finite(args: &Args, f: impl Fn(f64) -> f64) -> Result<ArrayRef> {
    let v = args.lane::<Float64Array>(0)?;
    args.map::<Float64Type>(|row| match f(v.get(row)) {
        z if z.is_infinite() && v.get(row).is_finite() => Err(out_of_range(&SqlType::Double)),
        0.0 if v.get(row).is_finite() && v.get(row) != 0.0 => {
            Err(Error::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow"))
        }
        z => Ok(z),
    })
}

pub(super) fn abs4(args: &Args) -> Result<ArrayRef> {
    let v = args.lane::<Float32Array>(0)?;
    args.map::<Float32Type>(|row| Ok(v.get(row).abs()))
}

pub(super) fn sign(v: f64) -> f64 {
    if v > 0.0 {
        1.0
    } else if v < 0.0 {
        -1.0
    } else {
        v.abs()
    }
}

fn argument(code: &str, message: &str) -> Error {
    Error::new(SqlState::from_code(code).unwrap_or(SqlState::DATA_EXCEPTION), message)
}

pub(super) fn sqrt(args: &Args) -> Result<ArrayRef> {
    let v = args.lane::<Float64Array>(0)?;
    args.map::<Float64Type>(|row| match v.get(row) {
        v if v < 0.0 => Err(argument("2201F", "cannot take square root of a negative number")),
        v => Ok(v.sqrt()),
    })
}

fn logarithmic(v: f64, f: impl Fn(f64) -> f64) -> Result<f64> {
    if v == 0.0 {
        return Err(argument("2201E", "cannot take logarithm of zero"));
    }
    if v < 0.0 {
        return Err(argument("2201E", "cannot take logarithm of a negative number"));
    }
    Ok(f(v))
}

pub(super) fn logarithm(args: &Args, f: impl Fn(f64) -> f64) -> Result<ArrayRef> {
    let v = args.lane::<Float64Array>(0)?;
    args.map::<Float64Type>(|row| logarithmic(v.get(row), &f))
}

/// `log(base, x)`.
pub(super) fn log(args: &Args) -> Result<ArrayRef> {
    let (base, v) = (args.lane::<Float64Array>(0)?, args.lane::<Float64Array>(1)?);
    args.map::<Float64Type>(|row| {
        let base = logarithmic(base.get(row), f64::ln)?;
        if base == 0.0 {
            return Err(Error::new(SqlState::DIVISION_BY_ZERO, "division by zero"));
        }
        Ok(logarithmic(v.get(row), f64::ln)? / base)
    })
}

pub(super) fn power(args: &Args) -> Result<ArrayRef> {
    apply(ArithmeticOp::Pow, args)
}

pub(super) fn pi(args: &Args) -> Result<ArrayRef> {
    Ok(Arc::new(Float64Array::from(vec![std::f64::consts::PI; args.rows])))
}

fn out_of_domain() -> Error {
    Error::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "input is out of range")
}

/// Infinity has no angle.
pub(super) fn angle(args: &Args, f: impl Fn(f64) -> f64) -> Result<ArrayRef> {
    let v = args.lane::<Float64Array>(0)?;
    args.map::<Float64Type>(|row| if v.get(row).is_infinite() { Err(out_of_domain()) } else { Ok(f(v.get(row))) })
}

/// For arguments from -1 to 1.
pub(super) fn within_one(args: &Args, f: impl Fn(f64) -> f64) -> Result<ArrayRef> {
    let v = args.lane::<Float64Array>(0)?;
    args.map::<Float64Type>(|row| if v.get(row).abs() > 1.0 { Err(out_of_domain()) } else { Ok(f(v.get(row))) })
}

pub(super) fn acosh(args: &Args) -> Result<ArrayRef> {
    let v = args.lane::<Float64Array>(0)?;
    args.map::<Float64Type>(|row| if v.get(row) < 1.0 { Err(out_of_domain()) } else { Ok(v.get(row).acosh()) })
}

pub(super) fn atan2(args: &Args) -> Result<ArrayRef> {
    let (y, x) = (args.lane::<Float64Array>(0)?, args.lane::<Float64Array>(1)?);
    args.map::<Float64Type>(|row| Ok(y.get(row).atan2(x.get(row))))
}
