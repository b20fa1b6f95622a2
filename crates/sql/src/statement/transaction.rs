//! Transactions.

use std::fmt;

/// What BEGIN and SET TRANSACTION may ask for; `None` where nothing was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionModes {
    /// ISOLATION LEVEL.
    pub isolation: Option<IsolationLevel>,
    /// READ ONLY (true) or READ WRITE (false).
    pub read_only: Option<bool>,
    /// DEFERRABLE (true) or NOT DEFERRABLE (false).
    pub deferrable: Option<bool>,
}

/// SQL's isolation levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationLevel {
    /// READ UNCOMMITTED.
    ReadUncommitted,
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ.
    RepeatableRead,
    /// SERIALIZABLE.
    Serializable,
}

impl fmt::Display for IsolationLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IsolationLevel::ReadUncommitted => "READ UNCOMMITTED",
            IsolationLevel::ReadCommitted => "READ COMMITTED",
            IsolationLevel::RepeatableRead => "REPEATABLE READ",
            IsolationLevel::Serializable => "SERIALIZABLE",
        })
    }
}

impl fmt::Display for TransactionModes {
    /// With a space before each mode.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(level) = self.isolation {
            write!(f, " ISOLATION LEVEL {level}")?;
        }
        f.write_str(self.read_only.map_or("", |yes| if yes { " READ ONLY" } else { " READ WRITE" }))?;
        f.write_str(self.deferrable.map_or("", |yes| if yes { " DEFERRABLE" } else { " NOT DEFERRABLE" }))
    }
}

/// The end of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionEnd {
    /// AND CHAIN: begin the next one with the same modes.
    pub chain: bool,
}

impl fmt::Display for TransactionEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.chain { " AND CHAIN" } else { "" })
    }
}
