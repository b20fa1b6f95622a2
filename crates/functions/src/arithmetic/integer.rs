//! smallint, integer, bigint: truncating division, 22003 with the type's name on overflow.

use arrow::array::ArrayRef;
use arrow::compute::cast;
use arrow::datatypes::{ArrowPrimitiveType, Int16Type, Int32Type, Int64Type};
use millstream_types::{Error, Result, SqlState, SqlType};

use super::checked::{self, FINE, Fault, OVERFLOW, ZERO, fault_error};
use super::types::ArithmeticOp;
use crate::operand::Operand;

/// What the families need of a machine integer.
trait Integer: Copy {
    fn apply(op: ArithmeticOp, a: Self, b: Self) -> (Self, Fault);
}

macro_rules! integer {
    ($($t:ty),*) => {$(
        impl Integer for $t {
            #[inline(always)]
            fn apply(op: ArithmeticOp, a: Self, b: Self) -> (Self, Fault) {
                let (z, overflow) = match op {
                    ArithmeticOp::Add => a.overflowing_add(b),
                    ArithmeticOp::Sub => a.overflowing_sub(b),
                    ArithmeticOp::Mul => a.overflowing_mul(b),
                    ArithmeticOp::Neg => a.overflowing_neg(),
                    ArithmeticOp::Div | ArithmeticOp::Mod | ArithmeticOp::Pow if b == 0 => return (0, ZERO),
                    ArithmeticOp::Div | ArithmeticOp::Pow => a.overflowing_div(b),
                    ArithmeticOp::Mod => (a.wrapping_rem(b), false),
                };
                (z, if overflow { OVERFLOW } else { FINE })
            }
        }
    )*};
}
integer!(i16, i32, i64);

pub(super) fn evaluate(op: ArithmeticOp, l: &Operand, r: &Operand, rows: usize, result: &SqlType) -> Result<ArrayRef> {
    match result {
        SqlType::SmallInt => typed::<Int16Type>(op, l, r, rows, result),
        SqlType::Integer => typed::<Int32Type>(op, l, r, rows, result),
        _ => typed::<Int64Type>(op, l, r, rows, result),
    }
}

fn typed<T>(op: ArithmeticOp, l: &Operand, r: &Operand, rows: usize, result: &SqlType) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType,
    T::Native: Integer,
{
    let out = result.to_arrow();
    let (l, r) = (l.with(cast(&l.array, &out)?), r.with(cast(&r.array, &out)?));
    let error = |fault| out_of_range(fault, result);
    let pair = (&l, &r);
    // One loop per operator, so that each is vectorised.
    match op {
        ArithmeticOp::Add => checked::binary::<T, T, T>(pair, rows, &out, |a, b| T::Native::apply(ArithmeticOp::Add, a, b), error),
        ArithmeticOp::Sub => checked::binary::<T, T, T>(pair, rows, &out, |a, b| T::Native::apply(ArithmeticOp::Sub, a, b), error),
        ArithmeticOp::Mul => checked::binary::<T, T, T>(pair, rows, &out, |a, b| T::Native::apply(ArithmeticOp::Mul, a, b), error),
        other => checked::binary::<T, T, T>(pair, rows, &out, |a, b| T::Native::apply(other, a, b), error),
    }
}

fn out_of_range(fault: Fault, t: &SqlType) -> Error {
    fault_error(fault, SqlState::NUMERIC_VALUE_OUT_OF_RANGE, &format!("{t} out of range"))
}
