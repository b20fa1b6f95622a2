//! The life of an execution attempt; Flink's states and order.

use std::fmt;

use serde::{Deserialize, Serialize};

/// State of one attempt. It only moves forward.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum ExecutionState {
    /// Planned.
    Created,
    /// Waits for its slot.
    Scheduled,
    /// On its way to the TaskManager.
    Deploying,
    /// Builds its operators and restores state.
    Initializing,
    /// Processes.
    Running,
    /// Its input has ended and everything is out.
    Finished,
    /// Told to stop.
    Canceling,
    /// Stopped because it was told to.
    Canceled,
    /// Stopped by an error.
    Failed,
}

impl ExecutionState {
    /// True for states that never change again.
    pub fn is_terminal(self) -> bool {
        matches!(self, ExecutionState::Finished | ExecutionState::Canceled | ExecutionState::Failed)
    }

    /// True if an attempt in this state may go to `next`.
    pub fn may_become(self, next: ExecutionState) -> bool {
        use ExecutionState as S;
        matches!(
            (self, next),
            (S::Created, S::Scheduled | S::Canceled | S::Failed)
                | (S::Scheduled, S::Deploying | S::Canceled | S::Failed)
                | (S::Deploying, S::Initializing | S::Canceling | S::Failed)
                | (S::Initializing, S::Running | S::Canceling | S::Failed)
                | (S::Running, S::Finished | S::Canceling | S::Failed)
                | (S::Canceling, S::Canceled | S::Finished | S::Failed)
        )
    }
}

impl fmt::Display for ExecutionState {
    /// Flink's names.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ExecutionState::Created => "CREATED",
            ExecutionState::Scheduled => "SCHEDULED",
            ExecutionState::Deploying => "DEPLOYING",
            ExecutionState::Initializing => "INITIALIZING",
            ExecutionState::Running => "RUNNING",
            ExecutionState::Finished => "FINISHED",
            ExecutionState::Canceling => "CANCELING",
            ExecutionState::Canceled => "CANCELED",
            ExecutionState::Failed => "FAILED",
        })
    }
}
