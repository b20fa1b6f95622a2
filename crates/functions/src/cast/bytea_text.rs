//! bytea from and to text: `\x` and hexadecimal digits out; hexadecimal or escape format in.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, StringArray};
use millstream_types::{Error, Result, SqlState};

pub(super) fn parse(array: &StringArray) -> Result<ArrayRef> {
    let values = array.iter().map(|v| v.map(bytes).transpose()).collect::<Result<Vec<Option<Vec<u8>>>>>()?;
    Ok(Arc::new(values.iter().map(Option::as_deref).collect::<BinaryArray>()))
}

fn bytes(text: &str) -> Result<Vec<u8>> {
    if let Some(hex) = text.strip_prefix("\\x") {
        let digits: Vec<char> = hex.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let values = digits.iter().map(|c| {
            c.to_digit(16)
                .and_then(|d| u8::try_from(d).ok())
                .ok_or_else(|| Error::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid hexadecimal digit: \"{c}\"")))
        });
        let values = values.collect::<Result<Vec<u8>>>()?;
        if values.len() % 2 != 0 {
            return Err(Error::new(SqlState::INVALID_PARAMETER_VALUE, "invalid hexadecimal data: odd number of digits"));
        }
        return Ok(values.chunks_exact(2).map(|pair| pair[0] * 16 + pair[1]).collect());
    }
    escaped(text.as_bytes())
}

fn escaped(text: &[u8]) -> Result<Vec<u8>> {
    let invalid = || Error::new(SqlState::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type bytea");
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        match &text[at..] {
            [b'\\', b'\\', ..] => {
                out.push(b'\\');
                at += 2;
            }
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
                out.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                at += 4;
            }
            [b'\\', ..] => return Err(invalid()),
            [plain, ..] => {
                out.push(*plain);
                at += 1;
            }
            [] => break,
        }
    }
    Ok(out)
}

/// `\x...`.
pub(crate) fn write_hex(out: &mut String, bytes: &[u8]) {
    out.push_str("\\x");
    for b in bytes {
        let _ = write!(out, "{b:02x}");
    }
}
