//! Patterns of dates: PostgreSQL's of `to_char` and `to_timestamp` (`YYYY-MM-DD HH24:MI:SS`), Flink's (Java's) of `date_format`
//! (`yyyy-MM-dd HH:mm:ss`). A pattern is read once per call when it is a constant.

use std::fmt::Write;

use arrow::array::{ArrayRef, StringArray, TimestampMicrosecondArray};
use millstream_types::{Error, Result, SqlState};

use crate::calendar::{self, Civil, DAY, HOUR, MINUTE, SECOND};
use crate::operand::Args;

/// One piece of a pattern.
#[derive(Clone, PartialEq, Debug)]
enum Piece {
    Literal(String),
    Field { name: &'static str, fill: bool, ordinal: bool },
}

const MONTHS: [&str; 12] =
    ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// PostgreSQL's fields, longer ones before their prefixes.
const POSTGRES: [&str; 47] = [
    "YYYY", "Y,YYY", "YYY", "YY", "Y", "IYYY", "IW", "MONTH", "Month", "month", "MON", "Mon", "mon", "MM", "DDD", "DAY", "Day", "day",
    "DD", "DY", "Dy", "dy", "D", "ID", "HH24", "HH12", "HH", "MI", "SSSS", "SS", "MS", "US", "AM", "PM", "am", "pm", "A.M.", "P.M.", "Q",
    "WW", "W", "CC", "J", "TZ", "tz", "OF", "BC",
];

/// Java's letters by run length; `_` any length.
fn java_field(letter: char, run: usize) -> Option<&'static str> {
    Some(match (letter, run) {
        ('y' | 'u', 2) => "YY",
        ('y' | 'u', _) => "YYYY",
        ('M', 1) => "M",
        ('M', 2) => "MM",
        ('M', 3) => "Mon",
        ('M', _) => "fullmonth",
        ('d', 1) => "day1",
        ('d', _) => "DD",
        ('H', 1) => "H",
        ('H', _) => "HH24",
        ('h', _) => "HH12",
        ('m', 1) => "mi1",
        ('m', _) => "MI",
        ('s', 1) => "s1",
        ('s', _) => "SS",
        ('S', 1..=3) => "MS",
        ('S', _) => "US",
        ('a', _) => "AM",
        ('E', 1..=3) => "Dy",
        ('E', _) => "fullday",
        ('D', _) => "doy1",
        _ => return None,
    })
}

fn postgres(pattern: &str) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut literal = String::new();
    let mut rest = pattern;
    let mut fill = true;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("FM").or_else(|| rest.strip_prefix("fm")) {
            fill = false;
            rest = after;
            continue;
        }
        if let Some(after) = rest.strip_prefix('"') {
            let end = after.find('"').unwrap_or(after.len());
            literal.push_str(&after[..end]);
            rest = after.get(end + 1..).unwrap_or_default();
            continue;
        }
        let exact = POSTGRES.iter().find(|name| rest.starts_with(**name));
        let folded = || POSTGRES.iter().find(|name| rest.get(..name.len()).is_some_and(|r| r.eq_ignore_ascii_case(name)));
        match exact.or_else(folded) {
            Some(name) => {
                if !literal.is_empty() {
                    out.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                rest = &rest[name.len()..];
                let ordinal = rest.strip_prefix("th").or_else(|| rest.strip_prefix("TH"));
                out.push(Piece::Field { name, fill, ordinal: ordinal.is_some() });
                rest = ordinal.unwrap_or(rest);
                fill = true;
            }
            None => {
                literal.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    if !literal.is_empty() {
        out.push(Piece::Literal(literal));
    }
    out
}

fn java(pattern: &str) -> Result<Vec<Piece>> {
    let mut out = Vec::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix('\'') {
            let end = after.find('\'').unwrap_or(after.len());
            out.push(Piece::Literal(if end == 0 { "'".into() } else { after[..end].to_string() }));
            rest = after.get(end + 1..).unwrap_or_default();
            continue;
        }
        let run = rest.chars().take_while(|r| *r == c).count();
        if c.is_ascii_alphabetic() {
            let name = java_field(c, run).ok_or_else(|| {
                Error::new(SqlState::INVALID_PARAMETER_VALUE, format!("unknown letter \"{c}\" in date format \"{pattern}\""))
            })?;
            out.push(Piece::Field { name, fill: true, ordinal: false });
        } else {
            out.push(Piece::Literal(rest[..run * c.len_utf8()].to_string()));
        }
        rest = &rest[run * c.len_utf8()..];
    }
    Ok(out)
}

pub(super) fn to_char(args: &Args) -> Result<ArrayRef> {
    write(args, |pattern| Ok(postgres(pattern)))
}

pub(super) fn date_format(args: &Args) -> Result<ArrayRef> {
    write(args, java)
}

fn write(args: &Args, parse: impl Fn(&str) -> Result<Vec<Piece>>) -> Result<ArrayRef> {
    let (t, pattern) = (args.lane::<TimestampMicrosecondArray>(0)?, args.lane::<StringArray>(1)?);
    let zoned = matches!(args.data_type(0), arrow::datatypes::DataType::Timestamp(_, Some(_)));
    let constant = if pattern.stride == 0 && !pattern.is_null(0) { Some(parse(pattern.get(0))?) } else { None };
    args.map_text(|row, out| {
        let own;
        let pieces = match &constant {
            Some(pieces) => pieces,
            None => {
                own = parse(pattern.get(row))?;
                &own
            }
        };
        let t = t.get(row);
        for piece in pieces {
            match piece {
                Piece::Literal(text) => out.push_str(text),
                Piece::Field { name, fill, ordinal } => {
                    let start = out.len();
                    field(out, t, name, *fill, zoned);
                    if *ordinal {
                        let suffix = ordinal_suffix(&out[start..]);
                        out.push_str(suffix);
                    }
                }
            }
        }
        Ok(())
    })
}

fn ordinal_suffix(number: &str) -> &'static str {
    let teen = number.len() > 1 && number.as_bytes()[number.len() - 2] == b'1';
    match number.chars().next_back() {
        Some('1') if !teen => "st",
        Some('2') if !teen => "nd",
        Some('3') if !teen => "rd",
        _ => "th",
    }
}

