//! `date_trunc` and `date_bin`.

use arrow::array::{ArrayRef, IntervalMonthDayNanoArray, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{IntervalMonthDayNanoType, TimestampMicrosecondType};
use millstream_types::{Error, Result, SqlState};

use crate::arithmetic::interval::{interval, micros};
use crate::calendar::{self, Civil, DAY, HOUR, MINUTE, SECOND};
use crate::operand::Args;

fn refused(unit: &str, what: &str) -> Error {
    Error::new(SqlState::INVALID_PARAMETER_VALUE, format!("unit \"{unit}\" not recognized for type {what}"))
}

/// Units that are a fixed number of micros.
fn fixed(unit: &str) -> Option<i64> {
    Some(match unit {
        "microseconds" | "microsecond" => 1,
        "milliseconds" | "millisecond" => 1_000,
        "second" | "seconds" => SECOND,
        "minute" | "minutes" => MINUTE,
        "hour" | "hours" => HOUR,
        "day" | "days" => DAY,
        _ => return None,
    })
}

/// First month (from year 0, month 0) of longer units.
fn first_month(day: i64, unit: &str) -> Option<i64> {
    let d = calendar::civil(day);
    Some(match unit {
        "month" | "months" => d.year * 12 + d.month - 1,
        "quarter" => d.year * 12 + (d.month - 1) / 3 * 3,
        "year" | "years" => d.year * 12,
        "decade" | "decades" => d.year.div_euclid(10) * 120,
        "century" | "centuries" => ((d.year - 1).div_euclid(100) * 100 + 1) * 12,
        "millennium" | "millennia" => ((d.year - 1).div_euclid(1_000) * 1_000 + 1) * 12,
        _ => return None,
    })
}

fn truncate(t: i64, unit: &str) -> Option<i64> {
    if let Some(step) = fixed(unit) {
        return Some(t.div_euclid(step) * step);
    }
    let day = t.div_euclid(DAY);
    if unit == "week" || unit == "weeks" {
        return Some((day - (day + 3).rem_euclid(7)) * DAY);
    }
    let month = first_month(day, unit)?;
    Some(calendar::days(Civil { year: month.div_euclid(12), month: month.rem_euclid(12) + 1, day: 1 }) * DAY)
}

pub(super) fn date_trunc(args: &Args) -> Result<ArrayRef> {
    let (unit, t) = (args.lane::<StringArray>(0)?, args.lane::<TimestampMicrosecondArray>(1)?);
    args.map::<TimestampMicrosecondType>(|row| {
        let unit = unit.get(row);
        let what = "timestamp without time zone";
        truncate(t.get(row), unit).or_else(|| truncate(t.get(row), &unit.to_ascii_lowercase())).ok_or_else(|| refused(unit, what))
    })
}

pub(super) fn date_trunc_interval(args: &Args) -> Result<ArrayRef> {
    let (unit, i) = (args.lane::<StringArray>(0)?, args.lane::<IntervalMonthDayNanoArray>(1)?);
    args.map::<IntervalMonthDayNanoType>(|row| {
        let (unit, i) = (unit.get(row).to_ascii_lowercase(), i.get(row));
        let months = |step: i32| Ok(interval(i.months / step * step, 0, 0));
        match unit.as_str() {
            "month" | "months" => months(1),
            "quarter" => months(3),
            "year" | "years" => months(12),
            "decade" => months(120),
            "century" => months(1_200),
            "millennium" => months(12_000),
            "day" | "days" => Ok(interval(i.months, i.days, 0)),
            other => {
                let step = fixed(other).ok_or_else(|| refused(other, "interval"))?;
                Ok(interval(i.months, i.days, micros(i) / step * step * 1_000))
            }
        }
    })
}

pub(super) fn date_bin(args: &Args) -> Result<ArrayRef> {
    let stride = args.lane::<IntervalMonthDayNanoArray>(0)?;
    let (t, origin) = (args.lane::<TimestampMicrosecondArray>(1)?, args.lane::<TimestampMicrosecondArray>(2)?);
    args.map::<TimestampMicrosecondType>(|row| {
        let by = stride.get(row);
        if by.months != 0 {
            return Err(Error::unsupported("a stride with months or years").with_hint("use date_trunc"));
        }
        let step = i64::from(by.days) * DAY + micros(by);
        if step <= 0 {
            return Err(Error::new(SqlState::DATETIME_FIELD_OVERFLOW, "stride must be greater than zero"));
        }
        let out = || Error::new(SqlState::DATETIME_FIELD_OVERFLOW, "timestamp out of range");
        let diff = t.get(row).checked_sub(origin.get(row)).ok_or_else(out)?;
        (diff.div_euclid(step) * step).checked_add(origin.get(row)).ok_or_else(out)
    })
}
