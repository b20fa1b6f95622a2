//! A transaction: the epoch it reads at and the changes it has made and not yet committed.

use std::collections::BTreeMap;
use std::sync::Arc;

use millstream_cluster::ReadLease;
use millstream_types::{ChangeBatch, RelationId};

/// How a transaction began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// `BEGIN`.
    Explicit,
    /// Several statements in one message.
    Implicit,
}

/// A running transaction.
#[derive(Debug)]
pub struct Transaction {
    /// How it began.
    pub block: Block,
    /// It can only be rolled back.
    pub failed: bool,
    /// What it reads, from its first read on.
    pub lease: Option<Arc<ReadLease>>,
    /// Its changes by table, in order: full rows of the stored columns.
    pub writes: BTreeMap<RelationId, Vec<ChangeBatch>>,
}

impl Transaction {
    /// A transaction that has done nothing.
    pub fn new(block: Block) -> Self {
        Transaction { block, failed: false, lease: None, writes: BTreeMap::new() }
    }
}
