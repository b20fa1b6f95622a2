//! Dates, times and timestamps from text: ISO 8601, `20200131`, month names, `1/31/2020` (month first), AM/PM, zone offsets, `epoch`.
//! Words that mean the time of the statement (`now`, `today`) and `infinity` are refused.

use std::sync::Arc;

use arrow::array::{ArrayRef, PrimitiveArray, StringArray};
use arrow::datatypes::{Date32Type, Time64MicrosecondType, TimestampMicrosecondType};
use millstream_types::{Error, Result, SqlState, SqlType};

use crate::calendar::{self, Civil, DAY, HOUR, MINUTE, SECOND};

pub(super) fn parse(array: &StringArray, to: &SqlType) -> Result<ArrayRef> {
    match to {
        SqlType::Date => {
            let day = |s| i32::try_from(date(s)?).map_err(|_| out_of_range(s, to));
            let values = array.iter().map(|v| v.map(day).transpose());
            Ok(Arc::new(values.collect::<Result<PrimitiveArray<Date32Type>>>()?))
        }
        SqlType::Time => {
            let values = array.iter().map(|v| v.map(time).transpose());
            Ok(Arc::new(values.collect::<Result<PrimitiveArray<Time64MicrosecondType>>>()?))
        }
        SqlType::Timestamp | SqlType::TimestampTz => {
            let values = array.iter().map(|v| v.map(|s| timestamp(s, to)).transpose());
            let values = values.collect::<Result<PrimitiveArray<TimestampMicrosecondType>>>()?;
            Ok(Arc::new(values.with_data_type(to.to_arrow())))
        }
        other => Err(Error::new(SqlState::CANNOT_COERCE, format!("cannot cast type text to {other}"))),
    }
}

fn invalid(text: &str, to: &SqlType) -> Error {
    let name = match to {
        SqlType::Timestamp => "timestamp".to_string(),
        SqlType::Time => "time".to_string(),
        other => other.to_string(),
    };
    Error::new(SqlState::INVALID_DATETIME_FORMAT, format!("invalid input syntax for type {name}: \"{text}\""))
}

fn out_of_range(text: &str, to: &SqlType) -> Error {
    let name = if *to == SqlType::Date { "date" } else { "timestamp" };
    Error::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("{name} out of range: \"{text}\""))
}

fn field_overflow(text: &str) -> Error {
    Error::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("date/time field value out of range: \"{text}\""))
}

fn date(text: &str) -> Result<i64> {
    let p = Parts::read(text, &SqlType::Date)?;
    let d = p.date.ok_or_else(|| invalid(text, &SqlType::Date))?;
    if !(calendar::FIRST_DAY..=calendar::LAST_DAY).contains(&d) {
        return Err(out_of_range(text, &SqlType::Date));
    }
    Ok(d)
}

fn time(text: &str) -> Result<i64> {
    Parts::read(text, &SqlType::Time)?.time.ok_or_else(|| invalid(text, &SqlType::Time))
}

fn timestamp(text: &str, to: &SqlType) -> Result<i64> {
    let p = Parts::read(text, to)?;
    let d = p.date.ok_or_else(|| invalid(text, to))?;
    // A timestamp without time zone ignores a zone in its text, as PostgreSQL does.
    let zone = if *to == SqlType::TimestampTz { p.zone.unwrap_or(0) } else { 0 };
    let micros = d.checked_mul(DAY).and_then(|t| t.checked_add(p.time.unwrap_or(0))).and_then(|t| t.checked_sub(zone));
    micros.filter(|t| *t >= calendar::FIRST_DAY * DAY).ok_or_else(|| out_of_range(text, to))
}

/// What a text says; micros.
#[derive(Default)]
struct Parts {
    date: Option<i64>,
    time: Option<i64>,
    zone: Option<i64>,
}

