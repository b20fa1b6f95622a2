//! Intervals by their three parts, as in PostgreSQL's `timestamp.c`.

use arrow::datatypes::IntervalMonthDayNano;

use super::checked::{FINE, Fault, OVERFLOW, ZERO};
use crate::calendar::{self, DAY};

/// An interval of parts.
pub(crate) fn interval(months: i32, days: i32, nanoseconds: i64) -> IntervalMonthDayNano {
    IntervalMonthDayNano { months, days, nanoseconds }
}

/// Micros of its time part.
pub(crate) fn micros(i: IntervalMonthDayNano) -> i64 {
    i.nanoseconds / 1_000
}

const NOTHING: IntervalMonthDayNano = IntervalMonthDayNano { months: 0, days: 0, nanoseconds: 0 };

fn parts(months: Option<i32>, days: Option<i32>, nanos: Option<i64>) -> (IntervalMonthDayNano, Fault) {
    match (months, days, nanos) {
        (Some(m), Some(d), Some(n)) => (interval(m, d, n), FINE),
        _ => (NOTHING, OVERFLOW),
    }
}

pub(crate) fn add(a: IntervalMonthDayNano, b: IntervalMonthDayNano) -> (IntervalMonthDayNano, Fault) {
    parts(a.months.checked_add(b.months), a.days.checked_add(b.days), a.nanoseconds.checked_add(b.nanoseconds))
}

pub(crate) fn sub(a: IntervalMonthDayNano, b: IntervalMonthDayNano) -> (IntervalMonthDayNano, Fault) {
    parts(a.months.checked_sub(b.months), a.days.checked_sub(b.days), a.nanoseconds.checked_sub(b.nanoseconds))
}

pub(crate) fn neg(a: IntervalMonthDayNano) -> (IntervalMonthDayNano, Fault) {
    sub(NOTHING, a)
}

/// A float as a whole number, if it fits.
fn whole(v: f64, limit: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "checked against the limit")]
    (v.abs() < limit).then_some(v as i64)
}

/// Times a factor: fractions of months go to days (30 each), fractions of days to time.
pub(crate) fn scale(a: IntervalMonthDayNano, factor: f64) -> (IntervalMonthDayNano, Fault) {
    each_part(a, |v| v * factor)
}

/// Divided by a number, with the same cascade.
pub(crate) fn divide(a: IntervalMonthDayNano, by: f64) -> (IntervalMonthDayNano, Fault) {
    if by == 0.0 { (NOTHING, ZERO) } else { each_part(a, |v| v / by) }
}

fn each_part(a: IntervalMonthDayNano, f: impl Fn(f64) -> f64) -> (IntervalMonthDayNano, Fault) {
    let round6 = |v: f64| (v * 1e6).round_ties_even() / 1e6;
    let (months, days) = (f(f64::from(a.months)), f(f64::from(a.days)));
    let month_days = round6((months - months.trunc()) * 30.0);
    let mut seconds = round6((days - days.trunc() + month_days - month_days.trunc()) * 86_400.0);
    let mut extra_days = month_days.trunc();
    if seconds.abs() >= 86_400.0 {
        let more = (seconds / 86_400.0).trunc();
        extra_days += more;
        seconds -= more * 86_400.0;
    }
    let time = (f(micros(a) as f64) + seconds * 1e6).round_ties_even();
    let narrow = |v: f64| whole(v, 2_147_483_648.0).and_then(|v| i32::try_from(v).ok());
    parts(narrow(months), narrow(days.trunc() + extra_days), whole(time, 9.2e15).and_then(|m| m.checked_mul(1_000)))
}

/// Timestamp plus interval: months first (the day clamped), then days, then time.
pub(crate) fn shift(timestamp: i64, by: IntervalMonthDayNano) -> (i64, Fault) {
    let (day, time) = calendar::split(timestamp);
    let day = calendar::add_months(day, i64::from(by.months)) + i64::from(by.days);
    let moved = day.checked_mul(DAY).and_then(|t| t.checked_add(time)).and_then(|t| t.checked_add(micros(by)));
    in_range(moved)
}

/// A timestamp not before PostgreSQL's first.
pub(crate) fn in_range(timestamp: Option<i64>) -> (i64, Fault) {
    match timestamp {
        Some(t) if t >= calendar::FIRST_DAY * DAY => (t, FINE),
        _ => (0, OVERFLOW),
    }
}

/// The difference of timestamps: days and time, no months.
pub(crate) fn between(a: i64, b: i64) -> (IntervalMonthDayNano, Fault) {
    let Some(diff) = a.checked_sub(b) else { return (NOTHING, OVERFLOW) };
    parts(Some(0), i32::try_from(diff / DAY).ok(), Some(diff % DAY * 1_000))
}
