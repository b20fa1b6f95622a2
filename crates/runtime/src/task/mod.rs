//! Tasks: one subtask of one operator chain, on one thread, with a mailbox.
//!
//! [`deployment`] says what to run, [`Task::spawn`] runs it, [`TaskHandle`] is what the TaskExecutor holds, [`event`]s are what it hears.
//! A task waits in one place only ([`crate::task_waker`]): for its mailbox, its input and its output alike; an idle one costs nothing.

pub mod control;
pub mod deployment;
pub mod event;
pub mod metrics;
mod operator_loop;
mod run;
mod source_loop;
pub mod state;
#[cfg(test)]
mod tests;

pub use control::TaskControl;
pub use deployment::{
    ChannelDescriptor, InputGateDescriptor, OperatorRestore, ResultPartitionDescriptor, TaskConfig, TaskDeploymentDescriptor, TaskRestore,
};
pub use event::{FrozenTask, TaskEvent, TaskListener};
pub use metrics::{TaskMetrics, TaskMetricsSnapshot};
pub use run::{Task, TaskHandle, TaskServices};
pub use state::ExecutionState;