/// Fields of a date that come as single words.
#[derive(Default)]
struct Loose {
    month: Option<i64>,
    numbers: Vec<(i64, usize)>,
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

impl Parts {
    fn read(text: &str, to: &SqlType) -> Result<Parts> {
        let lower = text.trim().to_ascii_lowercase();
        if matches!(lower.as_str(), "infinity" | "-infinity" | "+infinity") {
            return Err(Error::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("{} out of range: \"{}\"", to, text.trim()))
                .with_hint("infinite dates and timestamps are not supported"));
        }
        if lower == "epoch" {
            return Ok(Parts { date: Some(0), time: Some(0), zone: None });
        }
        let mut parts = Parts::default();
        let (mut loose, mut bc, mut half) = (Loose::default(), false, None);
        for word in words(&lower) {
            let known = match word.as_str() {
                "bc" => {
                    bc = true;
                    true
                }
                "ad" | "t" | "," => true,
                "am" | "pm" => {
                    half = Some(word == "pm");
                    true
                }
                w => parts.word(w, &mut loose, text)?,
            };
            if !known {
                return Err(invalid(text, to));
            }
        }
        loose.finish(&mut parts, text, bc)?;
        if let (Some(pm), Some(time)) = (half, parts.time) {
            let hour = time / HOUR;
            if !(1..=12).contains(&hour) {
                return Err(field_overflow(text));
            }
            parts.time = Some(time - hour * HOUR + (hour % 12 + if pm { 12 } else { 0 }) * HOUR);
        }
        Ok(parts)
    }

    /// One word; false if it means nothing.
    fn word(&mut self, w: &str, loose: &mut Loose, text: &str) -> Result<bool> {
        let first = w.chars().next().unwrap_or(' ');
        if w.contains(':') && first.is_ascii_digit() {
            self.time = Some(clock(w).ok_or_else(|| field_overflow(text))?);
            return Ok(true);
        }
        if (first == '+' || first == '-') && self.time.is_some() {
            let Some(offset) = zone(w) else { return Ok(false) };
            self.zone = Some(offset);
            return Ok(true);
        }
        if first.is_ascii_alphabetic() {
            if matches!(w, "z" | "utc" | "gmt" | "zulu") {
                self.zone = Some(0);
                return Ok(true);
            }
            if let Some(m) = MONTHS.iter().position(|m| w.starts_with(m)) {
                loose.month = Some(i64::try_from(m).unwrap_or(0) + 1);
                return Ok(true);
            }
            return Ok(WEEKDAYS.iter().any(|d| w.starts_with(d)));
        }
        if let Some(separator) = ['-', '/', '.'].into_iter().find(|c| w.contains(*c)) {
            let fields: Vec<&str> = w.split(separator).collect();
            let [a, b, c] = fields.as_slice() else { return Ok(false) };
            for field in [a, b, c] {
                if let Some(m) = MONTHS.iter().position(|m| field.starts_with(m)) {
                    loose.month = Some(i64::try_from(m).unwrap_or(0) + 1);
                } else {
                    let Ok(n) = field.parse::<i64>() else { return Ok(false) };
                    loose.numbers.push((n, field.len()));
                }
            }
            return Ok(true);
        }
        let Ok(n) = w.parse::<i64>() else { return Ok(false) };
        match w.len() {
            8 if loose.numbers.is_empty() => loose.numbers.extend([(n / 10_000, 4), (n / 100 % 100, 2), (n % 100, 2)]),
            6 if self.date.is_none() && !loose.numbers.is_empty() && self.time.is_none() => {
                self.time = Some(n / 10_000 * HOUR + n / 100 % 100 * MINUTE + n % 100 * SECOND);
            }
            len => loose.numbers.push((n, len)),
        }
        Ok(true)
    }
}

