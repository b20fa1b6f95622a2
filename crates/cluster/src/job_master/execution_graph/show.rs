//! The ExecutionGraph for people: what EXPLAIN (EXECUTION GRAPH) prints.

use std::fmt;

use millstream_graph::JobEdge;
use millstream_graph::dot::Dot;

use super::deployment::{Wiring, wiring};
use super::{ExecutionGraph, ExecutionJobVertex};

impl fmt::Display for ExecutionGraph {
    /// One vertex per line, then its subtasks, each with the slot of its group that it shares and the subtasks it reads from.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, vertex) in self.vertices.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            let job_vertex = &vertex.job_vertex;
            write!(f, "{}: {}", job_vertex.id, job_vertex.name)?;
            for subtask in 0..job_vertex.parallelism {
                write!(f, "\n  {}/{} slot={}[{subtask}]", subtask + 1, job_vertex.parallelism, job_vertex.slot_sharing_group)?;
                for (producer, partitioner) in self.producers(vertex, subtask) {
                    write!(f, "\n    <- {producer} {partitioner}")?;
                }
            }
        }
        let slots: u32 = self.slot_requirements().iter().map(|r| r.slots).sum();
        write!(f, "\nslots: {slots}")
    }
}

impl ExecutionGraph {
    /// The graph in DOT: one box per subtask.
    pub fn to_dot(&self) -> String {
        let mut dot = Dot::new(&self.name);
        for vertex in &self.vertices {
            let v = &vertex.job_vertex;
            for subtask in 0..v.parallelism {
                let label = format!("{}\n{}/{} in {}[{subtask}]", v.name, subtask + 1, v.parallelism, v.slot_sharing_group);
                dot.node(&format!("{}/{}", v.id, subtask + 1), &label);
            }
        }
        for vertex in &self.vertices {
            for subtask in 0..vertex.job_vertex.parallelism {
                for (producer, partitioner) in self.subtask_edges(vertex, subtask) {
                    dot.edge(&producer, &format!("{}/{}", vertex.job_vertex.id, subtask + 1), &partitioner);
                }
            }
        }
        dot.finish()
    }

    /// What a subtask reads, one entry per edge: `v1/1..2` and the partitioner.
    fn producers(&self, vertex: &ExecutionJobVertex, subtask: u32) -> Vec<(String, String)> {
        let edges = vertex.job_vertex.inputs.iter();
        edges
            .map(|edge| {
                let channels = self.wiring_of(edge, vertex.job_vertex.parallelism).channels(subtask);
                let (first, last) = (channels.first().map_or(0, |c| c.0 + 1), channels.last().map_or(0, |c| c.0 + 1));
                let range = if first == last { format!("{first}") } else { format!("{first}..{last}") };
                (format!("{}/{range}", edge.source), edge.partitioner.to_string())
            })
            .collect()
    }

    fn subtask_edges(&self, vertex: &ExecutionJobVertex, subtask: u32) -> Vec<(String, String)> {
        let edges = vertex.job_vertex.inputs.iter();
        edges
            .flat_map(|edge| {
                let channels = self.wiring_of(edge, vertex.job_vertex.parallelism).channels(subtask);
                channels.into_iter().map(|(p, _)| (format!("{}/{}", edge.source, p + 1), edge.partitioner.to_string()))
            })
            .collect()
    }

    fn wiring_of(&self, edge: &JobEdge, consumers: u32) -> Wiring {
        let producers = self.job_vertices().find(|v| v.id == edge.source).map_or(1, |v| v.parallelism);
        wiring(&edge.partitioner, producers, consumers)
    }
}
