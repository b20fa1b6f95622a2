//! To a JobMaster: from the clock, the Dispatcher and the tasks.

use std::sync::Arc;

use millstream_runtime::task::ExecutionState;
use millstream_types::{Barrier, Epoch, Error, ExecutionAttemptId, JobId};
use serde::{Deserialize, Serialize};

use super::FencingToken;
use crate::checkpoint::JobCheckpoint;

/// A tick addresses the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickJob {
    /// The leader that sends it.
    pub token: FencingToken,
    /// Which job.
    pub job: JobId,
    /// The cut.
    pub barrier: Barrier,
}

/// What a task reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskReport {
    /// It entered a state; FAILED with its cause.
    StateChanged(ExecutionState, Option<Error>),
    /// A barrier has passed the whole chain of a task without consumers.
    BarrierPassed(Epoch),
    /// It has handed over its state at the barrier of this checkpoint.
    Frozen(Epoch),
    /// A source has ended and asks for the tick that covers its last rows.
    TickWanted,
    /// All rows that were there when it subscribed are out.
    Backfilled,
}

/// A task's report on its way to the JobMaster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateTask {
    /// The leader that deployed the task.
    pub token: FencingToken,
    /// Which attempt; a replaced one is not listened to.
    pub attempt: ExecutionAttemptId,
    /// What.
    pub report: TaskReport,
}

/// What is to become of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobControl {
    /// It is to stop.
    Cancel,
    /// Its sources are to rest.
    Pause,
    /// Its sources are to go on.
    Resume,
}

/// A command to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlJob {
    /// The leader that sends it.
    pub token: FencingToken,
    /// What.
    pub control: JobControl,
}

/// How a checkpoint of the job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointNews {
    /// The leader that sends it.
    pub token: FencingToken,
    /// The checkpoint.
    pub epoch: Epoch,
    /// The job's state as it is durable now; `None`: the checkpoint was given up.
    pub durable: Option<JobCheckpoint>,
}

/// What a JobMaster listens to. Its answers are in the job's status.
pub trait JobMasterGateway: Send + Sync {
    /// A tick, in order.
    fn tick(&self, message: TickJob);
    /// A report.
    fn update_task(&self, message: UpdateTask);
    /// A command.
    fn control(&self, message: ControlJob);
    /// News of a checkpoint.
    fn checkpoint(&self, message: CheckpointNews);
}

/// Where a TaskExecutor finds the JobMaster of a task.
pub trait JobMasterLocator: Send + Sync {
    /// The JobMaster; `None` when the job is gone.
    fn job_master(&self, job: JobId) -> Option<Arc<dyn JobMasterGateway>>;
}
