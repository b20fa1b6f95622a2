//! One broken rule: where, which rule, what is wrong and the way out.

use std::fmt;

/// Whether a finding fails the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Printed only.
    Warning,
    /// Fails the check.
    Error,
}

/// What a rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Path from the workspace root, with `/`.
    pub path: String,
    /// From 1.
    pub line: usize,
    /// The rule's name, stable.
    pub rule: &'static str,
    /// What is wrong here.
    pub message: String,
    /// What to do instead.
    pub way_out: &'static str,
    /// Whether it fails the check.
    pub severity: Severity,
}

impl Finding {
    /// An error at a line.
    pub fn error(path: &str, line: usize, rule: &'static str, message: impl Into<String>, way_out: &'static str) -> Self {
        Finding { path: path.to_owned(), line, rule, message: message.into(), way_out, severity: Severity::Error }
    }

    /// The same finding as a warning.
    #[must_use]
    pub fn warning(self) -> Self {
        Finding { severity: Severity::Warning, ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{}:{}: {kind}[{}]: {}\n  way out: {}", self.path, self.line, self.rule, self.message, self.way_out)
    }
}
