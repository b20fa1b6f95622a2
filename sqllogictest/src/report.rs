//! Tells how a run goes while it goes.

use std::io::{IsTerminal, Write};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};

use crate::outcome::{FileOutcome, Summary};
use crate::style::{Style, Tone};

/// Hears of everything that happens in a run.
pub trait Reporter: Send + Sync {
    /// `files` files are about to run.
    fn started(&self, files: usize);
    /// A file runs.
    fn file_started(&self, path: &Path);
    /// A file ended.
    fn file_finished(&self, outcome: &FileOutcome);
    /// Something that is no failure of a file, such as a database that could not be dropped.
    fn warning(&self, message: &str);
    /// All is over. What is printed here ends with the line `N passed, N failed`.
    fn finished(&self, summary: &Summary);
}

/// Says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct SilentReporter;

impl Reporter for SilentReporter {
    fn started(&self, _files: usize) {}
    fn file_started(&self, _path: &Path) {}
    fn file_finished(&self, _outcome: &FileOutcome) {}
    fn warning(&self, _message: &str) {}
    fn finished(&self, _summary: &Summary) {}
}

/// Writes to standard output: a progress bar and the failures on a terminal, else a line per file.
#[derive(Debug)]
pub struct ConsoleReporter {
    bar: Option<ProgressBar>,
    style: Style,
}

impl ConsoleReporter {
    /// Looks at standard output to see what it can show.
    pub fn new() -> Self {
        let stdout = std::io::stdout();
        let interactive = stdout.is_terminal() && std::io::stderr().is_terminal();
        ConsoleReporter { bar: interactive.then(ProgressBar::no_length), style: Style::of(&stdout) }
    }

    /// Lines without colours.
    pub fn plain() -> Self {
        ConsoleReporter { bar: None, style: Style::PLAIN }
    }

    /// A reader that has gone away is no reason to stop a run, so errors of writing are left alone.
    fn print(&self, text: &str) {
        let write = || {
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).ok();
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Default for ConsoleReporter {
    fn default() -> Self {
        Self::new()
    }
}

impl Reporter for ConsoleReporter {
    fn started(&self, files: usize) {
        if let Some(bar) = &self.bar {
            bar.set_length(u64::try_from(files).unwrap_or(u64::MAX));
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}") {
                bar.set_style(style);
            }
            bar.tick();
        }
    }

    fn file_started(&self, path: &Path) {
        if let Some(bar) = &self.bar {
            bar.set_message(path.display().to_string());
        }
    }

    fn file_finished(&self, outcome: &FileOutcome) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
        let worth_a_line = !outcome.passed() || outcome.rewritten > 0 || outcome.kept_database.is_some();
        if self.bar.is_none() || worth_a_line {
            self.print(&file_text(outcome, self.style));
        }
    }

    fn warning(&self, message: &str) {
        self.print(&format!("{} {message}\n", self.style.paint(Tone::Bad, "warning:")));
    }

    fn finished(&self, summary: &Summary) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.print(&summary_text(summary, self.style));
    }
}

/// `ok path (n records, 12 ms)`, or `FAILED path:line` with the reason below.
fn file_text(outcome: &FileOutcome, style: Style) -> String {
    let path = outcome.path.display();
    let mut text = match &outcome.failure {
        None => {
            let (records, ms) = (counted(outcome.records, "record"), outcome.elapsed.as_millis());
            let rewritten = match outcome.rewritten {
                0 => String::new(),
                n => format!(", {n} rewritten"),
            };
            format!("{} {path} ({records}{rewritten}, {ms} ms)\n", style.paint(Tone::Good, "ok"))
        }
        Some(failure) => {
            let reason = style.paint_diff(&failure.to_string());
            let indented: String = reason.lines().map(|line| format!("  {line}\n")).collect();
            format!("{} {}\n{indented}", style.paint(Tone::Bad, "FAILED"), failure.place)
        }
    };
    if let Some(database) = &outcome.kept_database {
        text.push_str(&format!("kept {database} of {path}\n"));
    }
    text
}

fn summary_text(summary: &Summary, style: Style) -> String {
    let mut text = String::new();
    if summary.interrupted {
        text.push_str("interrupted\n");
    }
    if !summary.not_run.is_empty() {
        text.push_str(&format!("{} not run to the end\n", counted(summary.not_run.len(), "file")));
    }
    let tone = if summary.success() { Tone::Good } else { Tone::Bad };
    text.push_str(&style.paint(tone, &summary.to_string()));
    text.push('\n');
    text
}

fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::outcome::Failure;

    fn outcome(failure: Option<Failure>) -> FileOutcome {
        FileOutcome { path: "a.slt".into(), records: 1, rewritten: 0, elapsed: Duration::from_millis(12), kept_database: None, failure }
    }

    #[test]
    fn a_line_for_each_file() {
        assert_eq!(file_text(&outcome(None), Style::PLAIN), "ok a.slt (1 record, 12 ms)\n");
        let completed = FileOutcome { records: 3, rewritten: 2, kept_database: Some("slt_1_1".into()), ..outcome(None) };
        let text = file_text(&completed, Style::PLAIN);
        assert_eq!(text, "ok a.slt (3 records, 2 rewritten, 12 ms)\nkept slt_1_1 of a.slt\n");
        let failure = Failure {
            place: "a.slt:3".into(),
            headline: "the result differs".into(),
            statement: Some("SELECT 1".into()),
            details: "--- expected\n".into(),
        };
        let text = file_text(&outcome(Some(failure)), Style::PLAIN);
        assert_eq!(text, "FAILED a.slt:3\n  the result differs\n      SELECT 1\n  --- expected\n");
    }

    #[test]
    fn the_last_line_is_the_count() {
        let mut summary = Summary::default();
        summary.add(outcome(None));
        assert_eq!(summary_text(&summary, Style::PLAIN), "1 passed, 0 failed\n");
        assert_eq!(summary.exit_code(), 0);
        summary.add(outcome(Some(Failure::of_file("a.slt".into(), "x", ""))));
        assert_eq!(summary.exit_code(), 1);
        summary.interrupted = true;
        summary.not_run.push("b.slt".into());
        assert_eq!(summary_text(&summary, Style::PLAIN), "interrupted\n1 file not run to the end\n1 passed, 1 failed\n");
        assert_eq!(summary.exit_code(), 130);
    }
}
