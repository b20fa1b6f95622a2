//! From sqlparser's line and column to PostgreSQL's position (1-based, in characters) and to bytes.

use sqlparser::ast::{Expr, Spanned};
use sqlparser::tokenizer::Location;

/// The position of `location` in `text`: 1-based, in characters; 0 if sqlparser did not know the location.
pub fn position_of(text: &str, location: Location) -> u32 {
    if location.line == 0 {
        return 0;
    }
    char_position(text, byte_of(text, location))
}

/// Where an expression begins in the text of its statement; `None` if sqlparser kept no span for it.
pub fn expr_position(expr: &Expr, text: &str) -> Option<u32> {
    let start = expr.span().start;
    (start.line > 0).then(|| position_of(text, start))
}

/// Characters before byte `byte`, plus one.
pub(crate) fn char_position(text: &str, byte: usize) -> u32 {
    let before = text.get(..byte).unwrap_or(text);
    u32::try_from(before.chars().count() + 1).unwrap_or(u32::MAX)
}

/// The byte at which `location` lies; the end of the text if it lies beyond.
pub(crate) fn byte_of(text: &str, location: Location) -> usize {
    let mut cursor = Cursor::default();
    cursor.advance_to(text, location);
    cursor.byte
}

/// A place in a text that only moves forward, so that many places cost one pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    pub(crate) byte: usize,
    pub(crate) chars: usize,
    line: u64,
    column: u64,
}

impl Default for Cursor {
    fn default() -> Self {
        Cursor { byte: 0, chars: 0, line: 1, column: 1 }
    }
}

impl Cursor {
    /// Moves to `location`, or to the end of the text.
    pub(crate) fn advance_to(&mut self, text: &str, location: Location) {
        for ch in text.get(self.byte..).unwrap_or_default().chars() {
            if (self.line, self.column) >= (location.line, location.column) {
                break;
            }
            self.byte += ch.len_utf8();
            self.chars += 1;
            if ch == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
    }
}

/// A position that belongs to the text, not to the meaning: two trees that differ only in positions are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Position(pub u32);

impl PartialEq for Position {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
