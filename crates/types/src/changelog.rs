//! Which kinds of change flow over an edge; inferred by the planner, shown by EXPLAIN (CHANGELOG).

use std::fmt;

use serde::{Deserialize, Serialize};

/// The mode of an edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum ChangelogMode {
    /// Only `+I`.
    Append,
    /// All four kinds; every `-U` and `-D` carries the full old row.
    Retract,
    /// `+I`, `+U`, `-D` by the upsert key; old values are left out.
    Upsert,
}

impl fmt::Display for ChangelogMode {
    /// As Flink prints it: the kinds that may flow.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ChangelogMode::Append => "[I]",
            ChangelogMode::Retract => "[I,UB,UA,D]",
            ChangelogMode::Upsert => "[I,UA,D]",
        })
    }
}