fn number(out: &mut String, v: i64, width: usize, fill: bool) {
    let _ = if fill { write!(out, "{v:0width$}") } else { write!(out, "{v}") };
}

fn word(out: &mut String, text: &str, name: &str, width: usize, fill: bool) {
    let text = match name.chars().nth(1) {
        Some(c) if c.is_uppercase() => text.to_uppercase(),
        _ if name.starts_with(char::is_lowercase) => text.to_lowercase(),
        _ => text.to_string(),
    };
    let _ = if fill && width > 0 { write!(out, "{text:width$}") } else { write!(out, "{text}") };
}

fn index(v: i64) -> usize {
    usize::try_from(v).unwrap_or(0)
}

fn field(out: &mut String, t: i64, name: &str, fill: bool, zoned: bool) {
    let (day, time) = calendar::split(t);
    let d = calendar::civil(day);
    match name {
        "HH24" => number(out, time / HOUR, 2, fill),
        "H" => number(out, time / HOUR, 1, false),
        "HH12" | "HH" => number(out, (time / HOUR + 11) % 12 + 1, 2, fill),
        "MI" => number(out, time % HOUR / MINUTE, 2, fill),
        "mi1" => number(out, time % HOUR / MINUTE, 1, false),
        "SS" => number(out, time % MINUTE / SECOND, 2, fill),
        "s1" => number(out, time % MINUTE / SECOND, 1, false),
        "MS" => number(out, time % SECOND / 1_000, 3, fill),
        "US" => number(out, time % SECOND, 6, fill),
        "SSSS" => number(out, time / SECOND, 1, false),
        "AM" | "PM" => out.push_str(if time < DAY / 2 { "AM" } else { "PM" }),
        "am" | "pm" => out.push_str(if time < DAY / 2 { "am" } else { "pm" }),
        "A.M." | "P.M." => out.push_str(if time < DAY / 2 { "A.M." } else { "P.M." }),
        "TZ" => out.push_str(if zoned { "UTC" } else { "" }),
        "tz" => out.push_str(if zoned { "utc" } else { "" }),
        "OF" => out.push_str("+00"),
        _ => date_field(out, day, d, name, fill),
    }
}

fn date_field(out: &mut String, day: i64, d: Civil, name: &str, fill: bool) {
    let year = if d.year > 0 { d.year } else { 1 - d.year };
    let weekday = calendar::weekday(day);
    match name {
        "YYYY" => number(out, year, 4, fill),
        "Y,YYY" => {
            let _ = write!(out, "{},{:03}", year / 1_000, year % 1_000);
        }
        "YYY" => number(out, year % 1_000, 3, fill),
        "YY" => number(out, year % 100, 2, fill),
        "Y" => number(out, year % 10, 1, fill),
        "IYYY" => number(out, calendar::iso_week(day).0, 4, fill),
        "IW" => number(out, calendar::iso_week(day).1, 2, fill),
        "BC" => out.push_str(if d.year > 0 { "AD" } else { "BC" }),
        "CC" => number(out, (year + 99) / 100, 2, fill),
        "Q" => number(out, (d.month - 1) / 3 + 1, 1, fill),
        "MM" => number(out, d.month, 2, fill),
        "M" => number(out, d.month, 1, false),
        "fullmonth" => out.push_str(MONTHS[index(d.month - 1)]),
        "MONTH" | "Month" | "month" => word(out, MONTHS[index(d.month - 1)], name, 9, fill),
        "MON" | "Mon" | "mon" => word(out, &MONTHS[index(d.month - 1)][..3], name, 0, fill),
        "WW" => number(out, (calendar::day_of_year(day) - 1) / 7 + 1, 2, fill),
        "W" => number(out, (d.day - 1) / 7 + 1, 1, fill),
        "DDD" => number(out, calendar::day_of_year(day), 3, fill),
        "doy1" => number(out, calendar::day_of_year(day), 1, false),
        "DD" => number(out, d.day, 2, fill),
        "day1" => number(out, d.day, 1, false),
        "D" => number(out, weekday + 1, 1, fill),
        "ID" => number(out, (weekday + 6) % 7 + 1, 1, fill),
        "fullday" => out.push_str(DAYS[index(weekday)]),
        "DAY" | "Day" | "day" => word(out, DAYS[index(weekday)], name, 9, fill),
        "DY" | "Dy" | "dy" => word(out, &DAYS[index(weekday)][..3], name, 0, fill),
        "J" => number(out, day - calendar::FIRST_DAY, 1, false),
        _ => {}
    }
}

