//! All relations of one TaskManager.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use millstream_types::{Epoch, Error, KeyGroupRange, RelationId, Result, SqlState};
use parking_lot::RwLock;

use super::codec::RelationCodec;
use super::partition::Partition;
use super::subscription::Subscribe;
use super::{RelationSpec, RelationWriter, ScanRequest, ScanStream, Subscription};

/// Relations by id, partitions by subtask. Shared by all tasks and readers of a TaskManager.
#[derive(Debug, Default)]
pub struct RelationStore {
    relations: RwLock<HashMap<RelationId, Vec<Arc<Partition>>>>,
}

impl RelationStore {
    /// An empty store.
    pub fn new() -> Arc<Self> {
        Arc::new(RelationStore::default())
    }

    /// Registers a partition. A second attempt for the same subtask continues with its rows and fences the first one's writer.
    ///
    /// # Errors
    /// XX000 if the columns cannot be encoded.
    pub fn register(&self, spec: RelationSpec) -> Result<RelationWriter> {
        let mut relations = self.relations.write();
        let partitions = relations.entry(spec.relation).or_default();
        let known = partitions.iter().find(|p| p.spec == spec).map(Arc::clone);
        let partition = known.unwrap_or_else(|| {
            partitions.retain(|p| p.spec.subtask != spec.subtask);
            let new = Arc::new(Partition::new(spec));
            partitions.push(Arc::clone(&new));
            partitions.sort_by_key(|p| p.spec.subtask);
            new
        });
        drop(relations);
        RelationWriter::new(partition)
    }

    /// Forgets a relation. Its subscribers get 55000.
    pub fn drop_relation(&self, relation: RelationId) {
        let partitions = self.relations.write().remove(&relation).unwrap_or_default();
        partitions.iter().for_each(|p| p.mark_dropped());
    }

    /// Marks a partition as complete: it is readable at every later epoch and its subscribers finish.
    pub fn finish(&self, relation: RelationId, subtask: u32) {
        if let Ok(partition) = self.partition(relation, subtask) {
            partition.finish();
        }
    }

    fn partitions(&self, relation: RelationId) -> Result<Vec<Arc<Partition>>> {
        self.relations.read().get(&relation).cloned().ok_or_else(|| not_served(relation))
    }

    fn partition(&self, relation: RelationId, subtask: u32) -> Result<Arc<Partition>> {
        let partitions = self.partitions(relation)?;
        partitions.into_iter().find(|p| p.spec.subtask == subtask).ok_or_else(|| not_served(relation))
    }

    /// The rows of one partition at an epoch, in key order. The snapshot is held until the stream is dropped.
    ///
    /// # Errors
    /// 42P01 for a relation that is not served here, 72000 for an epoch that was released.
    pub fn scan(&self, relation: RelationId, subtask: u32, request: &ScanRequest) -> Result<ScanStream> {
        let partition = self.partition(relation, subtask)?;
        let map = partition.version_at(request.epoch)?;
        ScanStream::new(&partition.spec, map, request)
    }

    /// The rows with the given keys (one row of key columns each) that exist at an epoch, in no particular order.
    ///
    /// # Errors
    /// As [`RelationStore::scan`].
    pub fn get(&self, relation: RelationId, keys: &RecordBatch, epoch: Epoch) -> Result<RecordBatch> {
        let partitions = self.partitions(relation)?;
        let first = partitions.first().ok_or_else(|| not_served(relation))?;
        let codec = RelationCodec::new(&first.spec.schema, first.spec.key.as_deref())?;
        let keys = codec.encode_lookup(keys)?;
        let all: Vec<usize> = (0..first.spec.schema.len()).collect();
        let mut batches = Vec::with_capacity(partitions.len());
        for partition in &partitions {
            let map = partition.version_at(epoch)?;
            let found: Vec<_> = keys.iter().filter_map(|k| map.get(k.as_ref())).map(|e| Arc::clone(&e.row)).collect();
            batches.push(codec.decode(found.iter().map(AsRef::as_ref), &all)?);
        }
        Ok(concat_batches(codec.schema(), &batches)?)
    }

    /// The rows with the largest keys in the newest versions, one per partition that has rows.
    ///
    /// # Errors
    /// 42P01 for a relation that is not served here.
    pub fn last_rows(&self, relation: RelationId) -> Result<RecordBatch> {
        let partitions = self.partitions(relation)?;
        let first = partitions.first().ok_or_else(|| not_served(relation))?;
        let codec = RelationCodec::new(&first.spec.schema, first.spec.key.as_deref())?;
        let maps: Vec<_> = partitions.iter().map(|p| p.newest().1).collect();
        let last: Vec<_> = maps.iter().filter_map(|map| map.get_max()).map(|(_, e)| Arc::clone(&e.row)).collect();
        let all: Vec<usize> = (0..first.spec.schema.len()).collect();
        codec.decode(last.iter().map(AsRef::as_ref), &all)
    }

    /// A subscription of the subtask that owns `range` of a consumer with `max_parallelism` key groups. If the relation has the same
    /// partitioning, it takes the one partition with that range; otherwise all partitions, filtered by the key group of the key.
    ///
    /// # Errors
    /// 42P01 for a relation that is not served here.
    pub fn subscribe(
        &self,
        relation: RelationId,
        range: KeyGroupRange,
        max_parallelism: u32,
        projection: Vec<usize>,
        waker: Arc<dyn Fn() + Send + Sync>,
    ) -> Result<Subscription> {
        let partitions = self.partitions(relation)?;
        Subscription::new(partitions, Subscribe { range, max_parallelism, projection, waker })
    }

    /// Subtasks of a relation.
    pub fn parallelism(&self, relation: RelationId) -> Option<u32> {
        let relations = self.relations.read();
        relations.get(&relation).and_then(|p| p.first()).map(|p| p.spec.parallelism)
    }

    /// Rows in the newest versions (distinct rows of a multiset).
    pub fn rows(&self, relation: RelationId) -> usize {
        self.sum(relation, |p| p.rows_and_bytes().0)
    }

    /// Bytes of the newest versions' keys and rows, without the map's own.
    pub fn bytes(&self, relation: RelationId) -> usize {
        self.sum(relation, |p| p.rows_and_bytes().1)
    }

    /// Versions kept, over all partitions.
    pub fn versions(&self, relation: RelationId) -> usize {
        self.sum(relation, |p| p.version_count())
    }

    fn sum(&self, relation: RelationId, of: impl Fn(&Partition) -> usize) -> usize {
        self.relations.read().get(&relation).map_or(0, |ps| ps.iter().map(|p| of(p)).sum())
    }
}

fn not_served(relation: RelationId) -> Error {
    Error::new(SqlState::UNDEFINED_TABLE, format!("relation {relation} is not served here"))
}
