//! Names for everything that is counted: databases, relations, jobs, vertices, attempts, slots, epochs.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident($prefix:literal);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub struct $name(pub u64);
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )*};
}

id! {
    /// A catalog object: table, source, sink, view, materialized view or streaming job. Never used twice.
    ObjectId("o");
    /// A job. A table, a materialized view and a streaming job are one job each; its number is its object's number.
    JobId("job-");
    /// A node of a StreamGraph, stored with it and stable for the life of the job.
    OperatorId("op-");
    /// A vertex of a JobGraph: one operator chain. Its number is that of the chain's head operator.
    JobVertexId("v");
    /// A slot request that was granted. Stays with the slot while its group holds it.
    AllocationId("alloc-");
    /// A TaskManager.
    TaskManagerId("tm-");
    /// A SQL session.
    SessionId("session-");
    /// A reader's hold on an epoch's versions.
    HoldId("hold-");
}

/// The relation a Materialize operator serves: the number of its table or materialized view.
pub type RelationId = ObjectId;

/// A tick of the one clock that cuts all streams: see [`crate::Barrier`]. Epoch 0 is before the first tick.
pub type Epoch = u64;

/// Subtask `subtask` of a vertex: 0-based.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ExecutionVertexId {
    /// The job.
    pub job: JobId,
    /// The vertex.
    pub vertex: JobVertexId,
    /// The parallel instance, 0-based.
    pub subtask: u32,
}

/// One attempt to run an ExecutionVertex. An Execution never restarts: a new attempt has a new number, and messages of an old one are
/// refused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ExecutionAttemptId {
    /// Which subtask.
    pub vertex: ExecutionVertexId,
    /// 0 for the first attempt.
    pub attempt: u32,
}

/// A slot of a TaskManager: 0-based index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct SlotId {
    /// The TaskManager.
    pub task_manager: TaskManagerId,
    /// Index in it.
    pub index: u32,
}

impl fmt::Display for ExecutionVertexId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.job, self.vertex, self.subtask)
    }
}

impl fmt::Display for ExecutionAttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.vertex, self.attempt)
    }
}

impl fmt::Display for SlotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.task_manager, self.index)
    }
}
