//! What a session or a WITH clause says about a job.

use millstream_graph::DEFAULT_SLOT_SHARING_GROUP;
use millstream_types::limits;

/// Settings of a job's graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannerSettings {
    /// Subtasks of operators that can be split.
    pub parallelism: u32,
    /// Key groups.
    pub max_parallelism: u32,
    /// Fuse operators.
    pub chaining: bool,
    /// Merge adjacent filters and projections; off shows and runs every step as an operator of its own.
    pub merge_calcs: bool,
    /// Whose slots the job shares.
    pub slot_sharing_group: String,
}

impl Default for PlannerSettings {
    fn default() -> Self {
        PlannerSettings {
            parallelism: 1,
            max_parallelism: limits::DEFAULT_MAX_PARALLELISM,
            chaining: true,
            merge_calcs: true,
            slot_sharing_group: DEFAULT_SLOT_SHARING_GROUP.into(),
        }
    }
}
