//! `DECLARE`, `FETCH` and `CLOSE`.

use std::fmt;

use sqlparser::ast::Ident;

use super::data::SelectStatement;

/// `DECLARE name [BINARY] [INSENSITIVE] [[NO] SCROLL] CURSOR [WITH HOLD] FOR query`.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclareCursor {
    /// The cursor.
    pub name: Ident,
    /// BINARY.
    pub binary: bool,
    /// SCROLL (true), NO SCROLL (false) or nothing.
    pub scroll: Option<bool>,
    /// WITH HOLD.
    pub hold: bool,
    /// The query.
    pub query: SelectStatement,
}

impl fmt::Display for DeclareCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DECLARE {}{}", self.name, if self.binary { " BINARY" } else { "" })?;
        f.write_str(self.scroll.map_or("", |scroll| if scroll { " SCROLL" } else { " NO SCROLL" }))?;
        write!(f, " CURSOR{} FOR {}", if self.hold { " WITH HOLD" } else { "" }, self.query)
    }
}

/// `FETCH [direction] [FROM | IN] cursor`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    /// Which rows.
    pub direction: FetchDirection,
    /// The cursor.
    pub cursor: Ident,
}

/// Which rows FETCH reads. `Forward(1)` is NEXT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchDirection {
    /// `n` or `FORWARD n`: the next n rows.
    Forward(i64),
    /// `ALL`: all rows that are left.
    ForwardAll,
    /// `BACKWARD n`; PRIOR is `Backward(1)`.
    Backward(i64),
    /// `BACKWARD ALL`.
    BackwardAll,
    /// `ABSOLUTE n`; FIRST is 1, LAST is -1.
    Absolute(i64),
    /// `RELATIVE n`.
    Relative(i64),
}

impl fmt::Display for Fetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.direction {
            FetchDirection::Forward(n) => write!(f, "FETCH FORWARD {n} FROM {}", self.cursor),
            FetchDirection::ForwardAll => write!(f, "FETCH FORWARD ALL FROM {}", self.cursor),
            FetchDirection::Backward(n) => write!(f, "FETCH BACKWARD {n} FROM {}", self.cursor),
            FetchDirection::BackwardAll => write!(f, "FETCH BACKWARD ALL FROM {}", self.cursor),
            FetchDirection::Absolute(n) => write!(f, "FETCH ABSOLUTE {n} FROM {}", self.cursor),
            FetchDirection::Relative(n) => write!(f, "FETCH RELATIVE {n} FROM {}", self.cursor),
        }
    }
}

/// What CLOSE closes.
#[derive(Clone, Debug, PartialEq)]
pub enum CursorTarget {
    /// One cursor.
    Named(Ident),
    /// ALL.
    All,
}

impl fmt::Display for CursorTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CursorTarget::Named(name) => name.fmt(f),
            CursorTarget::All => f.write_str("ALL"),
        }
    }
}
