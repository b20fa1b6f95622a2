//! What a Materialize subtask says of itself when it registers.

use millstream_types::{RelationId, Schema};

/// One partition of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationSpec {
    /// The relation.
    pub relation: RelationId,
    /// Its name, for messages.
    pub name: String,
    /// Its columns.
    pub schema: Schema,
    /// Key columns; `None` for a multiset.
    pub key: Option<Vec<usize>>,
    /// Which subtask.
    pub subtask: u32,
    /// Of how many.
    pub parallelism: u32,
    /// Key groups.
    pub max_parallelism: u32,
}
