//! Colours, only where somebody sees them.

use std::io::IsTerminal;

/// What a text means.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tone {
    Good,
    Bad,
    Quiet,
}

/// Whether to colour.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    coloured: bool,
}

impl Style {
    /// Plain text.
    pub(crate) const PLAIN: Style = Style { coloured: false };

    /// Colours for `output` if it is a terminal that shows them and `NO_COLOR` (no-color.org) is not set.
    pub(crate) fn of(output: &impl IsTerminal) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Style { coloured: output.is_terminal() && !refused && !dumb }
    }

    /// `text` in the colour of its tone.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Quiet => "2",
        };
        if self.coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A failure's text, with the lines of its diff in colour.
    pub(crate) fn paint_diff(self, text: &str) -> String {
        let paint = |line: &str| match line.chars().next() {
            Some('+') => self.paint(Tone::Good, line),
            Some('-') => self.paint(Tone::Bad, line),
            Some('@') => self.paint(Tone::Quiet, line),
            _ => line.to_owned(),
        };
        text.lines().map(|line| paint(line) + "\n").collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_diff_lines_are_coloured() {
        let style = Style { coloured: true };
        assert_eq!(style.paint_diff("a\n-b\n+c\n"), "a\n\x1b[31m-b\x1b[0m\n\x1b[32m+c\x1b[0m\n");
        assert_eq!(Style::PLAIN.paint_diff("-b\n"), "-b\n");
    }
}
