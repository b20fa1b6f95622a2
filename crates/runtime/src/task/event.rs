//! What a task tells its TaskExecutor.

use std::time::Duration;

use millstream_state::FrozenOperator;
use millstream_types::{Epoch, Error, ExecutionAttemptId};
use serde::{Deserialize, Serialize};

use super::ExecutionState;

/// Something happened in a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum TaskEvent {
    /// The attempt is in another state; the error is why it failed.
    StateChanged(ExecutionState, Option<Error>),
    /// A task without output partitions has taken this epoch's barrier through its whole chain.
    BarrierPassed(Epoch),
    /// A source has nothing more to read and wants a last tick to end with.
    TickWanted,
    /// Rows of the backfill that are out, and rows in all; equal only when it is over.
    BackfillProgress {
        /// Rows done.
        done: u64,
        /// Rows in all.
        total: u64,
    },
}

/// Hears what tasks say. Called on the task's thread: must not block.
pub trait TaskListener: Send + Sync {
    /// Something happened in `attempt`.
    fn event(&self, attempt: ExecutionAttemptId, event: TaskEvent);

    /// `attempt` hands over its state at a checkpoint barrier. Comes before [`TaskEvent::BarrierPassed`].
    fn frozen(&self, attempt: ExecutionAttemptId, frozen: FrozenTask);
}

/// The state of a task at a checkpoint barrier.
#[derive(Debug)]
pub struct FrozenTask {
    /// The barrier.
    pub epoch: Epoch,
    /// Operators that keep state, and sinks that have prepared something.
    pub operators: Vec<FrozenOperator>,
    /// Subtasks of the vertex.
    pub parallelism: u32,
    /// How long the task stood still for it.
    pub sync: Duration,
}
