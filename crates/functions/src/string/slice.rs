//! Parts of a text.

use arrow::array::{ArrayRef, Int32Array, StringArray};
use arrow::datatypes::Int32Type;
use millstream_types::{Error, Result, SqlState};

use super::size;
use crate::operand::Args;

/// Byte offset of character `n` (0-based), the end if there are fewer.
fn offset(s: &str, n: usize) -> usize {
    if s.is_ascii() { n.min(s.len()) } else { s.char_indices().nth(n).map_or(s.len(), |(at, _)| at) }
}

fn chars(n: i64) -> usize {
    usize::try_from(n.max(0)).unwrap_or(usize::MAX)
}

/// From a 1-based position that may lie before the text, up to `length` characters.
pub(super) fn substr(args: &Args) -> Result<ArrayRef> {
    let (s, start) = (args.lane::<StringArray>(0)?, args.lane::<Int32Array>(1)?);
    let length = if args.len() > 2 { Some(args.lane::<Int32Array>(2)?) } else { None };
    args.map_text(|row, out| {
        let (s, start) = (s.get(row), i64::from(start.get(row)));
        let rest = &s[offset(s, chars(start - 1))..];
        let Some(length) = &length else {
            out.push_str(rest);
            return Ok(());
        };
        let length = i64::from(length.get(row));
        if length < 0 {
            let state = SqlState::from_code("22011").unwrap_or(SqlState::DATA_EXCEPTION);
            return Err(Error::new(state, "negative substring length not allowed"));
        }
        let keep = start + length - start.max(1);
        out.push_str(&rest[..offset(rest, chars(keep))]);
        Ok(())
    })
}

/// The first `n` characters; negative: all but the last `-n`.
pub(super) fn left(args: &Args) -> Result<ArrayRef> {
    let (s, n) = (args.lane::<StringArray>(0)?, args.lane::<Int32Array>(1)?);
    args.map_text(|row, out| {
        let (s, n) = (s.get(row), i64::from(n.get(row)));
        let keep = if n >= 0 { n } else { i64::from(size(s.chars().count())?) + n };
        out.push_str(&s[..offset(s, chars(keep))]);
        Ok(())
    })
}

/// The last `n` characters; negative: all but the first `-n`.
pub(super) fn right(args: &Args) -> Result<ArrayRef> {
    let (s, n) = (args.lane::<StringArray>(0)?, args.lane::<Int32Array>(1)?);
    args.map_text(|row, out| {
        let (s, n) = (s.get(row), i64::from(n.get(row)));
        let skip = if n >= 0 { i64::from(size(s.chars().count())?) - n } else { -n };
        out.push_str(&s[offset(s, chars(skip))..]);
        Ok(())
    })
}

/// 1-based position, 0 if it is not in.
pub(super) fn strpos(args: &Args) -> Result<ArrayRef> {
    let (s, part) = (args.lane::<StringArray>(0)?, args.lane::<StringArray>(1)?);
    args.map::<Int32Type>(|row| match s.get(row).find(part.get(row)) {
        Some(at) => size(s.get(row)[..at].chars().count() + 1),
        None => Ok(0),
    })
}

/// Field `n` from 1, or from the end when negative; empty if there is none.
pub(super) fn split_part(args: &Args) -> Result<ArrayRef> {
    let (s, by, n) = (args.lane::<StringArray>(0)?, args.lane::<StringArray>(1)?, args.lane::<Int32Array>(2)?);
    args.map_text(|row, out| {
        let (s, by, n) = (s.get(row), by.get(row), n.get(row));
        if n == 0 {
            return Err(Error::new(SqlState::INVALID_PARAMETER_VALUE, "field position must not be zero"));
        }
        let back = usize::try_from(n.unsigned_abs() - 1).unwrap_or(usize::MAX);
        let part = if s.is_empty() {
            None
        } else if by.is_empty() {
            (back == 0).then_some(s)
        } else if n > 0 {
            s.split(by).nth(back)
        } else {
            s.split(by).collect::<Vec<_>>().into_iter().rev().nth(back)
        };
        out.push_str(part.unwrap_or_default());
        Ok(())
    })
}

/// Flink's: field `n` from 0; NULL if there is none.
pub(super) fn split_index(args: &Args) -> Result<ArrayRef> {
    let (s, by, n) = (args.lane::<StringArray>(0)?, args.lane::<StringArray>(1)?, args.lane::<Int32Array>(2)?);
    args.map_optional_text(|row| {
        let (s, by) = (s.get(row), by.get(row));
        let Ok(n) = usize::try_from(n.get(row)) else { return Ok(None) };
        if s.is_empty() || by.is_empty() {
            return Ok(None);
        }
        Ok(s.split(by).nth(n).map(str::to_string))
    })
}

/// Takes characters of a set (blanks without one) off the ends.
pub(super) fn trim(args: &Args, start: bool, end: bool) -> Result<ArrayRef> {
    let s = args.lane::<StringArray>(0)?;
    let set = if args.len() > 1 { Some(args.lane::<StringArray>(1)?) } else { None };
    args.map_text(|row, out| {
        let set = set.as_ref().map_or(" ", |set| set.get(row));
        let mut s = s.get(row);
        if start {
            s = s.trim_start_matches(|c| set.contains(c));
        }
        if end {
            s = s.trim_end_matches(|c| set.contains(c));
        }
        out.push_str(s);
        Ok(())
    })
}
