//! An error as the matcher of `statement error` and `query error` sees it.

use std::fmt;

use tokio_postgres::error::DbError;

/// What went wrong on a connection.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum DatabaseError {
    /// The server refused the statement. The only kind that a suite may expect.
    #[error("{0}")]
    Server(ServerError),
    /// The connection ended.
    #[error("the connection to the server is lost: {0}")]
    Lost(String),
    /// No connection could be made.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// The server sent what this client has no use for, such as the start of a COPY.
    #[error("the answer of the server cannot be used here: {0}")]
    Protocol(String),
}

impl DatabaseError {
    /// Sorts an error of a statement.
    pub(crate) fn from_statement(error: &tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(db) => DatabaseError::Server(db.into()),
            None if error.is_closed() || std::error::Error::source(error).is_some_and(|s| s.is::<std::io::Error>()) => {
                DatabaseError::Lost(with_causes(error))
            }
            None => DatabaseError::Protocol(with_causes(error)),
        }
    }

    /// Why a connection could not be made.
    pub(crate) fn from_connect(error: &tokio_postgres::Error) -> Self {
        let server = error.as_db_error().map(|db| ServerError::from(db).to_string());
        DatabaseError::Connect(server.unwrap_or_else(|| with_causes(error)))
    }

    /// The SQLSTATE, when the server refused the statement.
    pub(crate) fn sqlstate(&self) -> Option<&str> {
        match self {
            DatabaseError::Server(error) => Some(&error.sqlstate),
            DatabaseError::Lost(_) | DatabaseError::Connect(_) | DatabaseError::Protocol(_) => None,
        }
    }

    /// Whether a suite may expect it.
    pub(crate) fn may_be_expected(&self) -> bool {
        matches!(self, DatabaseError::Server(_))
    }
}

fn with_causes(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

/// The fields of `PostgreSQL`'s `ErrorResponse` that suites look at, shown as `ERROR 22012: division by zero` with a line each for
/// detail and hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerError {
    /// `ERROR`, `FATAL` or `PANIC`.
    pub(crate) severity: String,
    /// Five characters.
    pub(crate) sqlstate: String,
    /// The primary message.
    pub(crate) message: String,
    /// More about this case.
    pub(crate) detail: Option<String>,
    /// What to do.
    pub(crate) hint: Option<String>,
}

impl From<&DbError> for ServerError {
    fn from(error: &DbError) -> Self {
        ServerError {
            severity: error.severity().to_owned(),
            sqlstate: error.code().code().to_owned(),
            message: error.message().to_owned(),
            detail: error.detail().map(str::to_owned),
            hint: error.hint().map(str::to_owned),
        }
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.severity, self.sqlstate, self.message)?;
        if let Some(detail) = &self.detail {
            write!(f, "\nDETAIL: {detail}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nHINT: {hint}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use sqllogictest::{ExpectedError, Record, StatementExpect};

    use super::*;
    use crate::column::ColumnLetter;

    fn expected(text: &str) -> ExpectedError {
        let script = format!("statement error{text}\n");
        match sqllogictest::parse::<ColumnLetter>(&script).unwrap().remove(0) {
            Record::Statement { expected: StatementExpect::Error(expected), .. } => expected,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_suite_matches_sqlstate_message_detail_and_hint() {
        let error = DatabaseError::Server(ServerError {
            severity: "ERROR".into(),
            sqlstate: "22012".into(),
            message: "division by zero".into(),
            detail: Some("row 3".into()),
            hint: Some("use NULLIF".into()),
        });
        let matches = |text: &str| expected(text).is_match(&error.to_string(), error.sqlstate());
        for text in [
            "\nSELECT 1/0",
            " (22012)\nSELECT 1/0",
            " 22012\nSELECT 1/0",
            " ^ERROR 22012: division\nSELECT 1/0",
            " division by zero\nSELECT 1/0",
            " DETAIL: row \\d+\nSELECT 1/0",
            " HINT: use\nSELECT 1/0",
            "\nSELECT 1/0\n----\nERROR 22012: division by zero\nDETAIL: row 3\nHINT: use NULLIF",
        ] {
            assert!(matches(text), "{text}");
        }
        for text in [" (22000)\nSELECT 1/0", " 42601\nSELECT 1/0", "\nSELECT 1/0\n----\ndivision by zero"] {
            assert!(!matches(text), "{text}");
        }
    }

    #[test]
    fn only_the_servers_own_errors_may_be_expected() {
        assert!(!DatabaseError::Lost("closed".into()).may_be_expected());
        assert_eq!(DatabaseError::Connect("refused".into()).sqlstate(), None);
    }
}
