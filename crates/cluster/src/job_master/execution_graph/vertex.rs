//! A vertex of the JobGraph with its subtasks, and a subtask with its attempts.

use millstream_graph::JobVertex;
use millstream_types::{Error, ExecutionAttemptId, ExecutionVertexId, JobId, Result};
use serde::{Deserialize, Serialize};

use super::Execution;
use crate::gateway::SlotGrant;

/// A chain and its parallel subtasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionJobVertex {
    /// The chain.
    pub job_vertex: JobVertex,
    /// Subtask i at index i.
    pub subtasks: Vec<ExecutionVertex>,
}

/// One subtask.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionVertex {
    /// Which.
    pub id: ExecutionVertexId,
    /// Its newest attempt.
    pub current: Execution,
}

impl ExecutionJobVertex {
    pub(super) fn new(job: JobId, job_vertex: &JobVertex) -> Self {
        let ids = (0..job_vertex.parallelism).map(|subtask| ExecutionVertexId { job, vertex: job_vertex.id, subtask });
        let subtasks = ids.map(|id| ExecutionVertex { id, current: Execution::new(ExecutionAttemptId { vertex: id, attempt: 0 }) });
        ExecutionJobVertex { job_vertex: job_vertex.clone(), subtasks: subtasks.collect() }
    }

    /// A new attempt for every subtask, in the slot of the one before.
    pub(super) fn restart(&mut self) {
        for subtask in &mut self.subtasks {
            let before = &subtask.current;
            let attempt = ExecutionAttemptId { vertex: subtask.id, attempt: before.attempt.attempt + 1 };
            subtask.current = Execution { slot: before.slot, ..Execution::new(attempt) };
        }
    }

    pub(super) fn assign_slots(&mut self, grants: &[SlotGrant]) -> Result<()> {
        let grant = grants.iter().find(|g| g.group == self.job_vertex.slot_sharing_group);
        let slots = grant.map_or(&[][..], |g| g.slots.as_slice());
        for (i, subtask) in self.subtasks.iter_mut().enumerate() {
            let slot = slots.get(i).ok_or_else(|| {
                Error::internal(format!("group \"{}\" was granted {} slots", self.job_vertex.slot_sharing_group, slots.len()))
            })?;
            subtask.current.slot = Some(*slot);
        }
        Ok(())
    }
}
