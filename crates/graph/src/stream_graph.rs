//! The StreamGraph: operators and the streams between them, without parallel instances. Made by the planner, stored with the job.

use std::fmt;

use millstream_types::{ChangelogMode, Error, JobId, OperatorId, Result, Schema};
use serde::{Deserialize, Serialize};

use crate::{OperatorSpec, Partitioner};

/// Version of the serialized form; a newer one is refused by an older binary before anything else is decoded.
pub const STREAM_GRAPH_VERSION: u32 = 1;

/// The slot sharing group of everything that names none.
pub const DEFAULT_SLOT_SHARING_GROUP: &str = "default";

/// Whether an operator may be fused with its neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum ChainingStrategy {
    /// With both neighbours.
    #[default]
    Always,
    /// Starts a new chain: with its consumers, not with its input.
    Head,
    /// Stands alone.
    Never,
}

/// One operator.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamNode {
    /// Unique in the graph, stable for the life of the job.
    pub id: OperatorId,
    /// What it does.
    pub spec: OperatorSpec,
    /// Its output columns (of a sink or Materialize: the columns it takes).
    pub schema: Schema,
    /// The changes on its output.
    pub changelog: ChangelogMode,
    /// Output columns that identify a row, if any are known.
    pub upsert_key: Option<Vec<usize>>,
    /// Parallel subtasks, 1 or more.
    pub parallelism: u32,
    /// Key groups.
    pub max_parallelism: u32,
    /// Operators of different groups never share a slot, nor a chain.
    pub slot_sharing_group: String,
    /// Chaining with neighbours.
    pub chaining_strategy: ChainingStrategy,
}

/// A stream between two operators.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StreamEdge {
    /// From the output of this operator,
    pub source: OperatorId,
    /// into this one,
    pub target: OperatorId,
    /// into this input of it (0-based).
    pub input: u32,
    /// and this is how rows find their subtask.
    pub partitioner: Partitioner,
}

/// A job as the planner made it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamGraph {
    /// [`STREAM_GRAPH_VERSION`] of the writer.
    pub version: u32,
    /// The job.
    pub job: JobId,
    /// Its name as users see it.
    pub name: String,
    /// False if every operator is to be a task of its own.
    pub chaining: bool,
    /// Operators in topological order, inputs first.
    pub nodes: Vec<StreamNode>,
    /// Streams; their order is the order of a target's edges.
    pub edges: Vec<StreamEdge>,
}

impl StreamGraph {
    /// The operator of this id.
    pub fn node(&self, id: OperatorId) -> Option<&StreamNode> {
        self.nodes.iter().find(|n| n.id == id)
    }

    /// Streams into an operator, in order.
    pub fn inputs(&self, id: OperatorId) -> impl Iterator<Item = &StreamEdge> {
        self.edges.iter().filter(move |e| e.target == id)
    }

    /// Streams out of an operator, in order.
    pub fn outputs(&self, id: OperatorId) -> impl Iterator<Item = &StreamEdge> {
        self.edges.iter().filter(move |e| e.source == id)
    }

    /// Checks what every later stage relies on: unique ids, topological order, sources without and others with inputs, forward edges
    /// between equal parallelism, no retracting edge that is neither forward nor hash nor global.
    ///
    /// # Errors
    /// XX000 naming the broken rule: a bug of the planner.
    pub fn validate(&self) -> Result<()> {
        let bug = |what: String| Err(Error::internal(format!("stream graph of job \"{}\": {what}", self.name)));
        if self.version != STREAM_GRAPH_VERSION {
            return bug(format!("version {} where {STREAM_GRAPH_VERSION} is known", self.version));
        }
        for (i, node) in self.nodes.iter().enumerate() {
            if self.nodes[..i].iter().any(|n| n.id == node.id) {
                return bug(format!("operator id {} twice", node.id));
            }
            if node.parallelism == 0 || node.parallelism > node.max_parallelism {
                return bug(format!("{} has parallelism {} of at most {}", node.id, node.parallelism, node.max_parallelism));
            }
            if node.spec.is_source() != (self.inputs(node.id).count() == 0) {
                return bug(format!("{} has the wrong number of inputs", node.id));
            }
        }
        for edge in &self.edges {
            let position = |id| self.nodes.iter().position(|n| n.id == id);
            let (Some(from), Some(to)) = (position(edge.source), position(edge.target)) else {
                return bug(format!("edge {} -> {} leads nowhere", edge.source, edge.target));
            };
            if from >= to {
                return bug(format!("edge {} -> {} against the order", edge.source, edge.target));
            }
            let (from, to) = (&self.nodes[from], &self.nodes[to]);
            if edge.partitioner == Partitioner::Forward && from.parallelism != to.parallelism {
                return bug(format!(
                    "forward edge {} -> {} between parallelism {} and {}",
                    edge.source, edge.target, from.parallelism, to.parallelism
                ));
            }
            if from.changelog != ChangelogMode::Append && matches!(edge.partitioner, Partitioner::Rebalance | Partitioner::Rescale) {
                return bug(format!("retracting edge {} -> {} by {}", edge.source, edge.target, edge.partitioner));
            }
        }
        Ok(())
    }
}

impl fmt::Display for StreamGraph {
    /// One operator per line with its inputs, as EXPLAIN (STREAM GRAPH) prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, node) in self.nodes.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{}: {} parallelism={}", node.id, node.spec, node.parallelism)?;
            for edge in self.inputs(node.id) {
                write!(f, "\n  <- {} {}", edge.source, edge.partitioner)?;
            }
        }
        Ok(())
    }
}
