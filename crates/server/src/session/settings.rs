//! Settings of a session: a closed list, each with its type, default and meaning.

use std::collections::BTreeMap;
use std::time::Duration;

use millstream_types::{Error, Result, SqlState, limits};

/// What values a setting takes.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Bool,
    /// A whole number in a range.
    Integer(i64, i64),
    /// Milliseconds without unit, or with one: `10ms`, `2 s`.
    Duration,
    /// Bytes, with a unit: `64MiB`.
    Bytes,
    /// One of these.
    OneOf(&'static [&'static str]),
}

/// Name, type, default, meaning.
const SETTINGS: &[(&str, Kind, &str, &str)] = &[
    ("application_name", Kind::Text, "", "name of the client program"),
    ("background_ddl", Kind::Bool, "off", "CREATE MATERIALIZED VIEW does not wait for existing rows"),
    ("batch_rows", Kind::Integer(1, 65_536), "8192", "rows that batches between tasks aim at"),
    ("bytea_output", Kind::OneOf(&["hex"]), "hex", "text form of bytea"),
    ("chaining", Kind::Bool, "on", "new jobs fuse operators into chains"),
    ("client_encoding", Kind::OneOf(&["UTF8", "utf8", "utf-8", "UTF-8", "unicode", "UNICODE"]), "UTF8", "encoding of text"),
    ("client_min_messages", Kind::OneOf(&["debug", "log", "notice", "warning", "error"]), "notice", "quietest message that is sent"),
    ("datestyle", Kind::OneOf(&["ISO, MDY", "ISO, DMY", "ISO, YMD", "ISO", "iso"]), "ISO, MDY", "text form of dates"),
    ("default_transaction_isolation", Kind::Text, "serializable", "accepted for clients; reads are strictly serializable"),
    ("default_transaction_read_only", Kind::Bool, "off", "accepted for clients"),
    ("extra_float_digits", Kind::Integer(-15, 3), "1", "floats are printed exactly"),
    ("idle_in_transaction_session_timeout", Kind::Duration, "0", "accepted for clients"),
    ("integer_datetimes", Kind::OneOf(&["on"]), "on", "timestamps are integers"),
    ("intervalstyle", Kind::OneOf(&["postgres"]), "postgres", "text form of intervals"),
    (
        "isolation",
        Kind::OneOf(&["strict serializable", "latest"]),
        "strict serializable",
        "what SELECT reads: everything acknowledged, or the newest visible state without waiting",
    ),
    ("linger", Kind::Duration, "10ms", "time small batches between tasks of new jobs wait for company"),
    ("lock_timeout", Kind::Duration, "0", "accepted for clients"),
    ("max_parallelism", Kind::Integer(1, limits::MAX_MAX_PARALLELISM as i64), "128", "key groups of new jobs"),
    ("merge_calcs", Kind::Bool, "on", "adjacent filters and projections of new jobs are one operator"),
    ("parallelism", Kind::Integer(1, 1024), "", "subtasks per operator of new jobs"),
    ("query_memory", Kind::Bytes, "256MiB", "bytes that one statement may use; beyond it that statement ends with 53200"),
    ("search_path", Kind::Text, "public", "schemas where names without one are looked for"),
    ("server_version", Kind::OneOf(&["15.0"]), "15.0", "PostgreSQL version whose protocol is spoken"),
    ("server_version_num", Kind::OneOf(&["150000"]), "150000", "the same as a number"),
    ("slot_sharing_group", Kind::Text, "default", "whose slots new jobs share"),
    ("standard_conforming_strings", Kind::OneOf(&["on"]), "on", "backslashes in strings are plain"),
    ("statement_timeout", Kind::Duration, "0", "longest time of a statement; 0 is no limit"),
    ("synchronous_commit", Kind::Bool, "on", "COMMIT waits until its changes survive a crash; off: the last ones may be lost"),
    ("timezone", Kind::OneOf(&["UTC", "utc", "Etc/UTC", "GMT"]), "UTC", "time zone of the session"),
    ("transaction_isolation", Kind::Text, "serializable", "accepted for clients; reads are strictly serializable"),
    ("transaction_read_only", Kind::Bool, "off", "accepted for clients"),
];

/// Settings that clients are told of, with the names they know.
const REPORTED: [(&str, &str); 8] = [
    ("application_name", "application_name"),
    ("client_encoding", "client_encoding"),
    ("datestyle", "DateStyle"),
    ("integer_datetimes", "integer_datetimes"),
    ("intervalstyle", "IntervalStyle"),
    ("server_version", "server_version"),
    ("standard_conforming_strings", "standard_conforming_strings"),
    ("timezone", "TimeZone"),
];

/// The values of a session.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    values: BTreeMap<&'static str, String>,
    default_parallelism: u32,
    /// Names of reported settings that changed since they were told.
    changed: Vec<&'static str>,
}

fn find(name: &str) -> Result<&'static (&'static str, Kind, &'static str, &'static str)> {
    let name = name.to_lowercase();
    SETTINGS.iter().find(|s| s.0 == name).ok_or_else(|| {
        Error::new(SqlState::UNDEFINED_OBJECT, format!("unrecognized configuration parameter \"{name}\"")).with_hint("SHOW ALL lists them")
    })
}

