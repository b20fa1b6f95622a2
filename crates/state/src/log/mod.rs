//! The DML log: every committed transaction of every table, in commit order. What is in the log is acknowledged.

mod memory;

use millstream_types::{ChangeBatch, Epoch, RelationId, Result};

pub use memory::MemoryLog;

/// Position behind a record; 0 is before the first.
pub type LogPosition = u64;

/// One transaction: all its changes are in one epoch.
#[derive(Clone, Debug)]
pub struct LogRecord {
    /// The open epoch at the commit.
    pub epoch: Epoch,
    /// Changes by table, full rows of the stored columns; -old before +new.
    pub changes: Vec<(RelationId, ChangeBatch)>,
}

/// A log of transactions.
pub trait LogStore: Send + Sync + std::fmt::Debug {
    /// Appends one transaction; when it returns, the transaction is acknowledged. Epochs never go down.
    ///
    /// # Errors
    /// 53100 when the log has reached its limit.
    fn append(&self, record: LogRecord) -> Result<LogPosition>;

    /// A table's changes behind position `from` with epochs `<= up_to`, at most `max` records, each with the position behind it.
    ///
    /// # Errors
    /// XX001 if the log cannot be read.
    fn read(&self, table: RelationId, from: LogPosition, up_to: Epoch, max: usize) -> Result<Vec<(LogPosition, Epoch, ChangeBatch)>>;

    /// Forgets a table's records with epochs `<= up_to`: the table has them.
    fn truncate(&self, table: RelationId, up_to: Epoch);

    /// Epoch of the newest record of a table that was not truncated.
    fn last_epoch(&self, table: RelationId) -> Option<Epoch>;

    /// Bytes of all records.
    fn bytes(&self) -> usize;
}
