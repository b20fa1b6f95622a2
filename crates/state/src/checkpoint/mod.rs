//! Checkpointed state: what a task hands over at a barrier, as segments in files.
//!
//! [`frozen`] is the hand-over, [`segment`] the bytes, [`storage`] where files are. A *segment* is the whole state of one operator in one
//! subtask, or what has changed in it since the segment before; a file holds the segments of many tasks. Which segments count is said by
//! metadata only, so a file that was not finished never existed.

mod frozen;
mod segment;
mod storage;
#[cfg(test)]
mod tests;

pub use frozen::{FrozenOperator, FrozenState, LazyState, SnapshotKind};
pub use segment::{SegmentHandle, SegmentSnapshot, SegmentWriter};
pub use storage::{CheckpointStorage, SegmentReader};
