//! Sources: where a task without inputs gets its rows.

pub mod subscription;
pub mod table_log;
#[cfg(test)]
mod tests;
pub mod values;

use std::time::Duration;

use millstream_types::{ChangeBatch, Epoch, Error, Result, Watermark};

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

    /// Continues from the positions that all subtasks had at `epoch`. Called before the first poll.
    ///
    /// # Errors
    /// XX001 if they are none; 0A000 if they cannot be shared out to this parallelism.
    fn restore(&mut self, positions: &[SourcePosition], epoch: Epoch) -> Result<()>;

    /// Rows done and rows in all, while existing rows are being read.
    fn backfill_progress(&self) -> Option<(u64, u64)> {
        None
    }
}

/// Where one subtask of a source was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// 0-based.
    pub subtask: u32,
    /// Subtasks then.
    pub parallelism: u32,
    /// What [`SourceReader::snapshot`] gave.
    pub bytes: Vec<u8>,
}

/// The position of a subtask whose source cannot be shared out anew.
///
/// # Errors
/// 0A000 if the parallelism is another one now; XX001 if the position is missing.
pub fn own_position<'a>(positions: &'a [SourcePosition], subtask: u32, parallelism: u32, what: &str) -> Result<&'a [u8]> {
    if let Some(other) = positions.iter().find(|p| p.parallelism != parallelism) {
        return Err(Error::unsupported(format!("another parallelism for a source of connector \"{what}\" that has begun"))
            .with_detail(format!("It was read by {} subtasks and cannot be shared out to {parallelism}.", other.parallelism)));
    }
    let own = positions.iter().find(|p| p.subtask == subtask).map(|p| p.bytes.as_slice());
    own.ok_or_else(|| Error::new(millstream_types::SqlState::DATA_CORRUPTED, "the position of a source is missing in its checkpoint"))
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
