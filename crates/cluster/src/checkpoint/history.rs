//! The last checkpoints of each job, for SHOW CHECKPOINTS.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use millstream_types::{Epoch, Error, JobId};
use parking_lot::Mutex;

/// Checkpoints that are remembered per job.
const REMEMBERED: usize = 20;

/// How a checkpoint ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointStatus {
    /// Durable.
    Completed,
    /// Given up, for this reason.
    Failed(Error),
}

/// One checkpoint of one job.
#[derive(Clone, Debug)]
pub struct CheckpointOverview {
    /// The cut.
    pub epoch: Epoch,
    /// How it ended.
    pub status: CheckpointStatus,
    /// When it ended, in microseconds since 1970-01-01 UTC.
    pub end_time_micros: i64,
    /// From the tick to its end.
    pub duration: Duration,
    /// The longest time that a task stood still to hand over its state.
    pub sync: Duration,
    /// Bytes written for it.
    pub written_bytes: u64,
    /// Bytes of the whole state.
    pub state_bytes: u64,
    /// Keys of the whole state.
    pub keys: u64,
}

/// By job, oldest first.
#[derive(Debug, Default)]
pub(crate) struct CheckpointHistory {
    jobs: Mutex<BTreeMap<JobId, VecDeque<CheckpointOverview>>>,
}

impl CheckpointHistory {
    pub(super) fn add(&self, job: JobId, overview: CheckpointOverview) {
        let mut jobs = self.jobs.lock();
        let of = jobs.entry(job).or_default();
        if of.len() >= REMEMBERED {
            of.pop_front();
        }
        of.push_back(overview);
    }

    pub(super) fn remove(&self, job: JobId) {
        self.jobs.lock().remove(&job);
    }

    pub(crate) fn of(&self, job: JobId) -> Vec<CheckpointOverview> {
        self.jobs.lock().get(&job).map(|of| of.iter().cloned().collect()).unwrap_or_default()
    }
}
