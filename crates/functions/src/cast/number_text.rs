//! Numbers and booleans from and to text.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Decimal128Array, PrimitiveArray, StringArray};
use arrow::datatypes::{ArrowPrimitiveType, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type};
use millstream_types::{Error, Result, SqlState, SqlType};

use super::number::{field_overflow, fit};
use crate::function::short_name;

pub(super) fn parse(array: &StringArray, to: &SqlType) -> Result<ArrayRef> {
    match to {
        SqlType::Boolean => {
            let values = array.iter().map(|v| v.map(boolean).transpose());
            Ok(Arc::new(values.collect::<Result<BooleanArray>>()?))
        }
        SqlType::SmallInt => each::<Int16Type>(array, |s| integer(s, to).and_then(|v| narrow(v, s, to))),
        SqlType::Integer => each::<Int32Type>(array, |s| integer(s, to).and_then(|v| narrow(v, s, to))),
        SqlType::BigInt => each::<Int64Type>(array, |s| integer(s, to).and_then(|v| narrow(v, s, to))),
        SqlType::Real => each::<Float32Type>(array, |s| float(s, to, s.trim().parse::<f32>().ok(), f32::is_infinite, |v| v == 0.0)),
        SqlType::Double => each::<Float64Type>(array, |s| float(s, to, s.trim().parse::<f64>().ok(), f64::is_infinite, |v| v == 0.0)),
        SqlType::Numeric { precision, scale } => {
            let values = array.iter().map(|v| v.map(|s| numeric(s, *precision, *scale)).transpose());
            let values = values.collect::<Result<Decimal128Array>>()?;
            Ok(Arc::new(values.with_data_type(to.to_arrow())))
        }
        other => Err(Error::internal(format!("no number: {other}"))),
    }
}

fn each<T: ArrowPrimitiveType>(array: &StringArray, f: impl Fn(&str) -> Result<T::Native>) -> Result<ArrayRef> {
    let values = array.iter().map(|v| v.map(&f).transpose());
    Ok(Arc::new(values.collect::<Result<PrimitiveArray<T>>>()?))
}

/// 22P02.
pub(crate) fn invalid(text: &str, to: &SqlType) -> Error {
    Error::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("invalid input syntax for type {}: \"{text}\"", short_name(to)))
}

fn boolean(text: &str) -> Result<bool> {
    let word = text.trim_matches(is_space).to_ascii_lowercase();
    let starts = |full: &str, least: usize| word.len() >= least && full.starts_with(&word);
    if starts("true", 1) || starts("yes", 1) || starts("on", 2) || word == "1" {
        Ok(true)
    } else if starts("false", 1) || starts("no", 1) || starts("off", 2) || word == "0" {
        Ok(false)
    } else {
        Err(invalid(text, &SqlType::Boolean))
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}

fn integer(text: &str, to: &SqlType) -> Result<i64> {
    let word = text.trim_matches(is_space);
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(invalid(text, to));
    }
    word.parse().map_err(|_| too_large(text, to))
}

fn narrow<T: TryFrom<i64>>(v: i64, text: &str, to: &SqlType) -> Result<T> {
    T::try_from(v).map_err(|_| too_large(text, to))
}

fn too_large(text: &str, to: &SqlType) -> Error {
    let text = text.trim_matches(is_space);
    Error::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("value \"{text}\" is out of range for type {to}"))
}

fn float<F: Copy>(text: &str, to: &SqlType, parsed: Option<F>, infinite: fn(F) -> bool, zero: fn(F) -> bool) -> Result<F> {
    let v = parsed.ok_or_else(|| invalid(text, to))?;
    let named = text.bytes().any(|b| matches!(b, b'n' | b'N'));
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let lost = zero(v) && digits.bytes().any(|b| (b'1'..=b'9').contains(&b));
    if (infinite(v) && !named) || lost {
        let text = text.trim();
        return Err(Error::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("\"{text}\" is out of range for type {to}")));
    }
    Ok(v)
}

