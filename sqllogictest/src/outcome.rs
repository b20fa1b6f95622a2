//! How a file and a whole run ended.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// How one file ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOutcome {
    /// The file.
    pub path: PathBuf,
    /// Statements, queries and commands that ran and passed; skipped ones do not count.
    pub records: usize,
    /// Records whose expectation was rewritten (with `--complete`).
    pub rewritten: usize,
    /// How long it took, with creating and dropping its database.
    pub elapsed: Duration,
    /// The database that was kept (with `--keep`).
    pub kept_database: Option<String>,
    /// Why it failed.
    pub failure: Option<Failure>,
}

impl FileOutcome {
    /// Whether all of it passed.
    pub fn passed(&self) -> bool {
        self.failure.is_none()
    }
}

/// The first record of a file that failed. A file stops there, as what follows usually depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Where: `path:line`, and a line `included at path:line` for each file around it. Without a line number when no single record
    /// is at fault.
    pub place: String,
    /// What happened, in one line.
    pub headline: String,
    /// The statement or command.
    pub statement: Option<String>,
    /// More lines: a unified diff, or the server's error.
    pub details: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.headline)?;
        if let Some(statement) = &self.statement {
            for line in statement.lines() {
                writeln!(f, "    {line}")?;
            }
        }
        for line in self.details.lines() {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

/// How a run ended. Shown as `N passed, N failed`.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Files of which every record passed.
    pub passed: usize,
    /// Files with a record that failed.
    pub failed: usize,
    /// Files that did not run to their end, because of `--fail-fast` or Ctrl-C.
    pub not_run: Vec<PathBuf>,
    /// Whether the run was stopped from outside.
    pub interrupted: bool,
    /// The files that ran, in the order in which they ended.
    pub outcomes: Vec<FileOutcome>,
}

impl Summary {
    /// Whether everything ran and passed.
    pub fn success(&self) -> bool {
        self.failed == 0 && !self.interrupted
    }

    /// What a process should exit with: 0 when everything passed, 1 when a file failed, 130 when interrupted. A
    /// [`RunnerError`](crate::RunnerError) is 2 by convention.
    pub fn exit_code(&self) -> u8 {
        match (self.interrupted, self.failed) {
            (true, _) => 130,
            (false, 0) => 0,
            (false, _) => 1,
        }
    }

    /// Adds a file that ended.
    pub(crate) fn add(&mut self, outcome: FileOutcome) {
        if outcome.passed() {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
        self.outcomes.push(outcome);
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}
