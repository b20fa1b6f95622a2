//! Functions of text. Positions and lengths count characters; `split_index` and `regexp_extract` are Flink's, the rest PostgreSQL's.
//!
//! Rooms: [`slice`] takes text apart, [`pad`] makes it longer, [`regex`] are regular expressions; what is left is here.

mod pad;
mod regex;
mod slice;

use arrow::array::{Array, ArrayRef, BinaryArray, Int32Array, Int64Array, StringArray, StringBuilder};
use arrow::datatypes::Int32Type;
use millstream_types::{Error, Result, SqlState};
use std::sync::Arc;

use crate::cast::output_text;
use crate::function::{Function, functions};
use crate::operand::Args;
pub(crate) use regex::FUNCTIONS as REGEX;

/// The functions of this family.
pub(crate) const FUNCTIONS: &[Function] = functions! {
    "lower": (Text) -> Text => |a| text(a, |s, out| out.extend(s.chars().map(lower)));
    "upper": (Text) -> Text => |a| text(a, |s, out| out.extend(s.chars().map(upper)));
    "initcap": (Text) -> Text => |a| text(a, initcap);
    "reverse": (Text) -> Text => |a| text(a, |s, out| out.extend(s.chars().rev()));
    "md5": (Text) -> Text => md5_text, (Bytea) -> Text => md5_bytes;
    "length": (Text) -> Int4 => |a| count(a, |s| s.chars().count()), (Bytea) -> Int4 => |a| count_bytes(a, 1);
    "char_length": (Text) -> Int4 => |a| count(a, |s| s.chars().count());
    "character_length": (Text) -> Int4 => |a| count(a, |s| s.chars().count());
    "octet_length": (Text) -> Int4 => |a| count(a, str::len), (Bytea) -> Int4 => |a| count_bytes(a, 1);
    "bit_length": (Text) -> Int4 => |a| count(a, |s| s.len() * 8), (Bytea) -> Int4 => |a| count_bytes(a, 8);
    "ascii": (Text) -> Int4 => ascii;
    "chr": (Int4) -> Text => chr;
    "to_hex": (Int4) -> Text => to_hex4, (Int8) -> Text => to_hex8;
    "starts_with": (Text, Text) -> Bool => |a| pair(a, |s, t| s.starts_with(t));
    "ends_with": (Text, Text) -> Bool => |a| pair(a, |s, t| s.ends_with(t));
    "strpos": (Text, Text) -> Int4 => slice::strpos;
    "instr": (Text, Text) -> Int4 => slice::strpos;
    "substr": (Text, Int4) -> Text => slice::substr, (Text, Int4, Int4) -> Text => slice::substr;
    "substring":
        (Text, Int4) -> Text => slice::substr,
        (Text, Int4, Int4) -> Text => slice::substr,
        (Text, Text) -> Text => regex::substring;
    "left": (Text, Int4) -> Text => slice::left;
    "right": (Text, Int4) -> Text => slice::right;
    "split_part": (Text, Text, Int4) -> Text => slice::split_part;
    "split_index": (Text, Text, Int4) -> Text => slice::split_index;
    "btrim": (Text) -> Text => |a| slice::trim(a, true, true), (Text, Text) -> Text => |a| slice::trim(a, true, true);
    "trim": (Text) -> Text => |a| slice::trim(a, true, true), (Text, Text) -> Text => |a| slice::trim(a, true, true);
    "ltrim": (Text) -> Text => |a| slice::trim(a, true, false), (Text, Text) -> Text => |a| slice::trim(a, true, false);
    "rtrim": (Text) -> Text => |a| slice::trim(a, false, true), (Text, Text) -> Text => |a| slice::trim(a, false, true);
    "lpad": (Text, Int4) -> Text => |a| pad::pad(a, true), (Text, Int4, Text) -> Text => |a| pad::pad(a, true);
    "rpad": (Text, Int4) -> Text => |a| pad::pad(a, false), (Text, Int4, Text) -> Text => |a| pad::pad(a, false);
    "repeat": (Text, Int4) -> Text => pad::repeat;
    "replace": (Text, Text, Text) -> Text => replace;
    "translate": (Text, Text, Text) -> Text => translate;
    "ms_concat": (Text, Text) -> Text => join;
    "concat": (Any; variadic) -> Text => concat;
    "concat_ws": (Text, Any; variadic) -> Text => concat_ws;
};

/// A text made of one text.
fn text(args: &Args, f: impl Fn(&str, &mut String)) -> Result<ArrayRef> {
    let s = args.lane::<StringArray>(0)?;
    args.map_text(|row, out| {
        f(s.get(row), out);
        Ok(())
    })
}

