//! Relations as the batch engine reads them: partitions at an epoch, a transaction's own writes on top, sources to their end.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use millstream_cluster::{MiniCluster, ReadLease};
use millstream_functions::from_datafusion;
use millstream_planner::{PlannerRelation, RelationKind};
use millstream_state::{RelationSpec, RelationStore, ScanRequest};
use millstream_types::{Barrier, ChangeBatch, Error, RelationId, Result};

use super::relation_scan::RelationTable;
use super::source_scan::SourceTable;
use crate::database::Database;
use crate::session::Session;

/// The relations of one read.
pub(super) struct Scans {
    db: Arc<Database>,
    lease: Option<Arc<ReadLease>>,
    writes: std::collections::BTreeMap<RelationId, Vec<ChangeBatch>>,
}

impl Scans {
    pub(super) fn new(session: &Session, lease: Option<Arc<ReadLease>>) -> Self {
        let writes = session.transaction.as_ref().map(|t| t.writes.clone()).unwrap_or_default();
        Scans { db: Arc::clone(&session.db), lease, writes }
    }

    /// The rows of a relation.
    pub(super) fn provider(&self, relation: &Arc<PlannerRelation>, with_hidden: bool) -> Result<Arc<dyn TableProvider>> {
        match &relation.kind {
            RelationKind::System(provider) => Ok(Arc::clone(provider)),
            RelationKind::Source { .. } => Ok(Arc::new(SourceTable::new(&self.db, relation)?)),
            RelationKind::View { .. } => Err(Error::internal("a view was not expanded")),
            RelationKind::Table | RelationKind::MaterializedView => {
                let lease = self.lease.clone().ok_or_else(|| Error::internal("a relation is read without an epoch"))?;
                let schema = if with_hidden { relation.stored_schema() } else { relation.visible_schema() };
                if let Some(writes) = self.writes.get(&relation.id) {
                    return own_writes(self.db.cluster(), relation, &lease, writes, schema.len());
                }
                Ok(Arc::new(RelationTable::new(self.db.cluster(), relation, lease, &schema)))
            }
        }
    }
}

/// A table's rows at the transaction's epoch with its own writes: netted by the same code as every table.
fn own_writes(
    cluster: &Arc<MiniCluster>,
    relation: &PlannerRelation,
    lease: &ReadLease,
    writes: &[ChangeBatch],
    columns: usize,
) -> Result<Arc<dyn TableProvider>> {
    let store = overlay(cluster, relation, lease, writes)?;
    let request = ScanRequest { epoch: 1, projection: (0..columns).collect(), limit: None };
    let batches = store.scan(relation.id, 0, &request)?.collect::<Result<Vec<_>>>()?;
    let schema = relation.stored_schema().project(&request.projection).to_arrow();
    Ok(Arc::new(MemTable::try_new(schema, vec![batches]).map_err(from_datafusion)?))
}

/// A store of one version: a relation at an epoch with changes on top.
pub(super) fn overlay(
    cluster: &Arc<MiniCluster>,
    relation: &PlannerRelation,
    lease: &ReadLease,
    writes: &[ChangeBatch],
) -> Result<Arc<RelationStore>> {
    let schema = relation.stored_schema();
    let store = RelationStore::new();
    let spec = RelationSpec {
        relation: relation.id,
        name: relation.name.clone(),
        schema: schema.clone(),
        key: relation.key.clone(),
        subtask: 0,
        parallelism: 1,
        max_parallelism: 1,
    };
    let mut writer = store.register(spec)?;
    let request = ScanRequest { epoch: lease.epoch(), projection: (0..schema.len()).collect(), limit: None };
    for subtask in 0..cluster.serving().parallelism(relation.id).unwrap_or(0) {
        for batch in cluster.serving().scan(relation.id, subtask, &request)? {
            writer.apply(&ChangeBatch::inserts(batch?))?;
        }
    }
    writes.iter().try_for_each(|w| writer.apply(w))?;
    writer.publish(Barrier { epoch: 1, since: 0, checkpoint: None })?;
    Ok(store)
}
