//! The DML log: every committed transaction of every table, in commit order. What is in the log is acknowledged.

mod file;
mod files;
mod frame;
mod index;
mod memory;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use millstream_types::{ChangeBatch, Epoch, Error, RelationId, Result, SqlState};
use tokio::sync::watch;

pub use file::FileLog;
pub use files::{Directory, LogFile, LogFiles};
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

/// How far the log is.
#[derive(Clone, Debug)]
pub struct LogState {
    /// Records up to here survive.
    pub durable: LogPosition,
    /// Why nothing more will be durable.
    pub failed: Option<Error>,
}

/// Called when more records have become durable, or none will any more.
pub type LogWaker = Arc<dyn Fn() + Send + Sync>;

/// A log of transactions.
pub trait LogStore: Send + Sync + std::fmt::Debug {
    /// Appends one transaction behind all others. It is acknowledged when [`LogState::durable`] has reached its position. Epochs never go
    /// down.
    ///
    /// # Errors
    /// 53100 when the log has reached its limit; 58030 and 53100 when it cannot be written any more.
    fn append(&self, record: LogRecord) -> Result<LogPosition>;

    /// How far it is, now and later.
    fn watch(&self) -> watch::Receiver<LogState>;

    /// A table's durable changes behind position `from` with epochs `<= up_to`, at most `max` records, each with the position behind it.
    /// `None`: the next one is not durable yet.
    ///
    /// # Errors
    /// XX001 if the log cannot be read; why it failed.
    fn read(
        &self,
        table: RelationId,
        from: LogPosition,
        up_to: Epoch,
        max: usize,
    ) -> Result<Option<Vec<(LogPosition, Epoch, ChangeBatch)>>>;

    /// Forgets a table's records with epochs `<= up_to`: the table has them.
    fn truncate(&self, table: RelationId, up_to: Epoch);

    /// Epoch of the newest record of a table that was not truncated.
    fn last_epoch(&self, table: RelationId) -> Option<Epoch>;

    /// Bytes of all records.
    fn bytes(&self) -> usize;

    /// Calls `waker` whenever more has become durable.
    fn on_durable(&self, waker: LogWaker);

    /// Calls it no more.
    fn forget_waker(&self, waker: &LogWaker);
}

/// Waits until a record is durable.
///
/// # Errors
/// 58030 or 53100 if it will never be; then nobody knows whether it survives.
pub async fn wait_durable(log: &dyn LogStore, position: LogPosition) -> Result<()> {
    let mut state = log.watch();
    let reached = state.wait_for(|s| s.durable >= position || s.failed.is_some()).await;
    let state = reached.map_err(|_| Error::new(SqlState::ADMIN_SHUTDOWN, "the log was closed"))?;
    match &state.failed {
        Some(error) if state.durable < position => Err(error.clone()),
        _ => Ok(()),
    }
}

fn full(bytes: usize, limit_bytes: usize) -> Error {
    Error::new(SqlState::DISK_FULL, "the log of table changes is full")
        .with_detail(format!("It holds {bytes} of at most {limit_bytes} bytes."))
        .with_hint("tables take changes from the log all the time: try again, or look in SHOW JOBS for a job that is stuck or paused")
}
