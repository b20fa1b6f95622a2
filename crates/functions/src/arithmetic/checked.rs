//! Runs a function of two values over two operands: a plain loop that collects faults in one byte, and looks for the faulty row only if
//! there is one. Rows with a NULL never count.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType;
use millstream_types::{Error, Result, SqlState};

use crate::operand::Operand;

/// What went wrong in a row; faults of a batch are OR-ed.
pub(crate) type Fault = u8;
/// Nothing.
pub(crate) const FINE: Fault = 0;
/// The result does not fit.
pub(crate) const OVERFLOW: Fault = 1;
/// Division by zero.
pub(crate) const ZERO: Fault = 2;
/// A float became 0.
pub(crate) const UNDERFLOW: Fault = 4;

/// The error of a fault; `overflow` is the message of [`OVERFLOW`].
pub(crate) fn fault_error(fault: Fault, state: SqlState, overflow: &str) -> Error {
    if fault & ZERO != 0 {
        Error::new(SqlState::DIVISION_BY_ZERO, "division by zero")
    } else if fault & OVERFLOW != 0 {
        Error::new(state, overflow)
    } else {
        Error::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow")
    }
}

fn nulls(l: &Operand, r: &Operand) -> Option<NullBuffer> {
    let of = |o: &Operand| if o.scalar { None } else { o.array.nulls().cloned() };
    NullBuffer::union(of(l).as_ref(), of(r).as_ref())
}

/// `f` over all rows. Scalars must not be NULL.
pub(crate) fn binary<L, R, O>(
    (l, r): (&Operand, &Operand),
    rows: usize,
    out: &DataType,
    f: impl Fn(L::Native, R::Native) -> (O::Native, Fault),
    error: impl Fn(Fault) -> Error,
) -> Result<ArrayRef>
where
    L: ArrowPrimitiveType,
    R: ArrowPrimitiveType,
    O: ArrowPrimitiveType,
{
    let (left, right) = (l.lane::<PrimitiveArray<L>>()?, r.lane::<PrimitiveArray<R>>()?);
    let (a, b) = (left.array.values(), right.array.values());
    let mut faults = FINE;
    let mut one = |x: L::Native, y: R::Native| {
        let (z, fault) = f(x, y);
        faults |= fault;
        z
    };
    let values: Vec<O::Native> = match (l.scalar, r.scalar) {
        (false, false) => a.iter().zip(b.iter()).map(|(x, y)| one(*x, *y)).collect(),
        (false, true) => a.iter().map(|x| one(*x, b[0])).collect(),
        (true, false) => b.iter().map(|y| one(a[0], *y)).collect(),
        (true, true) => {
            let z = one(a[0], b[0]);
            vec![z; rows]
        }
    };
    let validity = nulls(l, r);
    if faults != FINE {
        for row in 0..values.len() {
            if validity.as_ref().is_none_or(|v| v.is_valid(row)) {
                let (_, fault) = f(a[row * left.stride], b[row * right.stride]);
                if fault != FINE {
                    return Err(error(fault));
                }
            }
        }
    }
    Ok(Arc::new(PrimitiveArray::<O>::new(values.into(), validity).with_data_type(out.clone())))
}

/// `f` over one operand.
pub(crate) fn unary<I, O>(
    input: &Operand,
    rows: usize,
    out: &DataType,
    f: impl Fn(I::Native) -> (O::Native, Fault),
    error: impl Fn(Fault) -> Error,
) -> Result<ArrayRef>
where
    I: ArrowPrimitiveType,
    O: ArrowPrimitiveType,
{
    binary::<I, I, O>((input, input), rows, out, |x, _| f(x), error)
}
