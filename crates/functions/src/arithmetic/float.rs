//! real and double precision: finite operands never give an infinity or silently become zero.

use arrow::array::ArrayRef;
use arrow::datatypes::{ArrowPrimitiveType, Float32Type, Float64Type};
use millstream_types::{Error, Result, SqlState, SqlType};

use super::checked::{self, FINE, Fault, OVERFLOW, UNDERFLOW, ZERO, fault_error};
use super::types::ArithmeticOp;
use crate::cast::cast_array;
use crate::operand::Operand;

pub(super) fn evaluate(op: ArithmeticOp, l: &Operand, r: &Operand, rows: usize, result: &SqlType) -> Result<ArrayRef> {
    let (l, r) = (l.with(cast_array(&l.array, result)?), r.with(cast_array(&r.array, result)?));
    if op == ArithmeticOp::Pow {
        let out = result.to_arrow();
        return checked::binary::<Float64Type, Float64Type, Float64Type>((&l, &r), rows, &out, power, power_error);
    }
    match result {
        SqlType::Real => typed::<Float32Type>(op, &l, &r, rows, result),
        _ => typed::<Float64Type>(op, &l, &r, rows, result),
    }
}

trait Float: Copy {
    fn apply(op: ArithmeticOp, a: Self, b: Self) -> (Self, Fault);
}

macro_rules! float {
    ($($t:ty),*) => {$(
        impl Float for $t {
            #[inline(always)]
            fn apply(op: ArithmeticOp, a: Self, b: Self) -> (Self, Fault) {
                let z = match op {
                    ArithmeticOp::Add => a + b,
                    ArithmeticOp::Sub => a - b,
                    ArithmeticOp::Mul => a * b,
                    ArithmeticOp::Neg => return (-a, FINE),
                    _ if b == 0.0 && !a.is_nan() => return (0.0, ZERO),
                    _ => a / b,
                };
                let fault = if z.is_infinite() && a.is_finite() && b.is_finite() {
                    OVERFLOW
                } else if z == 0.0 && a != 0.0 && matches!(op, ArithmeticOp::Mul | ArithmeticOp::Div) && b != 0.0 && b.is_finite() {
                    UNDERFLOW
                } else {
                    FINE
                };
                (z, fault)
            }
        }
    )*};
}
float!(f32, f64);

fn typed<T>(op: ArithmeticOp, l: &Operand, r: &Operand, rows: usize, result: &SqlType) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType,
    T::Native: Float,
{
    let out = result.to_arrow();
    match op {
        ArithmeticOp::Add => checked::binary::<T, T, T>((l, r), rows, &out, |a, b| T::Native::apply(ArithmeticOp::Add, a, b), error),
        ArithmeticOp::Mul => checked::binary::<T, T, T>((l, r), rows, &out, |a, b| T::Native::apply(ArithmeticOp::Mul, a, b), error),
        other => checked::binary::<T, T, T>((l, r), rows, &out, |a, b| T::Native::apply(other, a, b), error),
    }
}

fn error(fault: Fault) -> Error {
    fault_error(fault, SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow")
}

/// `a ^ b`; 0 to a negative power is marked [`ZERO`], a negative base with a broken exponent both faults.
pub(crate) fn power(a: f64, b: f64) -> (f64, Fault) {
    if a == 0.0 && b < 0.0 {
        return (0.0, ZERO);
    }
    if a < 0.0 && a.is_finite() && b.is_finite() && b.fract() != 0.0 {
        return (0.0, ZERO | OVERFLOW);
    }
    let z = a.powf(b);
    if z.is_infinite() && a.is_finite() && b.is_finite() {
        return (z, OVERFLOW);
    }
    (z, if z == 0.0 && a != 0.0 && a.is_finite() && b.is_finite() { UNDERFLOW } else { FINE })
}

/// 2201F for what has no power, as PostgreSQL.
pub(crate) fn power_error(fault: Fault) -> Error {
    let state = SqlState::from_code("2201F").unwrap_or(SqlState::DATA_EXCEPTION);
    match fault {
        ZERO => Error::new(state, "zero raised to a negative power is undefined"),
        f if f == ZERO | OVERFLOW => Error::new(state, "a negative number raised to a non-integer power yields a complex result"),
        other => error(other),
    }
}