/// Digits that a field takes at most when it is read.
fn width(name: &str) -> Result<usize> {
    Ok(match name {
        "YYYY" => 4,
        "MS" | "DDD" => 3,
        "US" => 6,
        "YY" | "MM" | "DD" | "HH24" | "HH12" | "HH" | "MI" | "SS" => 2,
        other => return Err(Error::unsupported(format!("the pattern {other} in reading a date"))),
    })
}

/// The timestamp that `text` means under PostgreSQL's `pattern`.
pub(super) fn read(text: &str, pattern: &str) -> Result<i64> {
    let (mut year, mut month, mut day, mut time, mut pm) = (1_i64, 1_i64, 1_i64, 0_i64, None);
    let mut rest = text.trim_start();
    let wrong = |what: &str, at: &str| {
        let shown: String = at.chars().take(8).collect();
        Error::new(SqlState::INVALID_DATETIME_FORMAT, format!("invalid value \"{shown}\" for \"{what}\""))
    };
    for piece in postgres(pattern) {
        let name = match &piece {
            Piece::Literal(literal) => {
                for _ in literal.chars() {
                    let mut chars = rest.chars();
                    if chars.next().is_some_and(|c| !c.is_alphanumeric()) {
                        rest = chars.as_str();
                    }
                }
                continue;
            }
            Piece::Field { name, .. } => *name,
        };
        rest = rest.trim_start();
        if let Some(list) = match name {
            "MONTH" | "Month" | "month" => Some(true),
            "MON" | "Mon" | "mon" => Some(false),
            _ => None,
        } {
            let lower = rest.to_ascii_lowercase();
            let found = MONTHS.iter().position(|m| lower.starts_with(&m[..3].to_ascii_lowercase()));
            let at = found.ok_or_else(|| wrong(name, rest))?;
            let full = list && lower.starts_with(&MONTHS[at].to_ascii_lowercase());
            rest = &rest[if full { MONTHS[at].len() } else { 3 }..];
            month = i64::try_from(at).unwrap_or(0) + 1;
            continue;
        }
        if matches!(name, "AM" | "PM" | "am" | "pm") {
            pm = Some(rest.to_ascii_lowercase().starts_with('p'));
            rest = rest.get(2..).unwrap_or_default();
            continue;
        }
        let width = width(name)?;
        let digits: String = rest.chars().take(width).take_while(char::is_ascii_digit).collect();
        let v: i64 = digits.parse().map_err(|_| wrong(name, rest))?;
        rest = &rest[digits.len()..];
        let scaled = |unit: i64| v * unit;
        match name {
            "YYYY" => year = v,
            "YY" => year = v + if v < 70 { 2_000 } else { 1_900 },
            "MM" => month = v,
            "DD" => day = v,
            "DDD" => (month, day) = (0, v),
            "HH24" | "HH12" | "HH" => time += scaled(HOUR),
            "MI" => time += scaled(MINUTE),
            "SS" => time += scaled(SECOND),
            _ => time += v * 10_i64.pow(u32::try_from(6 - digits.len().min(6)).unwrap_or(0)),
        }
    }
    if let Some(pm) = pm {
        time = time % (12 * HOUR) + if pm { 12 * HOUR } else { 0 };
    }
    let overflow = || Error::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("date/time field value out of range: \"{text}\""));
    let date = match month {
        0 => super::make::day(year, 1, 1).map(|d| d + day - 1),
        _ => super::make::day(year, month, day),
    };
    let date = date.filter(|_| time <= DAY).ok_or_else(overflow)?;
    date.checked_mul(DAY).and_then(|t| t.checked_add(time)).ok_or_else(overflow)
}
