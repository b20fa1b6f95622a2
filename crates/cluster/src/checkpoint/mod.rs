//! Checkpoints: at some ticks all tasks of a group of jobs hand over what they keep, and one metadata record makes it durable.
//!
//! [`core`] follows the checkpoints under way, [`coordinator`] persists and commits, [`record`] is what stays, [`history`] what SHOW
//! CHECKPOINTS shows. A checkpoint is there when its record is; files that no record names were never part of one, and are removed.

mod coordinator;
mod core;
mod history;
mod record;
#[cfg(test)]
mod tests;

pub(crate) use coordinator::{CheckpointClient, CheckpointCoordinator, CheckpointServices, FrozenJob, Recovered};
pub(crate) use history::CheckpointHistory;
pub use history::{CheckpointOverview, CheckpointStatus};
pub use record::{JobCheckpoint, OperatorCheckpoint, SubtaskCheckpoint};

/// Metadata keys of checkpoints start with this.
const CHECKPOINT_KEYS: &str = "checkpoint/";
