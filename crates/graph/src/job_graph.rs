//! The JobGraph: chains of operators as vertices, joined by data sets. Made by the JobMaster from the StreamGraph.

use std::fmt;

use millstream_types::{JobId, JobVertexId, OperatorId};
use serde::{Deserialize, Serialize};

use crate::{Partitioner, StreamNode};

/// A data set of a job: what one operator sends over one exchange. Unique in the job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct DataSetId(pub u32);

/// Where a chained operator's output goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ChainOutput {
    /// By a call to the operator at this index of the same chain.
    Chained(usize),
    /// Into this data set.
    DataSet(DataSetId),
}

/// An operator in its chain.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ChainedOperator {
    /// The operator.
    pub node: StreamNode,
    /// Its outputs; a chain may branch, so this is a tree.
    pub outputs: Vec<ChainOutput>,
}

/// What a vertex produces for one consumer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IntermediateDataSet {
    /// Its id.
    pub id: DataSetId,
    /// The operator of the chain that produces it.
    pub producer: OperatorId,
    /// How rows find the consumer's subtask.
    pub partitioner: Partitioner,
    /// The vertex that reads it.
    pub consumer: JobVertexId,
}

/// An exchange into a vertex.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobEdge {
    /// The data set that is read.
    pub data_set: DataSetId,
    /// The vertex that produces it.
    pub source: JobVertexId,
    /// Input of the head operator (0-based) that it feeds.
    pub input: u32,
    /// How rows find their subtask.
    pub partitioner: Partitioner,
}

/// One chain: a vertex whose subtasks are tasks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobVertex {
    /// Its id: that of its head operator.
    pub id: JobVertexId,
    /// `Source(bid) -> Calc -> Sink(out)`; branches in brackets.
    pub name: String,
    /// The chain; operator 0 is the head, every other is the target of exactly one [`ChainOutput::Chained`] of an earlier one.
    pub operators: Vec<ChainedOperator>,
    /// Exchanges into the head.
    pub inputs: Vec<JobEdge>,
    /// Data sets it produces.
    pub outputs: Vec<IntermediateDataSet>,
    /// Subtasks.
    pub parallelism: u32,
    /// Key groups.
    pub max_parallelism: u32,
    /// Slot sharing group.
    pub slot_sharing_group: String,
}

/// A job as the JobMaster runs it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobGraph {
    /// The job.
    pub job: JobId,
    /// Its name.
    pub name: String,
    /// Vertices in topological order.
    pub vertices: Vec<JobVertex>,
}

impl JobGraph {
    /// The vertex of this id.
    pub fn vertex(&self, id: JobVertexId) -> Option<&JobVertex> {
        self.vertices.iter().find(|v| v.id == id)
    }
}

impl fmt::Display for JobGraph {
    /// One vertex per line with its inputs, as EXPLAIN (JOB GRAPH) prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, vertex) in self.vertices.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{}: {} parallelism={} group={}", vertex.id, vertex.name, vertex.parallelism, vertex.slot_sharing_group)?;
            for edge in &vertex.inputs {
                write!(f, "\n  <- {} {}", edge.source, edge.partitioner)?;
            }
        }
        Ok(())
    }
}
