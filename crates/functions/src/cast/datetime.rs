//! Between dates and times; time zones are UTC.

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{Date32Type, IntervalMonthDayNanoType, Time64MicrosecondType, TimestampMicrosecondType};
use millstream_types::{Error, Result, SqlState, SqlType};
use std::sync::Arc;

use crate::arithmetic::checked::{FINE, OVERFLOW, unary};
use crate::arithmetic::interval::{interval, micros};
use crate::calendar::DAY;
use crate::operand::Operand;

pub(super) fn cast(array: &ArrayRef, from: &SqlType, to: &SqlType) -> Result<ArrayRef> {
    use SqlType as T;
    let (input, rows, out) = (Operand { array: Arc::clone(array), scalar: false }, array.len(), to.to_arrow());
    let error =
        |_| Error::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("{} out of range", if *to == T::Date { "date" } else { "timestamp" }));
    match (from, to) {
        (T::Date, _) => unary::<Date32Type, TimestampMicrosecondType>(
            &input,
            rows,
            &out,
            |d| i64::from(d).checked_mul(DAY).map_or((0, OVERFLOW), |t| (t, FINE)),
            error,
        ),
        (T::Timestamp | T::TimestampTz, T::Date) => unary::<TimestampMicrosecondType, Date32Type>(
            &input,
            rows,
            &out,
            |t| i32::try_from(t.div_euclid(DAY)).map_or((0, OVERFLOW), |d| (d, FINE)),
            error,
        ),
        (T::Timestamp | T::TimestampTz, T::Time) => {
            unary::<TimestampMicrosecondType, Time64MicrosecondType>(&input, rows, &out, |t| (t.rem_euclid(DAY), FINE), error)
        }
        (T::Timestamp | T::TimestampTz, _) => {
            unary::<TimestampMicrosecondType, TimestampMicrosecondType>(&input, rows, &out, |t| (t, FINE), error)
        }
        (T::Time, _) => {
            unary::<Time64MicrosecondType, IntervalMonthDayNanoType>(&input, rows, &out, |t| (interval(0, 0, t * 1_000), FINE), error)
        }
        (T::Interval, T::Time) => {
            unary::<IntervalMonthDayNanoType, Time64MicrosecondType>(&input, rows, &out, |i| (micros(i).rem_euclid(DAY), FINE), error)
        }
        (from, to) => Err(Error::new(SqlState::CANNOT_COERCE, format!("cannot cast type {from} to {to}"))),
    }
}
