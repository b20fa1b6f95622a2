//! Regular expressions. The syntax is that of the Rust `regex` crate: what it shares with PostgreSQL's advanced regular expressions
//! behaves the same (leftmost match); back-references and look-around are refused with 2201B.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, ListBuilder, StringArray, StringBuilder};
use arrow::datatypes::Int32Type;
use millstream_types::{Error, Result, SqlState};
use regex::{Regex, RegexBuilder};

use super::size;
use crate::function::{Function, functions};
use crate::operand::Args;

/// The functions of this family.
pub(crate) const FUNCTIONS: &[Function] = functions! {
    "regexp_like": (Text, Text) -> Bool => like, (Text, Text, Text) -> Bool => like;
    "regexp_count": (Text, Text) -> Int4 => count;
    "regexp_substr": (Text, Text) -> Text => |a| extract(a, |_| 0);
    "regexp_extract": (Text, Text) -> Text => |a| extract(a, |_| 0), (Text, Text, Int4) -> Text => extract_group;
    "regexp_replace": (Text, Text, Text) -> Text => replace, (Text, Text, Text, Text) -> Text => replace;
    "regexp_match": (Text, Text) -> Texts => groups, (Text, Text, Text) -> Texts => groups;
};

/// Compiled patterns of one call; the pattern is a constant nearly always.
#[derive(Default)]
struct Patterns(HashMap<(String, String), Regex>);

impl Patterns {
    fn get(&mut self, pattern: &str, flags: &str) -> Result<Regex> {
        let key = (pattern.to_string(), flags.to_string());
        if let Some(found) = self.0.get(&key) {
            return Ok(found.clone());
        }
        let mut builder = RegexBuilder::new(pattern);
        builder.dot_matches_new_line(true);
        for flag in flags.chars() {
            match flag {
                'g' | 'c' | 's' => {}
                'i' => {
                    builder.case_insensitive(true);
                }
                'n' | 'm' => {
                    builder.multi_line(true).dot_matches_new_line(false);
                }
                'x' => {
                    builder.ignore_whitespace(true);
                }
                other => {
                    let message = format!("invalid regular expression option: \"{other}\"");
                    return Err(Error::new(SqlState::INVALID_PARAMETER_VALUE, message));
                }
            }
        }
        let invalid = SqlState::from_code("2201B").unwrap_or(SqlState::DATA_EXCEPTION);
        let compiled = builder.build().map_err(|e| {
            let why = e.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_string();
            Error::new(invalid, format!("invalid regular expression: {why}"))
        })?;
        self.0.insert(key, compiled.clone());
        Ok(compiled)
    }
}

/// Runs `f` with the compiled pattern of a row (argument 1) and the flags (argument `flags`).
fn with_patterns<T>(args: &Args, flags: usize, f: impl Fn(&str, &Regex, &str) -> T) -> Result<impl FnMut(usize) -> Result<T>> {
    let (s, pattern) = (args.lane::<StringArray>(0)?, args.lane::<StringArray>(1)?);
    let flags = if args.len() > flags { Some(args.lane::<StringArray>(flags)?) } else { None };
    let mut patterns = Patterns::default();
    let constant = pattern.stride == 0 && flags.as_ref().is_none_or(|f| f.stride == 0);
    let mut last: Option<Regex> = None;
    Ok(move |row| {
        let flags = flags.as_ref().map_or("", |f| f.get(row));
        if !constant || last.is_none() {
            last = Some(patterns.get(pattern.get(row), flags)?);
        }
        let regex = last.as_ref().ok_or_else(|| Error::internal("no pattern"))?;
        Ok(f(s.get(row), regex, flags))
    })
}

fn like(args: &Args) -> Result<ArrayRef> {
    args.map_bool(with_patterns(args, 2, |s, regex, _| regex.is_match(s))?)
}

fn count(args: &Args) -> Result<ArrayRef> {
    let mut each = with_patterns(args, 2, |s, regex, _| regex.find_iter(s).count())?;
    args.map::<Int32Type>(|row| size(each(row)?))
}

fn group(s: &str, regex: &Regex, n: usize) -> Option<String> {
    regex.captures(s).and_then(|c| c.get(n).map(|m| m.as_str().to_string()))
}

fn extract(args: &Args, which: impl Fn(&Regex) -> usize) -> Result<ArrayRef> {
    args.map_optional_text(with_patterns(args, 9, |s, regex, _| group(s, regex, which(regex)))?)
}

/// `substring(s from pattern)`: the first group if there is one, else the match.
pub(super) fn substring(args: &Args) -> Result<ArrayRef> {
    extract(args, |regex| usize::from(regex.captures_len() > 1))
}

/// Flink's `REGEXP_EXTRACT(s, pattern, group)`.
fn extract_group(args: &Args) -> Result<ArrayRef> {
    let n = args.lane::<Int32Array>(2)?;
    let mut each = with_patterns(args, 9, |s, regex, _| {
        regex.captures(s).map(|c| c.iter().map(|m| m.map(|m| m.as_str().to_string())).collect::<Vec<_>>())
    })?;
    args.map_optional_text(|row| {
        let Ok(n) = usize::try_from(n.get(row)) else { return Ok(None) };
        Ok(each(row)?.and_then(|groups| groups.into_iter().nth(n).flatten()))
    })
}

fn replace(args: &Args) -> Result<ArrayRef> {
    let to = args.lane::<StringArray>(2)?;
    let mut each = with_patterns(args, 3, |s, regex, flags| (s.to_string(), regex.clone(), flags.contains('g')))?;
    args.map_text(|row, out| {
        let (s, regex, all) = each(row)?;
        let template = to.get(row);
        let mut end = 0;
        for captures in regex.captures_iter(&s).take(if all { usize::MAX } else { 1 }) {
            let Some(whole) = captures.get(0) else { continue };
            out.push_str(&s[end..whole.start()]);
            expand(template, &captures, out);
            end = whole.end();
        }
        out.push_str(&s[end..]);
        Ok(())
    })
}

/// `\1` to `\9` are groups, `\&` the match, `\\` a backslash.
fn expand(template: &str, captures: &regex::Captures<'_>, out: &mut String) {
    let mut chars = template.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('&') => out.push_str(captures.get(0).map_or("", |m| m.as_str())),
            Some(d @ '1'..='9') => {
                let n = d.to_digit(10).and_then(|d| usize::try_from(d).ok()).unwrap_or(0);
                out.push_str(captures.get(n).map_or("", |m| m.as_str()));
            }
            Some('\\') | None => out.push('\\'),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
        }
    }
}

/// The groups of the first match (the match itself without groups), NULL without a match.
fn groups(args: &Args) -> Result<ArrayRef> {
    let validity = args.validity();
    let mut each = with_patterns(args, 2, |s, regex, _| {
        let skip = usize::from(regex.captures_len() > 1);
        regex.captures(s).map(|c| c.iter().skip(skip).map(|m| m.map(|m| m.as_str().to_string())).collect::<Vec<_>>())
    })?;
    let mut out = ListBuilder::new(StringBuilder::new());
    for row in 0..args.rows {
        let found = if validity.as_ref().is_some_and(|v| v.is_null(row)) { None } else { each(row)? };
        out.append_option(found);
    }
    Ok(Arc::new(out.finish()))
}
