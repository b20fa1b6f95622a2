//! What stands in WITH (...): names and values checked in one place, with messages that name the way out.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use millstream_types::{Error, Result, Schema, SqlState};

/// An option a connector knows: its name and its other spellings. `-` and `_` are the same everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    name: &'static str,
    aliases: &'static [&'static str],
}

/// An option with one spelling.
pub(crate) const fn known(name: &'static str) -> Known {
    Known { name, aliases: &[] }
}

/// An option with other spellings.
pub(crate) const fn aliased(name: &'static str, aliases: &'static [&'static str]) -> Known {
    Known { name, aliases }
}

/// The options of one source or sink, each known and given once.
#[derive(Debug)]
pub(crate) struct Options<'a> {
    /// By canonical name: as written, and the value.
    values: BTreeMap<String, (&'a str, &'a str)>,
}

fn folded(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('-', "_")
}

impl<'a> Options<'a> {
    /// Options of a connector without options of columns.
    ///
    /// # Errors
    /// 42704 for an unknown option, with the nearest known one; 22023 for one given twice.
    pub(crate) fn new(connector: &str, given: &'a BTreeMap<String, String>, known: &[Known]) -> Result<Self> {
        Self::with_fields(connector, given, known, &[], &Schema::default())
    }

    /// The same, and `fields.<column>.<attribute>` for declared columns.
    ///
    /// # Errors
    /// As [`Options::new`]; 42703 for a column that is not declared.
    pub(crate) fn with_fields(
        connector: &str,
        given: &'a BTreeMap<String, String>,
        known: &[Known],
        attributes: &[&str],
        schema: &Schema,
    ) -> Result<Self> {
        let mut values = BTreeMap::new();
        for (written, value) in given {
            let name = folded(written);
            let canonical = match known.iter().find(|k| k.name == name || k.aliases.contains(&name.as_str())) {
                Some(found) => found.name.to_string(),
                None if name == "connector" => continue,
                None => match field_option(written, attributes, schema)? {
                    Some(field) => field,
                    None => return Err(unknown(connector, written, known, attributes)),
                },
            };
            if let Some((first, _)) = values.insert(canonical, (written.as_str(), value.as_str())) {
                return Err(Error::new(SqlState::INVALID_PARAMETER_VALUE, format!("option \"{written}\" is given twice"))
                    .with_detail(format!("\"{first}\" is the same option.")));
            }
        }
        Ok(Options { values })
    }

    /// The value as written, if the option was given.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.values.get(name).map(|(_, value)| *value)
    }

    /// The value of an option that must be given.
    ///
    /// # Errors
    /// 22023.
    pub(crate) fn required(&self, name: &str) -> Result<&'a str> {
        let missing = || Error::new(SqlState::INVALID_PARAMETER_VALUE, format!("option \"{name}\" is missing"));
        self.text(name).ok_or_else(missing)
    }

    /// A whole number; `_` may group digits.
    ///
    /// # Errors
    /// 22023 if it is none or out of range.
    pub(crate) fn number(&self, name: &str, range: RangeInclusive<u64>) -> Result<Option<u64>> {
        let Some(value) = self.text(name) else { return Ok(None) };
        let wanted = if *range.end() == u64::MAX {
            format!("a whole number of at least {}", range.start())
        } else {
            format!("a whole number from {} to {}", range.start(), range.end())
        };
        match value.trim().replace('_', "").parse::<u64>() {
            Ok(n) if range.contains(&n) => Ok(Some(n)),
            _ => Err(self.wrong(name, wanted)),
        }
    }

    /// A boolean in one of PostgreSQL's spellings.
    ///
    /// # Errors
    /// 22023.
    pub(crate) fn boolean(&self, name: &str) -> Result<Option<bool>> {
        let Some(value) = self.text(name) else { return Ok(None) };
        match value.trim().to_ascii_lowercase().as_str() {
            "true" | "t" | "yes" | "on" | "1" => Ok(Some(true)),
            "false" | "f" | "no" | "off" | "0" => Ok(Some(false)),
            _ => Err(self.wrong(name, "true or false")),
        }
    }

    /// One of some words.
    ///
    /// # Errors
    /// 22023 listing them.
    pub(crate) fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>> {
        let Some(value) = self.text(name) else { return Ok(None) };
        let word = value.trim().to_ascii_lowercase();
        match choices.iter().find(|(w, _)| *w == word) {
            Some((_, found)) => Ok(Some(*found)),
            None => {
                let words: Vec<_> = choices.iter().map(|(w, _)| format!("'{w}'")).collect();
                Err(self.wrong(name, format!("one of {}", words.join(", "))))
            }
        }
    }

    /// A time such as `10s` or `500 ms`, more than zero.
    ///
    /// # Errors
    /// 22023.
    pub(crate) fn duration(&self, name: &str) -> Result<Option<Duration>> {
        let Some(value) = self.text(name) else { return Ok(None) };
        let parsed = humantime::parse_duration(value.trim()).ok().filter(|d| !d.is_zero());
        parsed.map(Some).ok_or_else(|| self.wrong(name, "a time such as '10s' or '500ms'"))
    }

    /// One ASCII character.
    ///
    /// # Errors
    /// 22023.
    pub(crate) fn character(&self, name: &str) -> Result<Option<u8>> {
        match self.text(name) {
            None => Ok(None),
            Some("\\t") => Ok(Some(b'\t')),
            Some(value) => match value.as_bytes() {
                [one] if one.is_ascii() && !matches!(one, b'\n' | b'\r' | 0) => Ok(Some(*one)),
                _ => Err(self.wrong(name, "one ASCII character")),
            },
        }
    }

    /// The error for a value that is not what the option takes.
    pub(crate) fn wrong(&self, name: &str, wanted: impl Display) -> Error {
        let (written, value) = self.values.get(name).copied().unwrap_or((name, ""));
        Error::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid value for option \"{written}\": \"{value}\""))
            .with_hint(format!("It must be {wanted}."))
    }
}