impl Settings {
    /// The defaults, with this parallelism.
    pub fn new(default_parallelism: u32) -> Self {
        Settings { default_parallelism, ..Settings::default() }
    }

    /// The value as text.
    ///
    /// # Errors
    /// 42704 for an unknown name.
    pub fn get(&self, name: &str) -> Result<String> {
        let (name, _, default, _) = find(name)?;
        Ok(match self.values.get(name) {
            Some(value) => value.clone(),
            None if *name == "parallelism" => self.default_parallelism.to_string(),
            None => (*default).to_owned(),
        })
    }

    /// Changes a value.
    ///
    /// # Errors
    /// 42704 for an unknown name, 22023 for a wrong value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let (name, kind, _, _) = find(name)?;
        let value = checked(name, *kind, value)?;
        if REPORTED.iter().any(|(n, _)| n == name) {
            self.changed.push(name);
        }
        self.values.insert(name, value);
        Ok(())
    }

    /// Back to the default; of all settings without a name.
    ///
    /// # Errors
    /// 42704 for an unknown name.
    pub fn reset(&mut self, name: Option<&str>) -> Result<()> {
        match name {
            Some(name) => {
                self.values.remove(find(name)?.0);
            }
            None => self.values.clear(),
        }
        Ok(())
    }

    /// Name, value, meaning of all.
    pub fn all(&self) -> Vec<(&'static str, String, &'static str)> {
        SETTINGS.iter().map(|(name, _, _, meaning)| (*name, self.get(name).unwrap_or_default(), *meaning)).collect()
    }

    /// What clients are told at the start.
    pub fn reported(&self) -> Vec<(String, String)> {
        REPORTED.iter().map(|(name, shown)| ((*shown).to_owned(), self.get(name).unwrap_or_default())).collect()
    }

    /// Those that changed since the last call.
    pub fn take_changed(&mut self) -> Vec<(String, String)> {
        let changed = std::mem::take(&mut self.changed);
        let shown = |name: &str| REPORTED.iter().find(|(n, _)| *n == name).map_or(name, |(_, s)| s).to_owned();
        changed.into_iter().map(|name| (shown(name), self.get(name).unwrap_or_default())).collect()
    }

    /// A switch.
    pub fn bool(&self, name: &str) -> bool {
        self.get(name).is_ok_and(|v| v == "on")
    }

    /// A number.
    pub fn number(&self, name: &str) -> u64 {
        self.get(name).ok().and_then(|v| v.parse().ok()).unwrap_or_default()
    }

    /// A time.
    pub fn duration(&self, name: &str) -> Duration {
        self.get(name).ok().and_then(|v| duration(&v)).unwrap_or_default()
    }

    /// A size.
    pub fn bytes(&self, name: &str) -> u64 {
        self.get(name).ok().and_then(|v| v.parse::<bytesize::ByteSize>().ok()).map_or(0, |b| b.as_u64())
    }

    /// The schemas of the search path, in order.
    pub fn search_path(&self) -> Vec<String> {
        let path = self.get("search_path").unwrap_or_default();
        path.split(',').map(|s| s.trim().trim_matches('"').to_owned()).filter(|s| !s.is_empty() && s != "$user").collect()
    }
}

/// Milliseconds without unit, or with one.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    match text.trim().parse::<u64>() {
        Ok(millis) => Some(Duration::from_millis(millis)),
        Err(_) => humantime::parse_duration(&text.replace(' ', "")).ok(),
    }
}

/// `on` and `off` for everything that PostgreSQL takes for them.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "on" | "true" | "yes" | "1" | "t" => Some(true),
        "off" | "false" | "no" | "0" | "f" => Some(false),
        _ => None,
    }
}

fn checked(name: &str, kind: Kind, value: &str) -> Result<String> {
    let wrong = |hint: String| {
        Error::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid value for parameter \"{name}\": \"{value}\"")).with_hint(hint)
    };
    match kind {
        Kind::Text => Ok(value.to_owned()),
        Kind::Bool => boolean(value).map(|b| if b { "on" } else { "off" }.to_owned()).ok_or_else(|| wrong("on or off".into())),
        Kind::Integer(min, max) => match value.trim().parse::<i64>() {
            Ok(n) if (min..=max).contains(&n) => Ok(n.to_string()),
            _ => Err(wrong(format!("a whole number from {min} to {max}"))),
        },
        Kind::Duration => match duration(value) {
            Some(_) => Ok(value.trim().to_owned()),
            None => Err(wrong("milliseconds, or a number with a unit: 10ms, 2s".into())),
        },
        Kind::Bytes => match value.trim().parse::<bytesize::ByteSize>() {
            Ok(_) => Ok(value.trim().to_owned()),
            Err(_) => Err(wrong("a number with a unit: 64MiB, 1GB".into())),
        },
        Kind::OneOf(allowed) => match allowed.iter().find(|a| a.eq_ignore_ascii_case(value.trim())) {
            Some(found) => Ok((*found).to_owned()),
            None => Err(wrong(format!("available: {}", allowed.join(", ")))),
        },
    }
}
