//! Where the server is and how the files are run.

use std::fmt;
use std::str::FromStr;
use std::thread::available_parallelism;

/// A server and who connects to it.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// Host name, address, or the directory of a Unix socket.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Role.
    pub user: String,
    /// Password, where the server asks for one.
    pub password: Option<String>,
    /// The database to connect to first, from which others are created.
    pub database: String,
}

impl Default for Address {
    fn default() -> Self {
        Address { host: "127.0.0.1".into(), port: 4510, user: "root".into(), password: None, database: "dev".into() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for Address {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}:{}/{}", self.user, self.host, self.port, self.database)
    }
}

/// How the files are run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Files that run at the same time, at least 1.
    pub jobs: usize,
    /// Write the server's answers into the files instead of checking them; one file at a time, as files may share an include.
    pub complete: bool,
    /// Do not drop the databases.
    pub keep: bool,
    /// Stop at the first file that fails.
    pub fail_fast: bool,
    /// Labels for `skipif` and `onlyif`, besides `millstream`.
    pub labels: Vec<String>,
    /// Session settings for every connection.
    pub settings: Vec<Setting>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            jobs: available_parallelism().map_or(1, usize::from),
            complete: false,
            keep: false,
            fail_fast: false,
            labels: Vec::new(),
            settings: Vec::new(),
        }
    }
}

/// One session setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its name, which may have dots.
    pub key: String,
    /// Its value, as typed.
    pub value: String,
}

impl Setting {
    /// The statement that sets it. Words, numbers, lists of them and quoted text go as they are, anything else as a string.
    pub fn statement(&self) -> String {
        let Setting { key, value } = self;
        let quoted = value.len() >= 2 && value.starts_with('\'') && value.ends_with('\'');
        if quoted || value.split(',').all(|part| is_word(part.trim()) || is_number(part.trim())) {
            format!("SET {key} = {value}")
        } else {
            format!("SET {key} = '{}'", value.replace('\'', "''"))
        }
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
        let key = key.trim();
        if !key.split('.').all(is_word) {
            return Err(format!("\"{key}\" is no name of a setting"));
        }
        Ok(Setting { key: key.into(), value: value.trim().into() })
    }
}

fn is_word(text: &str) -> bool {
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts_well && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_number(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn values_are_quoted_only_where_they_must_be() {
        let statement = |text: &str| text.parse::<Setting>().unwrap().statement();
        assert_eq!(statement("search_path=a, b"), "SET search_path = a, b");
        assert_eq!(statement("x=-1.5"), "SET x = -1.5");
        assert_eq!(statement("x='10 s'"), "SET x = '10 s'");
        assert_eq!(statement("x=10 s"), "SET x = '10 s'");
        assert_eq!(statement("x=exactly-once"), "SET x = 'exactly-once'");
        assert_eq!(statement("x=it's"), "SET x = 'it''s'");
        assert_eq!(statement("x="), "SET x = ''");
    }

    #[test]
    fn names_are_checked() {
        assert!("a;b=1".parse::<Setting>().is_err());
        assert!("=1".parse::<Setting>().is_err());
    }

    #[test]
    fn the_password_is_not_shown() {
        let address = Address { password: Some("hunter2".into()), ..Address::default() };
        assert_eq!(format!("{address:?} {address}"), "root@127.0.0.1:4510/dev 127.0.0.1:4510");
    }
}
