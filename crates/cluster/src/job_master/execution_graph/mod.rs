//! The ExecutionGraph: every vertex of the JobGraph as its parallel subtasks, every subtask with its current attempt.
//!
//! ExecutionJobVertex (one per JobVertex) -> ExecutionVertex (one per subtask) -> Execution (one per attempt).

mod deployment;
mod execution;
mod show;
#[cfg(test)]
pub(super) mod tests;
mod vertex;

use std::collections::BTreeMap;

use millstream_graph::{JobGraph, JobVertex};
use millstream_types::{ExecutionAttemptId, ExecutionVertexId, JobId, Result};
use serde::{Deserialize, Serialize};

pub use deployment::StartFrom;
pub use execution::Execution;
pub use vertex::{ExecutionJobVertex, ExecutionVertex};

use crate::gateway::{SlotGrant, SlotRequirement};

/// A job's subtasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionGraph {
    /// The job.
    pub job: JobId,
    /// Its name.
    pub name: String,
    /// Vertices in topological order.
    pub vertices: Vec<ExecutionJobVertex>,
}

/// The ExecutionGraph that a JobGraph would become, without slots: what EXPLAIN (EXECUTION GRAPH) shows.
pub fn execution_graph(job_graph: &JobGraph) -> ExecutionGraph {
    ExecutionGraph::new(job_graph)
}

impl ExecutionGraph {
    /// Expands every vertex to its subtasks, each with a first attempt in CREATED.
    pub fn new(job_graph: &JobGraph) -> Self {
        let vertices = job_graph.vertices.iter().map(|v| ExecutionJobVertex::new(job_graph.job, v)).collect();
        ExecutionGraph { job: job_graph.job, name: job_graph.name.clone(), vertices }
    }

    /// Slots needed: per group the largest parallelism of its vertices.
    pub fn slot_requirements(&self) -> Vec<SlotRequirement> {
        let mut groups: BTreeMap<&str, u32> = BTreeMap::new();
        for vertex in self.job_vertices() {
            let slots = groups.entry(&vertex.slot_sharing_group).or_default();
            *slots = (*slots).max(vertex.parallelism);
        }
        groups.into_iter().map(|(group, slots)| SlotRequirement { group: group.into(), slots }).collect()
    }

    /// Gives every subtask the slot of its group and number.
    ///
    /// # Errors
    /// XX000 if a group's grant is too small.
    pub fn assign_slots(&mut self, grants: &[SlotGrant]) -> Result<()> {
        self.vertices.iter_mut().try_for_each(|v| v.assign_slots(grants))
    }

    /// New attempts for all subtasks.
    pub(crate) fn restart(&mut self) {
        self.vertices.iter_mut().for_each(ExecutionJobVertex::restart);
    }

    /// The chains.
    pub fn job_vertices(&self) -> impl Iterator<Item = &JobVertex> {
        self.vertices.iter().map(|v| &v.job_vertex)
    }

    /// All current attempts.
    pub fn executions(&self) -> impl Iterator<Item = &Execution> {
        self.vertices.iter().flat_map(|v| &v.subtasks).map(|s| &s.current)
    }

    /// The current attempt of a subtask.
    pub fn execution_mut(&mut self, attempt: ExecutionAttemptId) -> Option<&mut Execution> {
        let found = self.vertex_mut(attempt.vertex).map(|v| &mut v.current);
        found.filter(|e| e.attempt == attempt)
    }

    fn vertex_mut(&mut self, id: ExecutionVertexId) -> Option<&mut ExecutionVertex> {
        let vertex = self.vertices.iter_mut().find(|v| v.job_vertex.id == id.vertex)?;
        vertex.subtasks.get_mut(id.subtask as usize).filter(|_| id.job == self.job)
    }

    /// Name and number of a subtask as messages show it: `"Source(bid) -> Calc" (1/2)`.
    pub fn describe(&self, id: ExecutionVertexId) -> String {
        let vertex = self.job_vertices().find(|v| v.id == id.vertex);
        let (name, of) = vertex.map_or(("", 0), |v| (v.name.as_str(), v.parallelism));
        format!("task \"{name}\" ({}/{of})", id.subtask + 1)
    }

    /// Attempts of vertices without inputs.
    pub fn sources(&self) -> impl Iterator<Item = &Execution> {
        self.of_vertices(|v| v.inputs.is_empty())
    }

    /// Attempts of vertices without consumers: their acknowledgements complete a tick.
    pub fn leaves(&self) -> impl Iterator<Item = &Execution> {
        self.of_vertices(|v| v.outputs.is_empty())
    }

    fn of_vertices(&self, which: impl Fn(&JobVertex) -> bool) -> impl Iterator<Item = &Execution> {
        self.vertices.iter().filter(move |v| which(&v.job_vertex)).flat_map(|v| &v.subtasks).map(|s| &s.current)
    }
}
