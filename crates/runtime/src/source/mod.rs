//! Sources: where a task without inputs gets its rows.

pub mod subscription;
pub mod table_log;
#[cfg(test)]
mod tests;
pub mod values;

use std::time::Duration;

use millstream_types::{ChangeBatch, Epoch, Result, Watermark};

/// Reads one subtask's share. Never blocks.
pub trait SourceReader: Send {
    /// The next rows, at most about `max_rows`. With `cut`, everything that belongs to epochs up to it and then
    /// [`SourcePoll::CutReached`].
    ///
    /// # Errors
    /// What the system says, or a row that cannot be decoded.
    fn poll(&mut self, cut: Option<Epoch>, max_rows: usize) -> Result<SourcePoll>;

    /// The position, to continue from.
    ///
    /// # Errors
    /// If there is none to be had.
    fn snapshot(&self) -> Result<Vec<u8>>;

    /// Continues from a position. Called before the first poll.
    ///
    /// # Errors
    /// XX001 if it is none.
    fn restore(&mut self, bytes: &[u8]) -> Result<()>;

    /// Rows done and rows in all, while existing rows are being read.
    fn backfill_progress(&self) -> Option<(u64, u64)> {
        None
    }
}

/// What a poll brought.
#[derive(Debug)]
pub enum SourcePoll {
    /// Rows.
    Batch(ChangeBatch),
    /// Event time has advanced.
    Watermark(Watermark),
    /// Nothing now: ask again when the waker given at construction was called, or after a while.
    Pending {
        /// The while; `None`: only the waker.
        wake_after: Option<Duration>,
    },
    /// Only when a cut was given: all that belongs to epochs up to it is out.
    CutReached,
    /// Nothing will ever follow; the task asks for a last tick.
    Finished,
}
