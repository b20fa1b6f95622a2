//! numeric in binary: groups of four decimal digits, the weight of the first group, the sign, and the digits to show behind the point.

use std::fmt::Write;

use bytes::{BufMut, BytesMut};
use millstream_types::{Error, Result};

/// A value's digits per group.
const GROUP_DIGITS: usize = 4;
const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const INFINITY: u16 = 0xD000;
const NEGATIVE_INFINITY: u16 = 0xF000;

/// Appends `unscaled` x 10^-`scale`.
pub(super) fn put_numeric(unscaled: i128, scale: i8, out: &mut BytesMut) -> Result<()> {
    let shown = usize::try_from(scale).unwrap_or(0);
    let mut digits = unscaled.unsigned_abs().to_string();
    if scale < 0 {
        digits.extend(std::iter::repeat_n('0', usize::from(scale.unsigned_abs())));
    }
    if digits.len() < shown {
        digits.insert_str(0, &"0".repeat(shown - digits.len()));
    }
    let whole = digits.len() - shown;
    let whole_groups = whole.div_ceil(GROUP_DIGITS);
    let mut padded = "0".repeat(whole_groups * GROUP_DIGITS - whole);
    padded.push_str(&digits);
    padded.push_str(&"0".repeat((GROUP_DIGITS - shown % GROUP_DIGITS) % GROUP_DIGITS));
    let groups: Vec<u16> = padded
        .as_bytes()
        .chunks(GROUP_DIGITS)
        .map(|group| group.iter().fold(0, |value, digit| value * 10 + u16::from(digit - b'0')))
        .collect();
    let leading = groups.iter().take_while(|g| **g == 0).count();
    let last = groups.iter().rposition(|g| *g != 0).map_or(leading, |at| at + 1);
    let groups = groups.get(leading..last).unwrap_or_default();
    let narrow = |n: usize| i16::try_from(n).map_err(Error::internal);
    let weight = if groups.is_empty() { 0 } else { narrow(whole_groups)? - narrow(leading)? - 1 };
    out.put_i16(narrow(groups.len())?);
    out.put_i16(weight);
    out.put_u16(if unscaled < 0 { NEGATIVE } else { 0 });
    out.put_i16(narrow(shown)?);
    groups.iter().for_each(|group| out.put_u16(*group));
    Ok(())
}

/// The decimal text of a binary numeric; `None` if the bytes are none.
pub(in crate::pg) fn numeric_text(bytes: &[u8]) -> Option<String> {
    let words: Vec<u16> = bytes.chunks(2).map(|pair| Some(u16::from_be_bytes(pair.try_into().ok()?))).collect::<Option<_>>()?;
    let [count, weight, sign, shown, groups @ ..] = words.as_slice() else { return None };
    if usize::from(*count) != groups.len() || *shown > 0x3fff || groups.iter().any(|group| *group > 9_999) {
        return None;
    }
    let sign = match *sign {
        0 => "",
        NEGATIVE => "-",
        NAN => return Some("NaN".to_owned()),
        INFINITY => return Some("Infinity".to_owned()),
        NEGATIVE_INFINITY => return Some("-Infinity".to_owned()),
        _ => return None,
    };
    let whole = isize::from(weight.cast_signed()) + 1;
    let mut text = format!("{sign}0");
    for at in 0..whole {
        let group = usize::try_from(at).ok().and_then(|at| groups.get(at)).copied().unwrap_or(0);
        // Writing to a String cannot fail.
        let _ = write!(text, "{group:04}");
    }
    text.push('.');
    text.push_str(&"0000".repeat(usize::try_from(-whole).unwrap_or(0)));
    for group in groups.iter().skip(usize::try_from(whole).unwrap_or(0)) {
        let _ = write!(text, "{group:04}");
    }
    Some(text)
}
