//! What a row does to the relation it belongs to.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The four kinds of change. The numbers are Flink's and part of the wire format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum RowKind {
    /// `+I`: a row appears.
    Insert = 0,
    /// `-U`: the old value of an updated row.
    UpdateBefore = 1,
    /// `+U`: the new value of an updated row.
    UpdateAfter = 2,
    /// `-D`: a row disappears.
    Delete = 3,
}

impl RowKind {
    /// +1 if the row is added to the relation, -1 if it is taken away.
    pub fn sign(self) -> i64 {
        match self {
            RowKind::Insert | RowKind::UpdateAfter => 1,
            RowKind::UpdateBefore | RowKind::Delete => -1,
        }
    }

    /// True for `-U` and `-D`.
    pub fn is_retraction(self) -> bool {
        self.sign() < 0
    }

    /// Flink's two character name: `+I`, `-U`, `+U`, `-D`.
    pub fn short_name(self) -> &'static str {
        match self {
            RowKind::Insert => "+I",
            RowKind::UpdateBefore => "-U",
            RowKind::UpdateAfter => "+U",
            RowKind::Delete => "-D",
        }
    }
}

impl fmt::Display for RowKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.short_name())
    }
}
