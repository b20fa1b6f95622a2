//! Intervals from and to text, in PostgreSQL's own style.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{ArrayRef, IntervalMonthDayNanoArray, StringArray};
use arrow::datatypes::IntervalMonthDayNano;
use millstream_types::{Error, Result, SqlState};

use super::datetime_parse::seconds;
use super::datetime_text::write_seconds;
use crate::arithmetic::interval::{interval, micros};
use crate::calendar::{DAY, HOUR, MINUTE, SECOND};

pub(super) fn parse(array: &StringArray) -> Result<ArrayRef> {
    let values = array.iter().map(|v| v.map(parse_interval).transpose());
    Ok(Arc::new(values.collect::<Result<IntervalMonthDayNanoArray>>()?))
}

/// `1 year 2 mons -3 days +04:05:06.7`.
pub(crate) fn write_interval(out: &mut String, i: IntervalMonthDayNano) {
    let start = out.len();
    let mut after_negative = false;
    for (value, unit) in [(i.months / 12, "year"), (i.months % 12, "mon"), (i.days, "day")] {
        if value != 0 {
            let blank = if out.len() > start { " " } else { "" };
            let plus = if after_negative && value > 0 { "+" } else { "" };
            let plural = if value == 1 { "" } else { "s" };
            let _ = write!(out, "{blank}{plus}{value} {unit}{plural}");
            after_negative = value < 0;
        }
    }
    let time = micros(i);
    if time == 0 && out.len() > start {
        return;
    }
    if out.len() > start {
        out.push(' ');
    }
    if time < 0 {
        out.push('-');
    } else if after_negative {
        out.push('+');
    }
    let time = time.unsigned_abs();
    let _ = write!(out, "{:02}:{:02}:", time / HOUR.unsigned_abs(), time % HOUR.unsigned_abs() / MINUTE.unsigned_abs());
    write_seconds(out, i64::try_from(time % MINUTE.unsigned_abs()).unwrap_or(0));
}

/// Sums of fields; fractions cascade to smaller ones.
#[derive(Default)]
struct Sum {
    months: i64,
    days: i64,
    micros: i64,
}

fn invalid(text: &str) -> Error {
    Error::new(SqlState::INVALID_DATETIME_FORMAT, format!("invalid input syntax for type interval: \"{text}\""))
}

/// The interval of a text.
pub(crate) fn parse_interval(text: &str) -> Result<IntervalMonthDayNano> {
    let lower = text.trim().to_ascii_lowercase();
    if matches!(lower.as_str(), "infinity" | "-infinity") {
        return Err(Error::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("interval out of range: \"{text}\"")));
    }
    let sum = match lower.strip_prefix('p') {
        Some(rest) => iso(rest),
        None => verbose(&lower),
    };
    let sum = sum.ok_or_else(|| invalid(text))?;
    let out_of_range = || Error::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("interval field value out of range: \"{text}\""));
    let months = i32::try_from(sum.months).map_err(|_| out_of_range())?;
    let days = i32::try_from(sum.days).map_err(|_| out_of_range())?;
    Ok(interval(months, days, sum.micros.checked_mul(1_000).ok_or_else(out_of_range)?))
}

impl Sum {
    #[expect(clippy::cast_possible_truncation, reason = "checked against the limits")]
    fn add(&mut self, value: f64, unit: &str) -> Option<()> {
        if value.abs() > 9.0e15 {
            return None;
        }
        let (months, days, micros) = match unit {
            "millennium" | "millennia" | "mil" | "mils" => (12_000.0, 0.0, 0.0),
            "century" | "centuries" | "cent" | "c" => (1_200.0, 0.0, 0.0),
            "decade" | "decades" | "dec" | "decs" => (120.0, 0.0, 0.0),
            "year" | "years" | "yr" | "yrs" | "y" => (12.0, 0.0, 0.0),
            "month" | "months" | "mon" | "mons" => (1.0, 0.0, 0.0),
            "week" | "weeks" | "w" => (0.0, 7.0, 0.0),
            "day" | "days" | "d" => (0.0, 1.0, 0.0),
            "hour" | "hours" | "hr" | "hrs" | "h" => (0.0, 0.0, HOUR as f64),
            "minute" | "minutes" | "min" | "mins" | "m" => (0.0, 0.0, MINUTE as f64),
            "second" | "seconds" | "sec" | "secs" | "s" | "" => (0.0, 0.0, SECOND as f64),
            "millisecond" | "milliseconds" | "msec" | "msecs" | "ms" | "msecond" | "mseconds" => (0.0, 0.0, 1_000.0),
            "microsecond" | "microseconds" | "usec" | "usecs" | "us" | "usecond" | "useconds" => (0.0, 0.0, 1.0),
            _ => return None,
        };
        if months > 1.0 {
            self.months += (value * months).round_ties_even() as i64;
            return Some(());
        }
        let whole_months = (value * months).trunc();
        let days = value * days + if months == 1.0 { (value - whole_months) * 30.0 } else { 0.0 };
        let days = (days * 1e9).round() / 1e9;
        self.months += whole_months as i64;
        self.days += days.trunc() as i64;
        self.micros = self.micros.checked_add((value * micros + (days - days.trunc()) * DAY as f64).round_ties_even() as i64)?;
        Some(())
    }

