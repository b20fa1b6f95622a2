//! Drawing the demo: redrawn in place on a terminal, plain lines elsewhere.

use std::io::{Write, stdout};
use std::time::Duration;

use crossterm::{QueueableCommand, cursor, terminal};

/// What is shown at one moment.
pub(super) struct Frame<'a> {
    pub(super) elapsed: Duration,
    /// Bid events so far.
    pub(super) total: f64,
    pub(super) per_second: f64,
    /// Rows of the view: channel, bids, highest, average.
    pub(super) rows: &'a [Vec<Option<String>>],
}

/// Where it is shown.
pub(super) struct Screen {
    terminal: bool,
    /// Lines of the last frame, to go back over.
    drawn: u16,
}

impl Screen {
    pub(super) fn new(terminal: bool) -> Self {
        Screen { terminal, drawn: 0 }
    }

    /// Time between two frames.
    pub(super) fn pace(&self) -> Duration {
        Duration::from_millis(if self.terminal { 250 } else { 1000 })
    }

    /// A line that stays.
    pub(super) fn line(&mut self, text: &str) {
        self.drawn = 0;
        self.write(&format!("{text}\n"));
    }

    pub(super) fn show(&mut self, frame: &Frame<'_>) {
        let summary = format!(
            "{:>6.1} s  {:>15} events  {:>12} events/s",
            frame.elapsed.as_secs_f64(),
            grouped(frame.total),
            grouped(frame.per_second)
        );
        if !self.terminal {
            let top = frame.rows.first().map(|r| format!("  busiest channel: {} with {} bids", cell(r, 0), cell(r, 1)));
            self.write(&format!("{summary}{}\n", top.unwrap_or_default()));
            return;
        }
        let mut lines = vec![summary, format!(" {:<16}|{:>14} |{:>14} |{:>18}", "channel", "bids", "highest", "average")];
        lines.push(format!("{0}+{1}+{1}+{2}", "-".repeat(17), "-".repeat(15), "-".repeat(18)));
        lines.extend(frame.rows.iter().map(|r| format!(" {:<16}|{:>14} |{:>14} |{:>18}", cell(r, 0), cell(r, 1), cell(r, 2), cell(r, 3))));
        // A terminal that cannot be written to is gone, and with it whoever looked.
        let _ = self.redraw(&lines);
    }

    fn redraw(&mut self, lines: &[String]) -> std::io::Result<()> {
        let mut out = stdout().lock();
        if self.drawn > 0 {
            out.queue(cursor::MoveToPreviousLine(self.drawn))?;
        }
        for line in lines {
            out.queue(terminal::Clear(terminal::ClearType::CurrentLine))?;
            writeln!(out, "{line}")?;
        }
        self.drawn = u16::try_from(lines.len()).unwrap_or(u16::MAX);
        out.flush()
    }

    fn write(&self, text: &str) {
        let mut out = stdout().lock();
        // As above.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

fn cell(row: &[Option<String>], i: usize) -> &str {
    row.get(i).and_then(Option::as_deref).unwrap_or("")
}

/// A whole number with its thousands apart.
fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.max(0.0));
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0.0, 12.4, 999.0, 1000.0, 1234567.0].map(grouped), ["0", "12", "999", "1,000", "1,234,567"]);
    }
}
