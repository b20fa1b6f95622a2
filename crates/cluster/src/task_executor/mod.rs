//! The TaskExecutor: a TaskManager's slots and the tasks in them.
//!
//! [`slots`] is the state machine of slots and attempts; [`handler`] starts and stops tasks. It is no actor: its messages are short and
//! come from many threads, and a mailbox between the clock and a task would only add a hop to every tick.

mod handler;
mod segments;
mod slots;

pub(crate) use handler::TaskExecutor;
pub use slots::TaskSlots;
