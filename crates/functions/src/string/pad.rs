//! Longer text, up to the size that a row may have.

use arrow::array::{ArrayRef, Int32Array, StringArray};
use millstream_types::limits::MAX_ROW_BYTES;
use millstream_types::{Error, Result, SqlState};

use crate::operand::Args;

fn check(bytes: usize) -> Result<()> {
    if bytes > MAX_ROW_BYTES {
        return Err(Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "requested length too large"));
    }
    Ok(())
}

/// `lpad` and `rpad`: fills up to a length, or cuts to it.
pub(super) fn pad(args: &Args, before: bool) -> Result<ArrayRef> {
    let (s, length) = (args.lane::<StringArray>(0)?, args.lane::<Int32Array>(1)?);
    let fill = if args.len() > 2 { Some(args.lane::<StringArray>(2)?) } else { None };
    args.map_text(|row, out| {
        let (s, length) = (s.get(row), usize::try_from(length.get(row)).unwrap_or(0));
        check(length)?;
        let fill = fill.as_ref().map_or(" ", |f| f.get(row));
        let have = s.chars().count();
        if have >= length || fill.is_empty() {
            out.extend(s.chars().take(length));
            return Ok(());
        }
        if !before {
            out.push_str(s);
        }
        out.extend(fill.chars().cycle().take(length - have));
        if before {
            out.push_str(s);
        }
        Ok(())
    })
}

pub(super) fn repeat(args: &Args) -> Result<ArrayRef> {
    let (s, times) = (args.lane::<StringArray>(0)?, args.lane::<Int32Array>(1)?);
    args.map_text(|row, out| {
        let times = usize::try_from(times.get(row)).unwrap_or(0);
        check(s.get(row).len().saturating_mul(times))?;
        (0..times).for_each(|_| out.push_str(s.get(row)));
        Ok(())
    })
}
