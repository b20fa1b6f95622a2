//! Dates and times as text in ISO style.

use std::fmt::Write;

use crate::calendar::{self, HOUR, MINUTE, SECOND};

/// `2020-01-31`, with ` BC` before year 1.
pub(crate) fn write_date(out: &mut String, day: i64) {
    let d = calendar::civil(day);
    write_ymd(out, d);
    if d.year <= 0 {
        out.push_str(" BC");
    }
}

fn write_ymd(out: &mut String, d: calendar::Civil) {
    let year = if d.year > 0 { d.year } else { 1 - d.year };
    let _ = write!(out, "{year:04}-{:02}-{:02}", d.month, d.day);
}

/// `04:05:06.789`, without trailing zeros.
pub(crate) fn write_time(out: &mut String, micros: i64) {
    let _ = write!(out, "{:02}:{:02}:", micros / HOUR, micros % HOUR / MINUTE);
    write_seconds(out, micros % MINUTE);
}

/// `06.789`.
pub(crate) fn write_seconds(out: &mut String, micros: i64) {
    let _ = write!(out, "{:02}", micros / SECOND);
    let fraction = micros % SECOND;
    if fraction != 0 {
        let digits = format!("{fraction:06}");
        out.push('.');
        out.push_str(digits.trim_end_matches('0'));
    }
}

/// `2020-01-31 04:05:06`.
pub(crate) fn write_timestamp(out: &mut String, micros: i64) {
    zoned(out, micros, "");
}

/// `2020-01-31 04:05:06+00`.
pub(crate) fn write_timestamptz(out: &mut String, micros: i64) {
    zoned(out, micros, "+00");
}

fn zoned(out: &mut String, micros: i64, zone: &str) {
    let (day, time) = calendar::split(micros);
    let d = calendar::civil(day);
    write_ymd(out, d);
    out.push(' ');
    write_time(out, time);
    out.push_str(zone);
    if d.year <= 0 {
        out.push_str(" BC");
    }
}
