//! To a TaskExecutor: slots and tasks.

use async_trait::async_trait;
use std::time::Duration;

use millstream_graph::SinkSpec;
use millstream_runtime::task::{TaskDeploymentDescriptor, TaskMetricsSnapshot};
use millstream_state::{SegmentHandle, SnapshotKind};
use millstream_types::{AllocationId, Barrier, Epoch, ExecutionAttemptId, JobId, OperatorId, RelationId, Result, SlotId};
use serde::{Deserialize, Serialize};

use super::FencingToken;

/// A slot goes to a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocateSlot {
    /// The leader that is meant.
    pub token: FencingToken,
    /// Which slot.
    pub slot: SlotId,
    /// Under this allocation.
    pub allocation: AllocationId,
    /// To this group.
    pub group: String,
}

/// A slot is free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreeSlot {
    /// The leader that is meant.
    pub token: FencingToken,
    /// Whose allocation ends.
    pub allocation: AllocationId,
}

/// Run this task.
#[derive(Clone, Serialize, Deserialize)]
pub struct SubmitTask {
    /// The leader that deploys it.
    pub token: FencingToken,
    /// What, in which slot.
    pub descriptor: TaskDeploymentDescriptor,
}

/// What tasks are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskCommand {
    /// Source tasks emit the barrier behind all that belongs before it.
    Tick(Barrier),
    /// Stop.
    Cancel,
    /// Sources rest.
    Pause,
    /// Sources go on.
    Resume,
}

/// A command to tasks of one job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TellTasks {
    /// The leader that sends it.
    pub token: FencingToken,
    /// To which attempts; those that are not here are passed over.
    pub attempts: Vec<ExecutionAttemptId>,
    /// What.
    pub command: TaskCommand,
}

/// A job that has ended is to be forgotten: its counters, its attempts, its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetJob {
    /// The leader that sends it.
    pub token: FencingToken,
    /// Which job.
    pub job: JobId,
    /// The relation it served.
    pub relation: Option<RelationId>,
}

/// What these tasks have handed over at a checkpoint is to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersistCheckpoint {
    /// The leader that sends it.
    pub token: FencingToken,
    /// The checkpoint.
    pub epoch: Epoch,
    /// Name of the file that it may use, which no other one has.
    pub file: String,
    /// The tasks; all of them have handed over their state.
    pub attempts: Vec<ExecutionAttemptId>,
}

/// The state of a task that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersistedTask {
    /// The task.
    pub attempt: ExecutionAttemptId,
    /// Subtasks of its vertex.
    pub parallelism: u32,
    /// Its operators that keep something.
    pub operators: Vec<PersistedOperator>,
    /// How long it stood still to hand over.
    pub sync: Duration,
}

/// The state of an operator that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersistedOperator {
    /// The operator.
    pub operator: OperatorId,
    /// Whether it stands for itself.
    pub kind: SnapshotKind,
    /// Where it is; `None` if nothing has changed.
    pub segment: Option<SegmentHandle>,
    /// Keys of the whole state.
    pub keys: u64,
    /// What a sink has prepared.
    pub committables: Vec<Vec<u8>>,
}

/// What sinks have prepared at a checkpoint that is durable now is to be published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitSink {
    /// The leader that sends it.
    pub token: FencingToken,
    /// The sink.
    pub sink: SinkSpec,
    /// What its writers said.
    pub committables: Vec<Vec<u8>>,
}

/// What a TaskExecutor answers.
#[async_trait]
pub trait TaskExecutorGateway: Send + Sync {
    /// Gives a slot to a group.
    ///
    /// # Errors
    /// 55000 if it is taken or not there, or from a former leader's time.
    async fn allocate_slot(&self, message: AllocateSlot) -> Result<()>;

    /// Takes it back. Tasks still in it are cancelled.
    ///
    /// # Errors
    /// 55000 from a former leader's time.
    async fn free_slot(&self, message: FreeSlot) -> Result<()>;

    /// Starts a task. Everything after is reported to its JobMaster.
    ///
    /// # Errors
    /// 55000 if the slot is not allocated as the descriptor says, or the attempt is already there or outdated.
    async fn submit_task(&self, message: SubmitTask) -> Result<()>;

    /// Tells tasks something, in order.
    fn tell_tasks(&self, message: TellTasks);

    /// Writes the state that tasks have handed over; durable when it returns. Each hand-over is written once.
    ///
    /// # Errors
    /// 55000 if a task has not handed over for this checkpoint; 53100, 58030 if it cannot be written.
    async fn persist_checkpoint(&self, message: PersistCheckpoint) -> Result<Vec<PersistedTask>>;

    /// Publishes what a sink has prepared, if that has not been done.
    ///
    /// # Errors
    /// What the connector says.
    async fn commit_sink(&self, message: CommitSink) -> Result<()>;

    /// Forgets a job that has ended.
    ///
    /// # Errors
    /// 55000 from a former leader's time.
    async fn forget_job(&self, message: ForgetJob) -> Result<()>;

    /// Counters of tasks that run here, the last ones of those that ran here; `None` for others.
    fn metrics(&self, attempts: &[ExecutionAttemptId]) -> Vec<Option<TaskMetricsSnapshot>>;

    /// Backfill progress of a task that runs here: rows done and in all.
    fn backfill_progress(&self, attempt: ExecutionAttemptId) -> Option<(u64, u64)>;
}
