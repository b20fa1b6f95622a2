//! To the relations: what readers scan.

use std::sync::Arc;

use arrow::array::RecordBatch;
use millstream_state::{RelationStore, ScanRequest, ScanStream};
use millstream_types::{Epoch, RelationId, Result};

/// Relations of all TaskManagers, for readers that hold an epoch.
pub trait ServingGateway: Send + Sync {
    /// The rows of one partition at the request's epoch, in key order.
    ///
    /// # Errors
    /// 42P01 for a relation that is not served, 72000 for an epoch that was released.
    fn scan(&self, relation: RelationId, subtask: u32, request: &ScanRequest) -> Result<ScanStream>;

    /// The rows with these keys (one row of key columns each) that exist at an epoch.
    ///
    /// # Errors
    /// As [`ServingGateway::scan`].
    fn get(&self, relation: RelationId, keys: &RecordBatch, epoch: Epoch) -> Result<RecordBatch>;

    /// Partitions of a relation; `None` if it is not served.
    fn parallelism(&self, relation: RelationId) -> Option<u32>;

    /// Rows in the newest version.
    fn rows(&self, relation: RelationId) -> usize;

    /// Bytes of the newest version.
    fn bytes(&self, relation: RelationId) -> usize;
}

/// Relations of this process.
#[derive(Debug)]
pub struct LocalServing {
    relations: Arc<RelationStore>,
}

impl LocalServing {
    pub(crate) fn new(relations: Arc<RelationStore>) -> Self {
        LocalServing { relations }
    }
}

impl ServingGateway for LocalServing {
    fn scan(&self, relation: RelationId, subtask: u32, request: &ScanRequest) -> Result<ScanStream> {
        self.relations.scan(relation, subtask, request)
    }

    fn get(&self, relation: RelationId, keys: &RecordBatch, epoch: Epoch) -> Result<RecordBatch> {
        self.relations.get(relation, keys, epoch)
    }

    fn parallelism(&self, relation: RelationId) -> Option<u32> {
        self.relations.parallelism(relation)
    }

    fn rows(&self, relation: RelationId) -> usize {
        self.relations.rows(relation)
    }

    fn bytes(&self, relation: RelationId) -> usize {
        self.relations.bytes(relation)
    }
}
