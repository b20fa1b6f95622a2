//! To the ResourceManager: TaskManagers offer slots, jobs lease them through their slot sharing groups.

use std::sync::Arc;

use async_trait::async_trait;
use millstream_types::{AllocationId, JobId, Result, SlotId, TaskManagerId};
use serde::{Deserialize, Serialize};

use super::{FencingToken, TaskExecutorGateway};

/// A TaskManager is there.
#[derive(Clone)]
pub struct RegisterTaskManager {
    /// The leader it registers with.
    pub token: FencingToken,
    /// Who.
    pub task_manager: TaskManagerId,
    /// How many slots it has.
    pub slots: u32,
    /// How to reach it.
    pub gateway: Arc<dyn TaskExecutorGateway>,
}

/// Slots that a job needs of one group: subtask i of every vertex of the group runs in slot i.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotRequirement {
    /// The slot sharing group.
    pub group: String,
    /// Largest parallelism of the job's vertices in it.
    pub slots: u32,
}

/// A job leases slots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestSlots {
    /// The leader that is meant.
    pub token: FencingToken,
    /// The job.
    pub job: JobId,
    /// One entry per group.
    pub requirements: Vec<SlotRequirement>,
}

/// A slot with the allocation under which its group holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocatedSlot {
    /// Where.
    pub slot: SlotId,
    /// A TaskExecutor takes tasks for a slot under its current allocation only.
    pub allocation: AllocationId,
}

/// The slots of one group, in subtask order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotGrant {
    /// The group.
    pub group: String,
    /// As many as were asked for.
    pub slots: Vec<AllocatedSlot>,
}

/// A job needs its slots no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseSlots {
    /// The leader that is meant.
    pub token: FencingToken,
    /// The job.
    pub job: JobId,
}

/// What a ResourceManager answers.
#[async_trait]
pub trait ResourceManagerGateway: Send + Sync {
    /// A TaskManager offers its slots; a second registration replaces the first.
    ///
    /// # Errors
    /// 55000 from a former leader's time.
    async fn register_task_manager(&self, message: RegisterTaskManager) -> Result<()>;

    /// Leases slots, all or none. A second request of a job replaces its first.
    ///
    /// # Errors
    /// 53000 if there are not enough.
    async fn request_slots(&self, message: RequestSlots) -> Result<Vec<SlotGrant>>;

    /// Ends a job's leases; slots that no job needs any more become free.
    ///
    /// # Errors
    /// 55000 from a former leader's time.
    async fn release_slots(&self, message: ReleaseSlots) -> Result<()>;
}