impl Loose {
    fn finish(self, parts: &mut Parts, text: &str, bc: bool) -> Result<()> {
        let (year, month, day) = match (self.month, self.numbers.as_slice()) {
            (None, []) => return Ok(()),
            (None, [(y, len), (m, _), (d, _)]) if *len >= 3 => ((*y, *len), *m, *d),
            (None, [(m, _), (d, _), (y, len)]) => ((*y, *len), *m, *d),
            (Some(m), [(y, len), (d, _)]) if *len >= 3 => ((*y, *len), m, *d),
            (Some(m), [(d, _), (y, len)]) => ((*y, *len), m, *d),
            _ => return Err(invalid(text, &SqlType::Date)),
        };
        let mut y = match year {
            (y, 0..=2) if !bc => y + if y < 70 { 2000 } else { 1900 },
            (y, _) => y,
        };
        if bc {
            y = 1 - y;
        } else if y == 0 {
            return Err(field_overflow(text));
        }
        if !(1..=12).contains(&month) || day < 1 || day > calendar::days_in_month(y, month) {
            return Err(field_overflow(text));
        }
        if y.abs() > 6_000_000 {
            return Err(out_of_range(text, &SqlType::Date));
        }
        parts.date = Some(calendar::days(Civil { year: y, month, day }));
        Ok(())
    }
}

/// Cuts at blanks, before a zone sign behind a time, at the `T` between date and time, and between digits and letters.
fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for piece in text.split([' ', ',', '\t', '\n']).filter(|p| !p.is_empty()) {
        let mut word = String::new();
        let mut clock = false;
        for c in piece.chars() {
            let last = word.chars().next_back();
            let alphabetic = c.is_ascii_alphabetic();
            let date_name = word.contains('-') || c == '-';
            let cut = match last {
                None => false,
                Some(l) if l.is_ascii_digit() && alphabetic => !word.ends_with('-') && (c == 't' || c == 'z' || clock || !date_name),
                Some(l) if l.is_ascii_alphabetic() && c.is_ascii_digit() => word == "t" || !date_name,
                Some(_) => clock && matches!(c, '+' | '-'),
            };
            if cut {
                out.push(std::mem::take(&mut word));
                clock = false;
            }
            clock |= c == ':' && !word.starts_with(['+', '-']);
            word.push(c);
        }
        out.push(word);
    }
    out
}

/// `hh:mm[:ss[.ffffff]]` in micros; 24:00:00 is the end of the day.
fn clock(w: &str) -> Option<i64> {
    let mut fields = w.split(':');
    let hour: i64 = fields.next()?.parse().ok()?;
    let minute: i64 = fields.next()?.parse().ok()?;
    let second = match fields.next() {
        Some(s) => seconds(s)?,
        None => 0,
    };
    let total = hour * HOUR + minute * MINUTE + second;
    let fine = fields.next().is_none() && (0..=24).contains(&hour) && (0..60).contains(&minute) && second <= 60 * SECOND && total <= DAY;
    fine.then_some(total)
}

/// Seconds with a fraction in micros, rounded.
pub(crate) fn seconds(s: &str) -> Option<i64> {
    let (whole, fraction) = s.split_once('.').unwrap_or((s, ""));
    if (whole.is_empty() && fraction.is_empty()) || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut micros = 0;
    for i in 0..6 {
        micros = micros * 10 + fraction.as_bytes().get(i).map_or(0, |b| i64::from(b - b'0'));
    }
    if fraction.as_bytes().get(6).is_some_and(|b| *b >= b'5') {
        micros += 1;
    }
    whole.checked_mul(SECOND)?.checked_add(micros)
}

/// `+02`, `+0230`, `+02:30` in micros.
fn zone(w: &str) -> Option<i64> {
    let (sign, rest) = w.strip_prefix('-').map_or((1, w.get(1..)?), |r| (-1, r));
    let digits: String = rest.chars().filter(|c| *c != ':').collect();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let n: i64 = digits.parse().ok()?;
    let minutes = match digits.len() {
        1 | 2 => n * 60,
        3 | 4 => n / 100 * 60 + n % 100,
        _ => return None,
    };
    (minutes < 16 * 60).then_some(sign * minutes * MINUTE)
}
