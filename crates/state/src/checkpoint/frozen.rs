//! What an operator hands over at a checkpoint barrier.

use millstream_types::{OperatorId, Result};
use serde::{Deserialize, Serialize};

use super::SegmentWriter;
use crate::SnapshotWriter;

/// Whether a snapshot stands for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SnapshotKind {
    /// Everything.
    Full,
    /// What has changed since the snapshot that the barrier named.
    Delta,
}

/// Writes state when it is called.
pub type LazyState = Box<dyn FnOnce(&mut dyn SnapshotWriter) -> Result<()> + Send>;

/// State on its way to a segment.
pub enum FrozenState {
    /// A segment already.
    Encoded(SegmentWriter),
    /// To be written by whoever has the time: it holds what it needs, unchanging.
    Lazy(LazyState),
}

/// The state of one operator in one subtask.
#[derive(Debug)]
pub struct FrozenOperator {
    /// The operator.
    pub operator: OperatorId,
    /// Whether it stands for itself.
    pub kind: SnapshotKind,
    /// The state.
    pub state: FrozenState,
    /// Keys of the whole state.
    pub keys: u64,
    /// What a sink has prepared, to be published when the checkpoint is durable.
    pub committables: Vec<Vec<u8>>,
}

impl FrozenState {
    /// The segment.
    ///
    /// # Errors
    /// What the operator raises while it writes.
    pub fn into_segment(self) -> Result<SegmentWriter> {
        match self {
            FrozenState::Encoded(segment) => Ok(segment),
            FrozenState::Lazy(write) => {
                let mut segment = SegmentWriter::default();
                write(&mut segment)?;
                Ok(segment)
            }
        }
    }
}

impl std::fmt::Debug for FrozenState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FrozenState::Encoded(_) => "Encoded",
            FrozenState::Lazy(_) => "Lazy",
        })
    }
}