/// The name under which `fields.<column>.<attribute>` is kept.
pub(crate) fn field_name(column: &str, attribute: &str) -> String {
    format!("fields.{column}.{attribute}")
}

/// Column names keep their case and may contain points and dashes; attributes are folded.
fn field_option(written: &str, attributes: &[&str], schema: &Schema) -> Result<Option<String>> {
    let Some((column, attribute)) = written.trim().strip_prefix("fields.").and_then(|rest| rest.rsplit_once('.')) else { return Ok(None) };
    let attribute = folded(attribute);
    if !attributes.contains(&attribute.as_str()) {
        return Ok(None);
    }
    if schema.index_of(column).is_none() {
        let names: Vec<_> = schema.columns.iter().map(|c| c.name.as_str()).collect();
        return Err(Error::new(
            SqlState::UNDEFINED_COLUMN,
            format!("option \"{written}\" names column \"{column}\", which does not exist"),
        )
        .with_detail(format!("The columns are {}.", names.join(", "))));
    }
    Ok(Some(field_name(column, &attribute)))
}

fn unknown(connector: &str, written: &str, known: &[Known], attributes: &[&str]) -> Error {
    let mut names: Vec<String> = known.iter().map(|k| k.name.to_string()).collect();
    names.extend(attributes.iter().map(|a| field_name("<column>", a)));
    let message = format!("connector \"{connector}\" has no option \"{written}\"");
    let error = Error::new(SqlState::UNDEFINED_OBJECT, message).with_detail(match names.is_empty() {
        true => "It has no options.".to_string(),
        false => format!("Its options are {}.", names.join(", ")),
    });
    match nearest(&folded(written), known.iter().flat_map(|k| std::iter::once(k.name).chain(k.aliases.iter().copied()))) {
        Some(name) => error.with_hint(format!("Perhaps you meant \"{name}\".")),
        None => error,
    }
}

/// The name with the fewest edits from `word`, if these are few for its length.
pub(crate) fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (word.chars().count() / 3).max(1);
    names.map(|name| (edits(word, name), name)).filter(|(distance, _)| *distance <= limit).min().map(|(_, name)| name)
}

/// Levenshtein's distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Known; 3] = [known("events"), aliased("rows_per_second", &["real_rate"]), known("seed")];

    fn given(options: &[(&str, &str)]) -> BTreeMap<String, String> {
        options.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect()
    }

    #[test]
    fn spellings_are_one_option() {
        let raw = given(&[("Rows-Per-Second", "1_000"), ("events", "7")]);
        let options = Options::new("x", &raw, &KNOWN).unwrap();
        assert_eq!(options.number("rows_per_second", 0..=u64::MAX).unwrap(), Some(1_000));
        assert_eq!(options.number("seed", 0..=5).unwrap(), None);
        let raw = given(&[("rows-per-second", "1"), ("real_rate", "1")]);
        assert_eq!(Options::new("x", &raw, &KNOWN).unwrap_err().state(), SqlState::INVALID_PARAMETER_VALUE);
    }

    #[test]
    fn an_unknown_option_is_named_with_the_nearest() {
        let raw = given(&[("evnts", "7")]);
        let error = Options::new("nexmark", &raw, &KNOWN).unwrap_err();
        assert_eq!(error.state(), SqlState::UNDEFINED_OBJECT);
        assert_eq!(error.message(), "connector \"nexmark\" has no option \"evnts\"");
        assert_eq!(error.detail(), Some("Its options are events, rows_per_second, seed."));
        assert_eq!(error.hint(), Some("Perhaps you meant \"events\"."));
        let raw = given(&[("completely_other", "7")]);
        assert_eq!(Options::new("x", &raw, &KNOWN).unwrap_err().hint(), None);
    }

    #[test]
    fn a_wrong_value_names_option_value_and_way_out() {
        let raw = given(&[("events", "-3")]);
        let error = Options::new("x", &raw, &KNOWN).unwrap().number("events", 1..=9).unwrap_err();
        assert_eq!((error.state(), error.message()), (SqlState::INVALID_PARAMETER_VALUE, "invalid value for option \"events\": \"-3\""));
        assert_eq!(error.hint(), Some("It must be a whole number from 1 to 9."));
        let options = Options::new("x", &raw, &KNOWN).unwrap();
        assert!(options.boolean("events").is_err() && options.duration("events").is_err() && options.character("events").is_err());
        assert_eq!(options.choice("events", &[("a", 1), ("b", 2)]).unwrap_err().hint(), Some("It must be one of 'a', 'b'."));
        assert_eq!(options.required("seed").unwrap_err().message(), "option \"seed\" is missing");
    }

    #[test]
    fn options_of_columns_need_the_column() {
        let schema = Schema::new(vec![millstream_types::Column::new("a.b", millstream_types::SqlType::BigInt)]);
        let raw = given(&[("fields.a.b.kind", "random")]);
        let options = Options::with_fields("x", &raw, &KNOWN, &["kind"], &schema).unwrap();
        assert_eq!(options.text(&field_name("a.b", "kind")), Some("random"));
        let raw = given(&[("fields.c.kind", "random")]);
        assert_eq!(Options::with_fields("x", &raw, &KNOWN, &["kind"], &schema).unwrap_err().state(), SqlState::UNDEFINED_COLUMN);
        let raw = given(&[("fields.c.what", "random")]);
        assert_eq!(Options::with_fields("x", &raw, &KNOWN, &["kind"], &schema).unwrap_err().state(), SqlState::UNDEFINED_OBJECT);
    }
}
