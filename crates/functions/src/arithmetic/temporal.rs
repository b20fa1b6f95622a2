//! date, time, timestamp, timestamp with time zone and interval.

use arrow::array::ArrayRef;
use arrow::datatypes::{
    Date32Type, Float64Type, Int32Type, Int64Type, IntervalMonthDayNanoType, Time64MicrosecondType, TimestampMicrosecondType,
};
use millstream_types::{Error, Result, SqlState, SqlType};

use super::checked::{self, FINE, Fault, OVERFLOW, fault_error};
use super::interval as iv;
use super::types::{ArithmeticOp, result_type};
use crate::calendar::{DAY, FIRST_DAY, LAST_DAY};
use crate::cast::cast_array;
use crate::operand::Operand;

type Pair<'a> = (&'a Operand, &'a Operand);

pub(super) fn evaluate(op: ArithmeticOp, l: &Operand, r: &Operand, rows: usize) -> Result<ArrayRef> {
    use ArithmeticOp as O;
    use SqlType as T;
    let (lt, rt) = (SqlType::from_arrow(l.data_type())?, SqlType::from_arrow(r.data_type())?);
    let result = if op == O::Neg { T::Interval } else { result_type(op, &[lt.clone(), rt.clone()])? };
    let to = |o: &Operand, t: &SqlType| -> Result<Operand> { Ok(o.with(cast_array(&o.array, t)?)) };
    match (op, lt, rt) {
        (O::Neg, ..) => intervals((l, r), rows, |a, _| iv::neg(a)),
        (O::Add, T::Date, n) if n.is_integer() => date_days(l, &to(r, &T::BigInt)?, rows, 1),
        (O::Sub, T::Date, n) if n.is_integer() => date_days(l, &to(r, &T::BigInt)?, rows, -1),
        (O::Add, n, T::Date) if n.is_integer() => date_days(r, &to(l, &T::BigInt)?, rows, 1),
        (O::Sub, T::Date, T::Date) => checked::binary::<Date32Type, Date32Type, Int32Type>(
            (l, r),
            rows,
            &T::Integer.to_arrow(),
            |a, b| (a.wrapping_sub(b), FINE),
            timestamp_error,
        ),
        (O::Add, T::Date, T::Time) => date_time((&to(l, &T::Timestamp)?, r), rows),
        (O::Add, T::Time, T::Date) => date_time((&to(r, &T::Timestamp)?, l), rows),
        (O::Add, T::Time, T::Interval) => time((l, r), rows, |t, i| t + i),
        (O::Add, T::Interval, T::Time) => time((r, l), rows, |t, i| t + i),
        (O::Sub, T::Time, T::Interval) => time((l, r), rows, |t, i| t - i),
        (O::Sub, T::Time, T::Time) => checked::binary::<Time64MicrosecondType, Time64MicrosecondType, IntervalMonthDayNanoType>(
            (l, r),
            rows,
            &T::Interval.to_arrow(),
            |a, b| (iv::interval(0, 0, (a - b) * 1_000), FINE),
            interval_error,
        ),
        (O::Add, T::Interval, T::Interval) => intervals((l, r), rows, iv::add),
        (O::Sub, T::Interval, T::Interval) => intervals((l, r), rows, iv::sub),
        (O::Mul, T::Interval, _) => scaled((l, &to(r, &T::Double)?), rows, iv::scale),
        (O::Mul, _, T::Interval) => scaled((r, &to(l, &T::Double)?), rows, iv::scale),
        (O::Div, T::Interval, _) => scaled((l, &to(r, &T::Double)?), rows, iv::divide),
        (O::Add, _, T::Interval) => shifted((&to(l, &result)?, r), rows, &result, 1),
        (O::Add, T::Interval, _) => shifted((&to(r, &result)?, l), rows, &result, 1),
        (O::Sub, _, T::Interval) => shifted((&to(l, &result)?, r), rows, &result, -1),
        _ => {
            let (l, r) = (to(l, &T::Timestamp)?, to(r, &T::Timestamp)?);
            checked::binary::<TimestampMicrosecondType, TimestampMicrosecondType, IntervalMonthDayNanoType>(
                (&l, &r),
                rows,
                &result.to_arrow(),
                iv::between,
                interval_error,
            )
        }
    }
}

fn timestamp_error(fault: Fault) -> Error {
    fault_error(fault, SqlState::DATETIME_FIELD_OVERFLOW, "timestamp out of range")
}

pub(crate) fn interval_error(fault: Fault) -> Error {
    fault_error(fault, SqlState::DATETIME_FIELD_OVERFLOW, "interval out of range")
}

fn date_days(date: &Operand, days: &Operand, rows: usize, sign: i64) -> Result<ArrayRef> {
    let f = |d: i32, n: i64| {
        let moved = n.checked_mul(sign).and_then(|n| n.checked_add(i64::from(d)));
        match moved.filter(|d| (FIRST_DAY..=LAST_DAY).contains(d)).and_then(|d| i32::try_from(d).ok()) {
            Some(d) => (d, FINE),
            None => (0, OVERFLOW),
        }
    };
    let error = |fault| fault_error(fault, SqlState::DATETIME_FIELD_OVERFLOW, "date out of range");
    checked::binary::<Date32Type, Int64Type, Date32Type>((date, days), rows, &SqlType::Date.to_arrow(), f, error)
}

fn date_time(pair: Pair<'_>, rows: usize) -> Result<ArrayRef> {
    let f = |d: i64, t: i64| iv::in_range(d.checked_add(t));
    let out = SqlType::Timestamp.to_arrow();
    checked::binary::<TimestampMicrosecondType, Time64MicrosecondType, TimestampMicrosecondType>(pair, rows, &out, f, timestamp_error)
}

fn time(pair: Pair<'_>, rows: usize, f: impl Fn(i64, i64) -> i64) -> Result<ArrayRef> {
    let f = |t, i| (f(t, iv::micros(i) % DAY).rem_euclid(DAY), FINE);
    let out = SqlType::Time.to_arrow();
    checked::binary::<Time64MicrosecondType, IntervalMonthDayNanoType, Time64MicrosecondType>(pair, rows, &out, f, interval_error)
}

type Interval = arrow::datatypes::IntervalMonthDayNano;

fn intervals(pair: Pair<'_>, rows: usize, f: impl Fn(Interval, Interval) -> (Interval, Fault)) -> Result<ArrayRef> {
    let out = SqlType::Interval.to_arrow();
    checked::binary::<IntervalMonthDayNanoType, IntervalMonthDayNanoType, IntervalMonthDayNanoType>(pair, rows, &out, f, interval_error)
}

fn scaled(pair: Pair<'_>, rows: usize, f: impl Fn(Interval, f64) -> (Interval, Fault)) -> Result<ArrayRef> {
    let out = SqlType::Interval.to_arrow();
    checked::binary::<IntervalMonthDayNanoType, Float64Type, IntervalMonthDayNanoType>(pair, rows, &out, f, interval_error)
}

fn shifted(pair: Pair<'_>, rows: usize, result: &SqlType, sign: i32) -> Result<ArrayRef> {
    let f = |t: i64, by: Interval| {
        let (by, fault) = if sign < 0 { iv::neg(by) } else { (by, FINE) };
        let (t, other) = iv::shift(t, by);
        (t, fault | other)
    };
    let out = result.to_arrow();
    checked::binary::<TimestampMicrosecondType, IntervalMonthDayNanoType, TimestampMicrosecondType>(pair, rows, &out, f, timestamp_error)
}
