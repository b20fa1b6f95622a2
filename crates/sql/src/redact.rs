//! Hides option values that look like secrets wherever options are displayed. The one place that decides.

use std::fmt;

use crate::statement::{RelationOption, Statement};

/// What stands in the place of a secret.
pub const REDACTED: &str = "<redacted>";

/// Parts of keys whose values are secrets.
const SECRET_PARTS: [&str; 10] =
    ["password", "passwd", "secret", "token", "access_key", "accesskey", "private_key", "credential", "api_key", "sasl.jaas"];

/// True if the value of option `key` must not be displayed. Case, `-` and `_` do not matter.
pub fn is_secret(key: &str) -> bool {
    let key = key.to_lowercase().replace('-', "_");
    SECRET_PARTS.iter().any(|part| key.contains(part))
}

/// Displays an option's value, or [`REDACTED`] if its key looks like a secret.
pub struct Redacted<'a> {
    /// The option's key.
    pub key: &'a str,
    /// Its value.
    pub value: &'a str,
}

impl fmt::Display for Redacted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if is_secret(self.key) { REDACTED } else { self.value })
    }
}

impl fmt::Debug for Redacted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The statement with its secrets replaced.
#[must_use]
pub fn redacted(mut statement: Statement) -> Statement {
    let (connector, options) = match &mut statement {
        Statement::CreateTable(s) | Statement::CreateSource(s) => (Some(&mut s.connector), None),
        Statement::CreateSink(s) => (Some(&mut s.connector), None),
        Statement::CreateMaterializedView(s) => (None, Some(&mut s.options)),
        Statement::CreateStreamingJob(s) => (None, Some(&mut s.options)),
        _ => (None, None),
    };
    options.into_iter().for_each(|o| hide(o));
    if let Some(connector) = connector {
        hide(&mut connector.options);
        connector.format.iter_mut().for_each(|f| hide(&mut f.options));
    }
    statement
}

fn hide(options: &mut [RelationOption]) {
    for option in options.iter_mut().filter(|o| is_secret(&o.key)) {
        option.value = REDACTED.to_string();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_look_like_secrets() {
        for key in ["password", "properties.sasl.password", "s3.secret-key", "AWS_ACCESS_KEY_ID", "auth.token"] {
            assert!(is_secret(key), "{key}");
        }
        for key in ["connector", "topic", "primary_key", "path"] {
            assert!(!is_secret(key), "{key}");
        }
        assert_eq!(Redacted { key: "password", value: "x" }.to_string(), REDACTED);
    }
}
