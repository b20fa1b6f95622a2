//! The run as a `JUnit` report, which CI servers read: a test case per file.

use std::path::Path;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::error::RunnerError;
use crate::outcome::{Failure, FileOutcome, Summary};

/// Writes the report to `path`.
///
/// # Errors
/// When the file cannot be written.
pub fn write(path: &Path, summary: &Summary) -> Result<(), RunnerError> {
    let failed = |reason: String| RunnerError::Junit { path: path.to_path_buf(), reason };
    let text = render(summary).map_err(failed)?;
    std::fs::write(path, text).map_err(|error| failed(error.to_string()))
}

/// The report's text, files in order of path.
///
/// # Errors
/// When the report cannot be put into XML.
pub fn render(summary: &Summary) -> Result<String, String> {
    let mut cases: Vec<_> = summary.outcomes.iter().map(|outcome| (&outcome.path, case(outcome))).collect();
    cases.extend(summary.not_run.iter().map(|path| (path, new_case(path, TestCaseStatus::skipped()))));
    cases.sort_by_key(|(path, _)| *path);
    let mut suite = TestSuite::new("sqllogictest");
    suite.add_test_cases(cases.into_iter().map(|(_, case)| case));
    let mut report = Report::new("millstream test");
    report.add_test_suite(suite);
    report.to_string().map_err(|error| error.to_string())
}

fn case(outcome: &FileOutcome) -> TestCase {
    let status = match &outcome.failure {
        None => TestCaseStatus::success(),
        Some(failure) => failed(failure),
    };
    let mut case = new_case(&outcome.path, status);
    case.set_time(outcome.elapsed);
    case.set_assertions(outcome.records);
    case
}

fn failed(failure: &Failure) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    let place = failure.place.lines().next().unwrap_or_default();
    status.set_message(format!("{place}: {}", failure.headline));
    status.set_description(format!("{}\n{failure}", failure.place));
    status
}

fn new_case(path: &Path, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(path.display().to_string(), status);
    if let Some(directory) = path.parent() {
        case.set_classname(directory.display().to_string());
    }
    case
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::time::Duration;

    use super::*;

    fn outcome(path: &str, failure: Option<Failure>) -> FileOutcome {
        FileOutcome { path: path.into(), records: 2, rewritten: 0, elapsed: Duration::from_millis(1500), kept_database: None, failure }
    }

    #[test]
    fn passed_failed_and_skipped_files_are_cases() {
        let mut summary = Summary::default();
        let failure = Failure {
            place: "s/b.slt:7\nincluded at s/a.slt:1".into(),
            headline: "the result <differs>".into(),
            statement: Some("SELECT 1".into()),
            details: "-1\n+2\u{1b}[0m".into(),
        };
        summary.add(outcome("s/b.slt", Some(failure)));
        summary.add(outcome("s/a.slt", None));
        summary.not_run.push("s/c.slt".into());
        let text = render(&summary).unwrap();
        assert!(text.contains(r#"<testsuite name="sqllogictest" tests="3" skipped="1" errors="0" failures="1">"#), "{text}");
        assert!(text.contains(r#"<testcase name="s/a.slt" classname="s" assertions="2" time="1.500"/>"#), "{text}");
        assert!(text.contains(r#"<failure message="s/b.slt:7: the result &lt;differs&gt;">"#), "{text}");
        assert!(text.contains("included at s/a.slt:1") && text.contains("SELECT 1"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(text.find("s/a.slt\"") < text.find("s/b.slt\""), "in order of path: {text}");
    }

    #[test]
    fn a_directory_that_is_not_there_is_an_error() {
        let error = write(Path::new("/nowhere/at/all.xml"), &Summary::default()).unwrap_err();
        assert!(error.to_string().starts_with("cannot write the JUnit report /nowhere/at/all.xml: "));
    }
}
