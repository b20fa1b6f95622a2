//! How components speak to each other: traits with serializable messages. The transport here is a call in the same process.
//!
//! What is *told* (`fn`) is handed over without waiting and in order; what is *asked* (`async fn`) has an answer. Every message carries
//! the leader's [`FencingToken`], or the execution attempt it is about, or both; the receiver refuses those of a former leader or of a
//! replaced attempt.

mod dispatcher;
mod job_master;
mod resource_manager;
mod serving;
mod task_executor;
mod token;

pub use dispatcher::{DispatcherGateway, JobCommand, JobEnded, SubmitJob};
pub use job_master::{CheckpointNews, ControlJob, JobControl, JobMasterGateway, JobMasterLocator, TaskReport, TickJob, UpdateTask};
pub use resource_manager::{
    AllocatedSlot, RegisterTaskManager, ReleaseSlots, RequestSlots, ResourceManagerGateway, SlotGrant, SlotRequirement,
};
pub use serving::{LocalServing, ServingGateway};
pub use task_executor::{
    AllocateSlot, CommitSink, ForgetJob, FreeSlot, PersistCheckpoint, PersistedOperator, PersistedTask, SubmitTask, TaskCommand,
    TaskExecutorGateway, TellTasks,
};
pub use token::FencingToken;