    fn negate(&mut self) {
        (self.months, self.days, self.micros) = (-self.months, -self.days, -self.micros);
    }
}

/// `1 year 2 months`, `1-2`, `3 04:05:06`, `@ 1 minute ago`.
fn verbose(text: &str) -> Option<Sum> {
    let mut sum = Sum::default();
    let mut pending: Option<f64> = None;
    let mut any = false;
    for word in tokens(text) {
        let first = word.chars().next()?;
        if word == "@" {
            continue;
        } else if word == "ago" {
            sum.negate();
        } else if first.is_ascii_alphabetic() {
            sum.add(pending.take()?, &word)?;
        } else if word.contains(':') {
            if let Some(days) = pending.take() {
                sum.add(days, "day")?;
            }
            sum.micros = sum.micros.checked_add(clock(&word)?)?;
        } else if word.trim_start_matches(['+', '-']).contains('-') {
            let (sign, rest) = word.strip_prefix('-').map_or((1, word.trim_start_matches('+')), |r| (-1, r));
            let (years, months) = rest.split_once('-')?;
            sum.months += sign * (years.parse::<i64>().ok()?.checked_mul(12)? + months.parse::<i64>().ok()?);
        } else {
            if pending.is_some() {
                return None;
            }
            pending = Some(word.parse().ok()?);
        }
        any = true;
    }
    if let Some(rest) = pending {
        sum.add(rest, "second")?;
    }
    any.then_some(sum)
}

/// Cuts at blanks and between numbers and letters.
fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for piece in text.split_whitespace() {
        let mut word = String::new();
        for c in piece.chars() {
            if word.chars().next_back().is_some_and(|l| l.is_ascii_alphabetic() != c.is_ascii_alphabetic()) {
                out.push(std::mem::take(&mut word));
            }
            word.push(c);
        }
        out.push(word);
    }
    out
}

fn clock(word: &str) -> Option<i64> {
    let (negative, rest) = word.strip_prefix('-').map_or((false, word.trim_start_matches('+')), |r| (true, r));
    let fields: Vec<&str> = rest.split(':').collect();
    let number = |s: &str| s.parse::<i64>().ok().filter(|v| *v >= 0);
    let micros = match fields.as_slice() {
        [m, s] if s.contains('.') => number(m)?.checked_mul(MINUTE)?.checked_add(seconds(s)?)?,
        [h, m] => number(h)?.checked_mul(HOUR)?.checked_add(number(m).filter(|m| *m < 60)? * MINUTE)?,
        [h, m, s] => {
            let below = number(m).filter(|m| *m < 60)? * MINUTE + seconds(s).filter(|s| *s <= MINUTE)?;
            number(h)?.checked_mul(HOUR)?.checked_add(below)?
        }
        _ => return None,
    };
    Some(if negative { -micros } else { micros })
}

/// ISO 8601 with designators, behind the `P`.
fn iso(text: &str) -> Option<Sum> {
    let mut sum = Sum::default();
    let (mut number, mut time) = (String::new(), false);
    for c in text.chars() {
        match c {
            't' => time = true,
            '0'..='9' | '.' | '-' | '+' => number.push(c),
            _ => {
                let unit = match (c, time) {
                    ('y', false) => "year",
                    ('m', false) => "month",
                    ('w', false) => "week",
                    ('d', false) => "day",
                    ('h', true) => "hour",
                    ('m', true) => "minute",
                    ('s', true) => "second",
                    _ => return None,
                };
                sum.add(number.parse().ok()?, unit)?;
                number.clear();
            }
        }
    }
    (number.is_empty() && !text.is_empty()).then_some(sum)
}