/// One character for one, as in PostgreSQL: what has no single counterpart stays.
fn upper(c: char) -> char {
    let mut all = c.to_uppercase();
    match (all.next(), all.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

fn pair(args: &Args, f: impl Fn(&str, &str) -> bool) -> Result<ArrayRef> {
    let (s, t) = (args.lane::<StringArray>(0)?, args.lane::<StringArray>(1)?);
    args.map_bool(|row| Ok(f(s.get(row), t.get(row))))
}

/// A size as integer.
fn size(n: usize) -> Result<i32> {
    i32::try_from(n).map_err(|_| Error::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "integer out of range"))
}

fn count(args: &Args, f: impl Fn(&str) -> usize) -> Result<ArrayRef> {
    let s = args.lane::<StringArray>(0)?;
    args.map::<Int32Type>(|row| size(f(s.get(row))))
}

fn count_bytes(args: &Args, times: usize) -> Result<ArrayRef> {
    let s = args.lane::<BinaryArray>(0)?;
    args.map::<Int32Type>(|row| size(s.get(row).len() * times))
}

fn initcap(s: &str, out: &mut String) {
    let mut inside = false;
    for c in s.chars() {
        out.push(if inside { lower(c) } else { upper(c) });
        inside = c.is_alphanumeric();
    }
}

fn md5_text(args: &Args) -> Result<ArrayRef> {
    text(args, |s, out| out.push_str(&format!("{:x}", md5::compute(s))))
}

fn md5_bytes(args: &Args) -> Result<ArrayRef> {
    let s = args.lane::<BinaryArray>(0)?;
    args.map_text(|row, out| {
        out.push_str(&format!("{:x}", md5::compute(s.get(row))));
        Ok(())
    })
}

fn ascii(args: &Args) -> Result<ArrayRef> {
    let s = args.lane::<StringArray>(0)?;
    args.map::<Int32Type>(|row| Ok(s.get(row).chars().next().map_or(0, |c| i32::try_from(u32::from(c)).unwrap_or(0))))
}

fn chr(args: &Args) -> Result<ArrayRef> {
    let n = args.lane::<Int32Array>(0)?;
    args.map_text(|row, out| {
        let n = n.get(row);
        let wrong = |m: String| Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, m);
        match n {
            0 => return Err(wrong("null character not permitted".into())),
            i32::MIN..0 => return Err(wrong("character number must be positive".into())),
            _ => {}
        }
        let c = u32::try_from(n).ok().and_then(char::from_u32);
        out.push(c.ok_or_else(|| wrong(format!("requested character too large for encoding: {n}")))?);
        Ok(())
    })
}

fn to_hex4(args: &Args) -> Result<ArrayRef> {
    let n = args.lane::<Int32Array>(0)?;
    args.map_text(|row, out| {
        out.push_str(&format!("{:x}", n.get(row)));
        Ok(())
    })
}

fn to_hex8(args: &Args) -> Result<ArrayRef> {
    let n = args.lane::<Int64Array>(0)?;
    args.map_text(|row, out| {
        out.push_str(&format!("{:x}", n.get(row)));
        Ok(())
    })
}

fn replace(args: &Args) -> Result<ArrayRef> {
    let (s, from, to) = (args.lane::<StringArray>(0)?, args.lane::<StringArray>(1)?, args.lane::<StringArray>(2)?);
    args.map_text(|row, out| {
        let (s, from) = (s.get(row), from.get(row));
        if from.is_empty() {
            out.push_str(s);
            return Ok(());
        }
        for (i, piece) in s.split(from).enumerate() {
            if i > 0 {
                out.push_str(to.get(row));
            }
            out.push_str(piece);
        }
        Ok(())
    })
}

/// `||`: NULL if either side is.
fn join(args: &Args) -> Result<ArrayRef> {
    let (s, t) = (args.lane::<StringArray>(0)?, args.lane::<StringArray>(1)?);
    args.map_text(|row, out| {
        out.push_str(s.get(row));
        out.push_str(t.get(row));
        Ok(())
    })
}

fn translate(args: &Args) -> Result<ArrayRef> {
    let (s, from, to) = (args.lane::<StringArray>(0)?, args.lane::<StringArray>(1)?, args.lane::<StringArray>(2)?);
    args.map_text(|row, out| {
        for c in s.get(row).chars() {
            match from.get(row).chars().position(|f| f == c) {
                None => out.push(c),
                Some(i) => out.extend(to.get(row).chars().nth(i)),
            }
        }
        Ok(())
    })
}

/// Texts of arguments with how to step through them.
fn texts(args: &Args, from: usize) -> Result<Vec<(StringArray, usize)>> {
    args.operands[from.min(args.len())..].iter().map(|o| Ok((output_text(&o.array)?, usize::from(!o.scalar)))).collect()
}

fn concat(args: &Args) -> Result<ArrayRef> {
    let parts = texts(args, 0)?;
    let mut out = StringBuilder::with_capacity(args.rows, args.rows * 16);
    let mut line = String::new();
    for row in 0..args.rows {
        line.clear();
        for (part, stride) in &parts {
            if part.is_valid(row * stride) {
                line.push_str(part.value(row * stride));
            }
        }
        out.append_value(&line);
    }
    Ok(Arc::new(out.finish()))
}

fn concat_ws(args: &Args) -> Result<ArrayRef> {
    let separator = args.lane::<StringArray>(0)?;
    let parts = texts(args, 1)?;
    let mut out = StringBuilder::with_capacity(args.rows, args.rows * 16);
    let mut line = String::new();
    for row in 0..args.rows {
        if separator.is_null(row) {
            out.append_null();
            continue;
        }
        line.clear();
        let mut first = true;
        for (part, stride) in &parts {
            if part.is_valid(row * stride) {
                if !first {
                    line.push_str(separator.get(row));
                }
                first = false;
                line.push_str(part.value(row * stride));
            }
        }
        out.append_value(&line);
    }
    Ok(Arc::new(out.finish()))
}
