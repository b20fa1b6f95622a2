//! The JobMaster: one job from its graph to its end.
//!
//! [`core`] decides, [`handler`] does what was decided, [`execution_graph`] is what they speak about.

mod core;
mod entry;
pub mod execution_graph;
mod gateway;
mod handler;
mod restart;
#[cfg(test)]
mod tests;

pub(crate) use entry::{JobEntry, JobState};
pub use execution_graph::{Execution, ExecutionGraph, ExecutionJobVertex, ExecutionVertex, execution_graph};
pub(crate) use gateway::JobMasterClient;
pub(crate) use handler::{JobMaster, JobMasterServices, RecoveredJob};
pub use restart::RestartStrategy;
