//! What a TaskExecutor needs to run one subtask.

use millstream_graph::{DataSetId, JobVertex, Partitioner};
use millstream_state::SegmentHandle;
use millstream_types::{AllocationId, Epoch, ExecutionAttemptId, OperatorId, Schema, SlotId, limits};
use serde::{Deserialize, Serialize};

/// One attempt of one subtask, complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskDeploymentDescriptor {
    /// Which attempt.
    pub attempt: ExecutionAttemptId,
    /// Name of the job, for messages.
    pub job_name: String,
    /// The operator chain.
    pub vertex: JobVertex,
    /// The slot it runs in.
    pub slot: SlotId,
    /// The lease on the slot.
    pub allocation: AllocationId,
    /// Where its input comes from; empty for a source.
    pub inputs: Vec<InputGateDescriptor>,
    /// Where its output goes; empty for a leaf.
    pub outputs: Vec<ResultPartitionDescriptor>,
    /// Settings of the job.
    pub config: TaskConfig,
    /// What to continue from; `None`: the job starts.
    pub restore: Option<TaskRestore>,
}

/// The state that an attempt continues from. Without any operator the job starts again, over what an attempt before it may have left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRestore {
    /// The cut of the checkpoint; 0 without one.
    pub epoch: Epoch,
    /// The operators of the chain.
    pub operators: Vec<OperatorRestore>,
}

/// The state of one operator, of all subtasks that it had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorRestore {
    /// The operator.
    pub operator: OperatorId,
    /// Oldest first for each of the old subtasks.
    pub segments: Vec<SegmentHandle>,
}

/// One data set that a subtask reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputGateDescriptor {
    /// Input of the head operator.
    pub input: u32,
    /// The data set.
    pub data_set: DataSetId,
    /// Its columns.
    pub schema: Schema,
    /// How it was split.
    pub partitioner: Partitioner,
    /// One per producing subtask that sends to this one.
    pub channels: Vec<ChannelDescriptor>,
}

/// One channel of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelDescriptor {
    /// The attempt that writes it.
    pub producer: ExecutionAttemptId,
    /// Its index in that attempt's partition.
    pub subpartition: u32,
}

/// One data set that a subtask writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultPartitionDescriptor {
    /// The data set.
    pub data_set: DataSetId,
    /// How it is split.
    pub partitioner: Partitioner,
    /// Channels: the consumer's parallelism, or 1 for FORWARD.
    pub subpartitions: u32,
    /// Key groups of the consumer.
    pub consumer_max_parallelism: u32,
}

/// Settings of a job that its tasks obey.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskConfig {
    /// Milliseconds that small batches wait for company while more input keeps coming; 0 sends each at once.
    pub linger_ms: u64,
    /// Rows that batches aim at.
    pub batch_rows: usize,
    /// State is handed over at checkpoints, and a source ends at one.
    pub checkpoints: bool,
}

impl Default for TaskConfig {
    fn default() -> Self {
        TaskConfig { linger_ms: limits::LINGER_MS, batch_rows: limits::BATCH_TARGET_ROWS, checkpoints: false }
    }
}
