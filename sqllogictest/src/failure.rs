//! Puts into words why a record failed.

use sqllogictest::{LetError, Location, RecordKind, TestError, TestErrorKind};

use crate::diff;
use crate::outcome::Failure;

impl Failure {
    /// A failure of the whole of `place`, a path.
    pub(crate) fn of_file(place: String, headline: impl Into<String>, details: impl Into<String>) -> Self {
        Failure { place, headline: headline.into(), statement: None, details: details.into() }
    }

    /// A failure of one record.
    pub(crate) fn at(location: &Location, headline: impl Into<String>, statement: &str, details: impl Into<String>) -> Self {
        Failure { place: place(location), headline: headline.into(), statement: Some(statement.to_owned()), details: details.into() }
    }
}

impl From<TestError> for Failure {
    fn from(error: TestError) -> Self {
        let location = error.location();
        let at = |headline: String, sql: String, details: String| Failure::at(&location, headline, &sql, details);
        match error.kind() {
            TestErrorKind::ParseError(kind) => Failure::of_file(place(&location), format!("cannot read the suite: {kind}"), ""),
            TestErrorKind::Ok { sql, kind } => at(format!("the {} succeeded, but was to fail", noun(&kind)), sql, String::new()),
            TestErrorKind::Fail { sql, err, kind } => at(format!("the {} failed", noun(&kind)), sql, err.to_string()),
            TestErrorKind::ErrorMismatch { sql, err, expected_err, kind, .. } => {
                let details = format!("expected: {}\nactual:   {}", indented(&expected_err), indented(&err.to_string()));
                at(format!("the {} failed, but with another error", noun(&kind)), sql, details)
            }
            TestErrorKind::StatementResultMismatch { sql, expected, actual } => {
                at(format!("expected {expected} rows, but the statement {actual}"), sql, String::new())
            }
            TestErrorKind::QueryResultMismatch { sql, expected, actual } => {
                at("the result differs".into(), sql, diff::of_rows(&expected, &actual))
            }
            TestErrorKind::QueryResultColumnsMismatch { sql, expected, actual } => {
                let (wanted, got) = (expected.len(), actual.len());
                at(format!("expected {wanted} columns ({expected}), but the result has {got} ({actual})"), sql, String::new())
            }
            TestErrorKind::SystemFail { command, err } => at("the command failed".into(), command, err.to_string()),
            TestErrorKind::SystemStdoutMismatch { command, expected_stdout, actual_stdout } => {
                at("the output of the command differs".into(), command, diff::of_texts(&expected_stdout, &actual_stdout))
            }
            TestErrorKind::LetFail { sql, err } => Failure::of_let(&location, &sql, &err),
            other => Failure::of_file(place(&location), other.to_string(), ""),
        }
    }
}

impl Failure {
    /// A `let` that did not get its values.
    pub(crate) fn of_let(location: &Location, sql: &str, error: &LetError) -> Self {
        Failure::at(location, "the variables could not be set", sql, error.to_string())
    }
}

fn noun(kind: &RecordKind) -> &'static str {
    match kind {
        RecordKind::Statement => "statement",
        RecordKind::Query => "query",
    }
}

/// `file:line`, then the places that include it.
fn place(location: &Location) -> String {
    location.to_string().replace("\nat ", "\nincluded at ")
}

fn indented(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join("\n          ")
}
