//! Fields of dates, times and intervals. Every field is computed in micro-units, so that `extract` is exact.

use arrow::array::{ArrayRef, Date32Array, IntervalMonthDayNanoArray, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType};
use datafusion::common::ScalarValue;
use millstream_types::{Error, Result, SqlState};

use crate::arithmetic::decimal::pow10;
use crate::arithmetic::interval::{interval, micros};
use crate::calendar::{self, DAY, HOUR, MINUTE};
use crate::operand::Args;

/// One million.
const UNIT: i128 = 1_000_000;

/// What a field is taken of.
#[derive(Clone, Copy)]
enum Value {
    Instant(i64),
    Date(i64),
    Time(i64),
    Span(IntervalMonthDayNano),
}

type Getter<'a> = Box<dyn Fn(usize) -> Value + 'a>;

fn getter(args: &Args, i: usize) -> Result<Getter<'_>> {
    Ok(match args.data_type(i) {
        DataType::Timestamp(_, _) => {
            let v = args.lane::<TimestampMicrosecondArray>(i)?;
            Box::new(move |row| Value::Instant(v.get(row)))
        }
        DataType::Date32 => {
            let v = args.lane::<Date32Array>(i)?;
            Box::new(move |row| Value::Date(i64::from(v.get(row))))
        }
        DataType::Time64(_) => {
            let v = args.lane::<Time64MicrosecondArray>(i)?;
            Box::new(move |row| Value::Time(v.get(row)))
        }
        _ => {
            let v = args.lane::<IntervalMonthDayNanoArray>(i)?;
            Box::new(move |row| Value::Span(v.get(row)))
        }
    })
}

/// Plural and short names of fields.
fn field(name: &str) -> String {
    let name = name.trim().to_ascii_lowercase();
    let known = match name.as_str() {
        "years" | "yr" | "yrs" | "y" => "year",
        "months" | "mon" | "mons" => "month",
        "days" | "d" => "day",
        "hours" | "h" | "hr" | "hrs" => "hour",
        "minutes" | "m" | "min" | "mins" => "minute",
        "seconds" | "s" | "sec" | "secs" => "second",
        "millisecond" | "ms" | "msec" | "msecs" => "milliseconds",
        "microsecond" | "us" | "usec" | "usecs" => "microseconds",
        "weeks" | "w" => "week",
        "quarters" | "qtr" => "quarter",
        "decades" | "dec" | "decs" => "decade",
        "centuries" | "c" | "cent" => "century",
        "millennia" | "mil" | "mils" => "millennium",
        "dayofweek" => "dow",
        "dayofyear" => "doy",
        other => other,
    };
    known.to_string()
}

fn refused(name: &str, what: &str) -> Error {
    let known = compute(Value::Instant(0), name).is_some();
    let why = if known { "not supported" } else { "not recognized" };
    // PostgreSQL says 0A000 for a field that other types have.
    let state = if known { SqlState::FEATURE_NOT_SUPPORTED } else { SqlState::INVALID_PARAMETER_VALUE };
    Error::new(state, format!("unit \"{name}\" {why} for type {what}"))
}

/// A century or millennium of a year: there is no year 0 and no century 0.
fn era(year: i64, length: i64) -> i64 {
    if year > 0 { (year + length - 1) / length } else { -((length - year) / length) }
}

fn of_day(day: i64, name: &str) -> Option<i64> {
    let d = calendar::civil(day);
    Some(match name {
        "year" => {
            if d.year > 0 {
                d.year
            } else {
                d.year - 1
            }
        }
        "month" => d.month,
        "day" => d.day,
        "quarter" => (d.month - 1) / 3 + 1,
        "dow" => calendar::weekday(day),
        "isodow" => (calendar::weekday(day) + 6) % 7 + 1,
        "doy" => calendar::day_of_year(day),
        "week" => calendar::iso_week(day).1,
        "isoyear" => calendar::iso_week(day).0,
        "decade" => d.year.div_euclid(10),
        "century" => era(d.year, 100),
        "millennium" => era(d.year, 1_000),
        "julian" => day - calendar::FIRST_DAY,
        _ => return None,
    })
}

/// A field of a time of day (or of the time part of an interval) in micro-units.
fn of_time(time: i64, name: &str) -> Option<i128> {
    Some(match name {
        "hour" => i128::from(time / HOUR) * UNIT,
        "minute" => i128::from(time % HOUR / MINUTE) * UNIT,
        "second" => i128::from(time % MINUTE),
        "milliseconds" => i128::from(time % MINUTE) * 1_000,
        "microseconds" => i128::from(time % MINUTE) * UNIT,
        _ => return None,
    })
}

