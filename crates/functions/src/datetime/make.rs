//! Dates and times out of numbers and of text with a pattern.

use arrow::array::{ArrayRef, Float64Array, Int32Array, Int64Array, IntervalMonthDayNanoArray, StringArray};
use arrow::datatypes::{Date32Type, IntervalMonthDayNanoType, Time64MicrosecondType, TimestampMicrosecondType};
use millstream_types::{Error, Result, SqlState};

use super::format::read;
use crate::arithmetic::interval::{interval, micros};
use crate::calendar::{self, Civil, DAY, HOUR, MINUTE};
use crate::cast::number::round_to_i64;
use crate::operand::Args;

fn overflow(message: impl Into<String>) -> Error {
    Error::new(SqlState::DATETIME_FIELD_OVERFLOW, message)
}

/// Of seconds since 1970.
pub(super) fn to_timestamp(args: &Args) -> Result<ArrayRef> {
    let v = args.lane::<Float64Array>(0)?;
    args.map::<TimestampMicrosecondType>(|row| {
        let seconds = v.get(row);
        let micros = round_to_i64(seconds * 1e6).filter(|t| *t >= calendar::FIRST_DAY * DAY);
        micros.ok_or_else(|| overflow(format!("timestamp out of range: \"{seconds}\"")))
    })
}

/// Flink's: of an integer of seconds (0) or milliseconds (3).
pub(super) fn to_timestamp_ltz(args: &Args) -> Result<ArrayRef> {
    let (v, digits) = (args.lane::<Int64Array>(0)?, args.lane::<Int32Array>(1)?);
    args.map::<TimestampMicrosecondType>(|row| {
        let factor = match digits.get(row) {
            0 => 1_000_000,
            3 => 1_000,
            other => {
                let message = format!("precision of to_timestamp_ltz must be 0 or 3, not {other}");
                return Err(Error::new(SqlState::INVALID_PARAMETER_VALUE, message));
            }
        };
        v.get(row).checked_mul(factor).ok_or_else(|| overflow("timestamp out of range"))
    })
}

pub(super) fn to_timestamp_format(args: &Args) -> Result<ArrayRef> {
    let (text, pattern) = (args.lane::<StringArray>(0)?, args.lane::<StringArray>(1)?);
    args.map::<TimestampMicrosecondType>(|row| read(text.get(row), pattern.get(row)))
}

pub(super) fn to_date_format(args: &Args) -> Result<ArrayRef> {
    let (text, pattern) = (args.lane::<StringArray>(0)?, args.lane::<StringArray>(1)?);
    args.map::<Date32Type>(|row| {
        let t = read(text.get(row), pattern.get(row))?;
        i32::try_from(t.div_euclid(DAY)).map_err(|_| overflow("date out of range"))
    })
}

/// The day; a negative year is BC.
pub(super) fn day(year: i64, month: i64, day: i64) -> Option<i64> {
    let year = if year < 0 {
        year + 1
    } else if year == 0 {
        return None;
    } else {
        year
    };
    let fine = (1..=12).contains(&month) && day >= 1 && day <= calendar::days_in_month(year, month);
    let date = fine.then(|| calendar::days(Civil { year, month, day }))?;
    (calendar::FIRST_DAY..=calendar::LAST_DAY).contains(&date).then_some(date)
}

fn time(hour: i64, minute: i64, second: f64) -> Option<i64> {
    let seconds = round_to_i64(second * 1e6).filter(|s| (0..=MINUTE).contains(s))?;
    let total = hour * HOUR + minute * MINUTE + seconds;
    ((0..=24).contains(&hour) && (0..60).contains(&minute) && total <= DAY).then_some(total)
}

pub(super) fn make_date(args: &Args) -> Result<ArrayRef> {
    let (y, m, d) = (args.lane::<Int32Array>(0)?, args.lane::<Int32Array>(1)?, args.lane::<Int32Array>(2)?);
    args.map::<Date32Type>(|row| {
        let (y, m, d) = (y.get(row), m.get(row), d.get(row));
        let date = day(i64::from(y), i64::from(m), i64::from(d)).and_then(|d| i32::try_from(d).ok());
        date.ok_or_else(|| overflow(format!("date field value out of range: {y}-{m:02}-{d:02}")))
    })
}

pub(super) fn make_time(args: &Args) -> Result<ArrayRef> {
    let (h, m, s) = (args.lane::<Int32Array>(0)?, args.lane::<Int32Array>(1)?, args.lane::<Float64Array>(2)?);
    args.map::<Time64MicrosecondType>(|row| {
        let (h, m, s) = (h.get(row), m.get(row), s.get(row));
        time(i64::from(h), i64::from(m), s).ok_or_else(|| overflow(format!("time field value out of range: {h}:{m:02}:{s:02}")))
    })
}

pub(super) fn make_timestamp(args: &Args) -> Result<ArrayRef> {
    let n = |i| args.lane::<Int32Array>(i);
    let (y, mo, d, h, mi, s) = (n(0)?, n(1)?, n(2)?, n(3)?, n(4)?, args.lane::<Float64Array>(5)?);
    args.map::<TimestampMicrosecondType>(|row| {
        let date = day(i64::from(y.get(row)), i64::from(mo.get(row)), i64::from(d.get(row)));
        let time = time(i64::from(h.get(row)), i64::from(mi.get(row)), s.get(row));
        let (Some(date), Some(time)) = (date, time) else { return Err(overflow("date/time field value out of range")) };
        date.checked_mul(DAY).and_then(|t| t.checked_add(time)).ok_or_else(|| overflow("timestamp out of range"))
    })
}

/// Hours to days (24), days to months (30).
pub(super) fn justify(args: &Args, hours: bool, days: bool) -> Result<ArrayRef> {
    let v = args.lane::<IntervalMonthDayNanoArray>(0)?;
    args.map::<IntervalMonthDayNanoType>(|row| {
        let i = v.get(row);
        let (mut m, mut d, mut t) = (i64::from(i.months), i64::from(i.days), micros(i));
        if hours {
            (d, t) = (d + t / DAY, t % DAY);
        }
        if days {
            (m, d) = (m + d / 30, d % 30);
        }
        let below = |v: i64| if hours { v } else { 0 };
        if days {
            if m > 0 && (d < 0 || (d == 0 && below(t) < 0)) {
                (m, d) = (m - 1, d + 30);
            } else if m < 0 && (d > 0 || (d == 0 && below(t) > 0)) {
                (m, d) = (m + 1, d - 30);
            }
        }
        if hours {
            if d > 0 && t < 0 {
                (d, t) = (d - 1, t + DAY);
            } else if d < 0 && t > 0 {
                (d, t) = (d + 1, t - DAY);
            }
        }
        let small = |v: i64| i32::try_from(v).map_err(|_| overflow("interval out of range"));
        Ok(interval(small(m)?, small(d)?, t * 1_000))
    })
}