fn numeric(text: &str, precision: u8, scale: i8) -> Result<i128> {
    let to = SqlType::Numeric { precision, scale };
    let word = text.trim_matches(is_space);
    let bare = word.strip_prefix(['+', '-']).unwrap_or(word).to_ascii_lowercase();
    if bare == "nan" || bare == "inf" || bare == "infinity" {
        return Err(Error::unsupported(format!("{word} as a numeric")));
    }
    match decimal_from_text(word, precision, scale) {
        None => Err(invalid(text, &to)),
        Some(v) => v,
    }
}

/// Decimal text with an optional exponent as unscaled digits, rounded half away from zero; `None` if it is no number.
pub(crate) fn decimal_from_text(word: &str, precision: u8, scale: i8) -> Option<Result<i128>> {
    let (negative, rest) = match word.as_bytes().first()? {
        b'-' => (true, &word[1..]),
        b'+' => (false, &word[1..]),
        _ => (false, word),
    };
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], rest[at + 1..].parse::<i32>().ok()?),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if whole.len() + fraction.len() == 0 || !digits().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Digits beyond 38 significant ones only matter for rounding, which looks at one digit behind the scale.
    let keep = i64::try_from(whole.len()).ok()? + i64::from(exponent) + i64::from(scale);
    if keep < 0 || digits().all(|b| b == b'0') {
        return Some(Ok(0));
    }
    let mut value: i128 = 0;
    let mut taken = 0_i64;
    let mut all = digits();
    while taken < keep {
        let digit = all.next().map_or(0, |b| b - b'0');
        value = match value.checked_mul(10).and_then(|v| v.checked_add(i128::from(digit))) {
            Some(v) => v,
            None => return Some(Err(field_overflow(precision, scale))),
        };
        taken += 1;
    }
    if all.next().is_some_and(|b| b >= b'5') {
        value += 1;
    }
    let value = if negative { -value } else { value };
    Some(fit(value, scale, precision, scale).ok_or_else(|| field_overflow(precision, scale)))
}

/// A numeric with all digits of its scale.
pub(crate) fn write_numeric(out: &mut String, unscaled: i128, scale: i8) {
    if unscaled < 0 {
        out.push('-');
    }
    let scale = usize::from(scale.unsigned_abs());
    let digits = unscaled.unsigned_abs().to_string();
    if scale == 0 {
        out.push_str(&digits);
        return;
    }
    let padded = if digits.len() <= scale { format!("{digits:0>width$}", width = scale + 1) } else { digits };
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    out.push_str(whole);
    out.push('.');
    out.push_str(fraction);
}

/// The shortest text that reads back as the same double.
pub(crate) fn write_double(out: &mut String, v: f64) {
    if v.is_finite() { write_shortest(out, &format!("{v:e}"), 15) } else { write_special(out, v) }
}

/// The shortest text that reads back as the same real.
pub(crate) fn write_real(out: &mut String, v: f32) {
    if v.is_finite() { write_shortest(out, &format!("{v:e}"), 6) } else { write_special(out, f64::from(v)) }
}

fn write_special(out: &mut String, v: f64) {
    out.push_str(if v.is_nan() {
        "NaN"
    } else if v > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    });
}

/// Lays out `d.ddde-x`; plain digits for exponents from -4 to below `plain`.
fn write_shortest(out: &mut String, scientific: &str, plain: i32) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |m| ("-", m));
    out.push_str(sign);
    if !(-4..plain).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        // Writing to a String cannot fail.
        let _ = write!(out, "{mantissa}e{sign}{:02}", exponent.abs());
        return;
    }
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    if exponent < 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', usize::try_from(-exponent - 1).unwrap_or(0)));
        out.push_str(&digits);
        return;
    }
    let whole = usize::try_from(exponent).unwrap_or(0) + 1;
    if digits.len() <= whole {
        out.push_str(&digits);
        out.extend(std::iter::repeat_n('0', whole - digits.len()));
    } else {
        out.push_str(&digits[..whole]);
        out.push('.');
        out.push_str(&digits[whole..]);
    }
}