fn compute(value: Value, name: &str) -> Option<i128> {
    match value {
        Value::Instant(t) => {
            let (day, time) = calendar::split(t);
            match name {
                "epoch" => Some(i128::from(t)),
                "julian" => Some(i128::from(day - calendar::FIRST_DAY) * UNIT + i128::from(time) * UNIT / i128::from(DAY)),
                "timezone" | "timezone_hour" | "timezone_minute" => Some(0),
                _ => of_time(time, name).or_else(|| of_day(day, name).map(|v| i128::from(v) * UNIT)),
            }
        }
        Value::Date(day) if name == "epoch" => Some(i128::from(day) * i128::from(DAY)),
        Value::Date(day) => of_day(day, name).map(|v| i128::from(v) * UNIT),
        Value::Time(t) if name == "epoch" => Some(i128::from(t)),
        Value::Time(t) => of_time(t, name),
        Value::Span(i) => {
            let years = i64::from(i.months / 12);
            let whole = match name {
                "year" => years,
                "month" => i64::from(i.months % 12),
                "day" => i64::from(i.days),
                "quarter" => i64::from(i.months % 12 / 3 + 1),
                "decade" => years / 10,
                "century" => years / 100,
                "millennium" => years / 1_000,
                "epoch" => {
                    // A year has 365.25 days, what is left of the months 30 days each.
                    let days = i128::from(years) * 36_525 * i128::from(DAY) / 100;
                    let rest = i128::from(i.months % 12) * 30 + i128::from(i.days);
                    return Some(days + rest * i128::from(DAY) + i128::from(micros(i)));
                }
                _ => return of_time(micros(i), name),
            };
            Some(i128::from(whole) * UNIT)
        }
    }
}

fn type_name(t: &DataType) -> &'static str {
    match t {
        DataType::Timestamp(_, None) => "timestamp without time zone",
        DataType::Timestamp(_, _) => "timestamp with time zone",
        DataType::Date32 => "date",
        DataType::Time64(_) => "time without time zone",
        _ => "interval",
    }
}

/// The field (argument 0) of argument 1 in micro-units, per row.
fn micro_units(args: &Args) -> Result<impl Fn(usize) -> Result<i128> + '_> {
    let (name, value) = (args.lane::<StringArray>(0)?, getter(args, 1)?);
    let constant = (name.stride == 0 && !name.is_null(0)).then(|| field(name.get(0)));
    Ok(move |row| {
        let own;
        let wanted = match &constant {
            Some(wanted) => wanted,
            None => {
                own = field(name.get(row));
                &own
            }
        };
        compute(value(row), wanted).ok_or_else(|| refused(wanted, type_name(args.data_type(1))))
    })
}

/// In double precision.
pub(super) fn date_part(args: &Args) -> Result<ArrayRef> {
    let each = micro_units(args)?;
    args.map::<Float64Type>(|row| Ok(each(row)? as f64 / 1e6))
}

/// Scale 6 for fields with a fraction, 3 for milliseconds, 0 for the others; 6 where the field is not a constant.
pub(super) fn extract_type(types: &[DataType], constants: &[Option<&ScalarValue>]) -> DataType {
    let name = match constants.first() {
        Some(Some(ScalarValue::Utf8(Some(s)) | ScalarValue::Utf8View(Some(s)) | ScalarValue::LargeUtf8(Some(s)))) => field(s),
        _ => "epoch".into(),
    };
    let scale = match name.as_str() {
        "epoch" if types.get(1) == Some(&DataType::Date32) => 0,
        "epoch" | "second" | "julian" => 6,
        "milliseconds" => 3,
        _ => 0,
    };
    DataType::Decimal128(24 + u8::try_from(scale).unwrap_or(0), scale)
}

/// As numeric.
pub(super) fn extract(args: &Args) -> Result<ArrayRef> {
    let each = micro_units(args)?;
    let scale = match args.out {
        DataType::Decimal128(_, s) => u32::try_from(s).unwrap_or(0),
        _ => 0,
    };
    let cut = pow10(6_u32.saturating_sub(scale));
    args.map::<Decimal128Type>(|row| Ok(each(row)? / cut))
}

/// Flink's functions of one field.
pub(super) fn whole(args: &Args, name: &str) -> Result<ArrayRef> {
    let value = getter(args, 0)?;
    args.map::<Int64Type>(|row| {
        let v = compute(value(row), name).ok_or_else(|| refused(name, type_name(args.data_type(0))))?;
        Ok(i64::try_from(v.div_euclid(UNIT)).unwrap_or(0))
    })
}

/// 1 (Sunday) to 7.
pub(super) fn day_of_week(args: &Args) -> Result<ArrayRef> {
    let v = args.lane::<TimestampMicrosecondArray>(0)?;
    args.map::<Int64Type>(|row| Ok(calendar::weekday(v.get(row).div_euclid(DAY)) + 1))
}

/// The difference in years, months, days and time.
pub(super) fn age(args: &Args) -> Result<ArrayRef> {
    let (a, b) = (args.lane::<TimestampMicrosecondArray>(0)?, args.lane::<TimestampMicrosecondArray>(1)?);
    args.map::<IntervalMonthDayNanoType>(|row| Ok(symbolic(a.get(row), b.get(row))))
}

fn symbolic(a: i64, b: i64) -> IntervalMonthDayNano {
    let sign = if a < b { -1 } else { 1 };
    let (later, earlier) = if a < b { (b, a) } else { (a, b) };
    let ((d1, t1), (d2, t2)) = (calendar::split(later), calendar::split(earlier));
    let (c1, c2) = (calendar::civil(d1), calendar::civil(d2));
    let (mut months, mut days, mut time) = ((c1.year - c2.year) * 12 + c1.month - c2.month, c1.day - c2.day, t1 - t2);
    if time < 0 {
        time += DAY;
        days -= 1;
    }
    if days < 0 {
        // PostgreSQL borrows the length of the earlier date's month (of the later one's for negative ages).
        let borrowed = if sign > 0 { calendar::days_in_month(c2.year, c2.month) } else { calendar::days_in_month(c1.year, c1.month) };
        days += borrowed;
        months -= 1;
    }
    let small = |v: i64| i32::try_from(v * sign).unwrap_or(i32::MAX);
    interval(small(months), small(days), time * sign * 1_000)
}
