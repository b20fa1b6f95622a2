//! How a stream's rows find the subtasks of the next operator.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Flink's partitioners.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Partitioner {
    /// Subtask i to subtask i; needs equal parallelism. The only one that chains.
    Forward,
    /// Round robin over all subtasks, batch by batch. Never on an edge that retracts.
    Rebalance,
    /// Round robin over a fixed share of the subtasks. Never on an edge that retracts.
    Rescale,
    /// By the key group of these columns.
    Hash {
        /// Key columns.
        columns: Vec<usize>,
    },
    /// Every row to every subtask.
    Broadcast,
    /// Every row to subtask 0.
    Global,
}

impl fmt::Display for Partitioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Partitioner::Forward => f.write_str("FORWARD"),
            Partitioner::Rebalance => f.write_str("REBALANCE"),
            Partitioner::Rescale => f.write_str("RESCALE"),
            Partitioner::Hash { columns } => {
                let keys: Vec<_> = columns.iter().map(|c| format!("${c}")).collect();
                write!(f, "HASH({})", keys.join(", "))
            }
            Partitioner::Broadcast => f.write_str("BROADCAST"),
            Partitioner::Global => f.write_str("GLOBAL"),
        }
    }
}
