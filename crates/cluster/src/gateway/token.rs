//! Who leads.

use millstream_types::{Error, Result, SqlState};
use serde::{Deserialize, Serialize};

/// Names one term of one leader. A message with another token comes from, or goes to, a former leader.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct FencingToken(pub u64);

impl FencingToken {
    /// Refuses a message of another term.
    ///
    /// # Errors
    /// 55000 if the tokens differ.
    pub fn check(self, message: FencingToken) -> Result<()> {
        if self == message {
            return Ok(());
        }
        Err(Error::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, "a message of a former leader was refused")
            .with_detail(format!("It carries fencing token {} where {} is current.", message.0, self.0)))
    }

    /// The same for a message that nobody waits for: refused ones are logged and dropped.
    pub(crate) fn admits(self, message: FencingToken, what: &str) -> bool {
        self.check(message).inspect_err(|error| tracing::warn!(%error, message = what, "message dropped")).is_ok()
    }
}
