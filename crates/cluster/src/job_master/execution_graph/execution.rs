//! One attempt to run a subtask. It never restarts: a new attempt is a new object.

use millstream_runtime::task::ExecutionState;
use millstream_types::{Error, ExecutionAttemptId, Result};
use serde::{Deserialize, Serialize};

use crate::gateway::AllocatedSlot;

/// An attempt with its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// Which.
    pub attempt: ExecutionAttemptId,
    /// Where it is.
    pub state: ExecutionState,
    /// The slot it runs in.
    pub slot: Option<AllocatedSlot>,
    /// Why it failed.
    pub failure: Option<Error>,
}

impl Execution {
    pub(super) fn new(attempt: ExecutionAttemptId) -> Self {
        Execution { attempt, state: ExecutionState::Created, slot: None, failure: None }
    }

    /// Enters a state. `Ok(false)` if it is there already, or is being cancelled and the state is an earlier one told late.
    ///
    /// # Errors
    /// XX000 for a transition that does not exist.
    pub fn transition(&mut self, next: ExecutionState, failure: Option<Error>) -> Result<bool> {
        if self.state == next || (self.state == ExecutionState::Canceling && !next.is_terminal()) {
            return Ok(false);
        }
        if !self.state.may_become(next) {
            return Err(Error::internal(format!("attempt {} went from {:?} to {next:?}", self.attempt, self.state)));
        }
        self.state = next;
        self.failure = failure;
        Ok(true)
    }

    /// True if it never changes again.
    pub fn is_terminal(&self) -> bool {
        self.state.is_terminal()
    }
}
