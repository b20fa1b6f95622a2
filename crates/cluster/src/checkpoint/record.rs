//! What a durable checkpoint says of a job: which segments hold the state of each of its operators.

use std::collections::BTreeMap;

use millstream_state::{SegmentHandle, SnapshotKind};
use millstream_types::{Epoch, Error, JobId, OperatorId, Result, SqlState};
use serde::{Deserialize, Serialize};

use crate::gateway::PersistedTask;

/// Version of the record that this binary writes.
const VERSION: u16 = 1;
/// Segments of one subtask beyond which everything is written anew.
const MAX_SEGMENTS: usize = 32;
/// Bytes of changes that are kept whatever the size of the state.
const MIN_DELTA_BYTES: u64 = 1 << 20;

/// A job's newest durable state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCheckpoint {
    version: u16,
    /// The job.
    pub job: JobId,
    /// The cut.
    pub epoch: Epoch,
    /// All rows of its subscriptions' first snapshots were in.
    pub backfilled: bool,
    /// By operator.
    pub operators: BTreeMap<OperatorId, OperatorCheckpoint>,
}

/// An operator's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorCheckpoint {
    /// Subtasks it was written by.
    pub parallelism: u32,
    /// By subtask.
    pub subtasks: BTreeMap<u32, SubtaskCheckpoint>,
}

/// One subtask's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubtaskCheckpoint {
    /// Everything, then changes, oldest first.
    pub segments: Vec<SegmentHandle>,
    /// Keys.
    pub keys: u64,
    /// What the sink has prepared and is told to publish, again after every restore.
    pub committables: Vec<Vec<u8>>,
}

impl SubtaskCheckpoint {
    /// Bytes of all segments.
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(|s| s.len).sum()
    }

    fn is_long(&self) -> bool {
        let full = self.segments.first().map_or(0, |s| s.len);
        self.segments.len() >= MAX_SEGMENTS || self.bytes() - full > full.max(MIN_DELTA_BYTES)
    }
}

impl JobCheckpoint {
    /// The checkpoint after `before`, in which `tasks` have handed over what they have. Subtasks that had ended before keep theirs.
    pub(super) fn next(before: Option<&JobCheckpoint>, job: JobId, epoch: Epoch, backfilled: bool, tasks: &[PersistedTask]) -> Self {
        let mut operators = before.map(|b| b.operators.clone()).unwrap_or_default();
        // Those of the checkpoint before were published before this one was written.
        operators.values_mut().flat_map(|o| o.subtasks.values_mut()).for_each(|s| s.committables.clear());
        for task in tasks {
            let subtask = task.attempt.vertex.subtask;
            for persisted in &task.operators {
                let new = || OperatorCheckpoint { parallelism: task.parallelism, subtasks: BTreeMap::new() };
                let operator = operators.entry(persisted.operator).or_insert_with(new);
                if operator.parallelism != task.parallelism {
                    *operator = new();
                }
                let kept = operator.subtasks.entry(subtask).or_default();
                if persisted.kind == SnapshotKind::Full {
                    kept.segments.clear();
                }
                kept.segments.extend(persisted.segment.clone());
                kept.keys = persisted.keys;
                kept.committables.clone_from(&persisted.committables);
            }
        }
        JobCheckpoint { version: VERSION, job, epoch, backfilled, operators }
    }

    /// What the next checkpoint may build on: this one, or nothing when it has become long.
    pub fn base(&self) -> Epoch {
        if self.subtasks().any(SubtaskCheckpoint::is_long) { 0 } else { self.epoch }
    }

    /// All subtasks of all operators.
    pub fn subtasks(&self) -> impl Iterator<Item = &SubtaskCheckpoint> {
        self.operators.values().flat_map(|o| o.subtasks.values())
    }

    /// Bytes of all segments.
    pub fn bytes(&self) -> u64 {
        self.subtasks().map(SubtaskCheckpoint::bytes).sum()
    }

    /// Names of the files that it needs.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.subtasks().flat_map(|s| &s.segments).map(|s| s.file.as_str())
    }

    pub(super) fn key(job: JobId) -> String {
        format!("{}{:020}", super::CHECKPOINT_KEYS, job.0)
    }

    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(Error::internal)
    }

    /// Reads a stored checkpoint.
    ///
    /// # Errors
    /// XX001 if it is none, or was written by a newer version, which is looked at first.
    pub(super) fn decode(key: &str, bytes: &[u8]) -> Result<Self> {
        #[derive(Deserialize)]
        struct Fence {
            version: u16,
        }
        let wrong = |e: serde_json::Error| {
            Error::new(SqlState::DATA_CORRUPTED, format!("checkpoint \"{key}\" cannot be read")).with_detail(e.to_string())
        };
        let Fence { version } = serde_json::from_slice(bytes).map_err(wrong)?;
        if version > VERSION {
            return Err(Error::new(SqlState::DATA_CORRUPTED, format!("checkpoint \"{key}\" was written by a newer version of Millstream"))
                .with_detail(format!("It has version {version}, this binary knows up to {VERSION}.")));
        }
        serde_json::from_slice(bytes).map_err(wrong)
    }
}
