//! Relations as the batch engine reads them: partitions at an epoch, a transaction's own writes on top, sources to their end.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session as DfSession, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::{MemTable, TableType};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::stream;
use millstream_cluster::{MiniCluster, ReadLease};
use millstream_functions::{external, from_datafusion};
use millstream_graph::SourceSpec;
use millstream_planner::catalog::RelationSource;
use millstream_planner::{PlannerRelation, RelationKind};
use millstream_runtime::connector::{ConnectorProvider, SourceContext, TaskWaker};
use millstream_runtime::source::{SourcePoll, SourceReader};
use millstream_state::{RelationSpec, RelationStore, ScanRequest};
use millstream_types::{Barrier, ChangeBatch, Error, ObjectId, RelationId, Result, SqlState};
use parking_lot::Mutex;

use crate::database::Database;
use crate::session::Session;

/// The relations of one read.
pub(super) struct Scans {
    db: Arc<Database>,
    lease: Option<Arc<ReadLease>>,
    writes: std::collections::BTreeMap<RelationId, Vec<ChangeBatch>>,
    sources: Mutex<HashMap<ObjectId, Arc<MemTable>>>,
}

impl Scans {
    pub(super) fn new(session: &Session, lease: Option<Arc<ReadLease>>) -> Self {
        let writes = session.transaction.as_ref().map(|t| t.writes.clone()).unwrap_or_default();
        Scans { db: Arc::clone(&session.db), lease, writes, sources: Mutex::default() }
    }

    /// The rows of a relation.
    pub(super) fn provider(&self, relation: &Arc<PlannerRelation>, with_hidden: bool) -> Result<Arc<dyn TableProvider>> {
        match &relation.kind {
            RelationKind::System(provider) => Ok(Arc::clone(provider)),
            RelationKind::Source { .. } => {
                let read = self.sources.lock().get(&relation.id).cloned();
                read.map(|t| t as Arc<dyn TableProvider>).ok_or_else(|| Error::internal("a source was not read"))
            }
            RelationKind::View { .. } => Err(Error::internal("a view was not expanded")),
            RelationKind::Table | RelationKind::MaterializedView => {
                let lease = self.lease.clone().ok_or_else(|| Error::internal("a relation is read without an epoch"))?;
                let schema = if with_hidden { relation.stored_schema() } else { relation.visible_schema() };
                if let Some(writes) = self.writes.get(&relation.id) {
                    return own_writes(self.db.cluster(), relation, &lease, writes, schema.len());
                }
                Ok(Arc::new(RelationTable {
                    cluster: Arc::clone(self.db.cluster()),
                    relation: relation.id,
                    lease,
                    schema: schema.to_arrow(),
                }))
            }
        }
    }

    /// Reads every external source of a plan to its end.
    pub(super) async fn read_sources(&self, plan: &LogicalPlan) -> Result<()> {
        let mut found: Vec<Arc<PlannerRelation>> = vec![];
        let visited = plan.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node
                && let Some(source) = (scan.source.as_ref() as &dyn std::any::Any).downcast_ref::<RelationSource>()
                && matches!(source.relation.kind, RelationKind::Source { .. })
            {
                found.push(Arc::clone(&source.relation));
            }
            Ok(TreeNodeRecursion::Continue)
        });
        visited.map_err(from_datafusion)?;
        for relation in found {
            let batches = read_source(&self.db, &relation).await?;
            let table = MemTable::try_new(relation.visible_schema().to_arrow(), vec![batches]).map_err(from_datafusion)?;
            self.sources.lock().insert(relation.id, Arc::new(table));
        }
        Ok(())
    }
}

/// A bounded source's rows; an unbounded one never ends.
async fn read_source(db: &Arc<Database>, relation: &PlannerRelation) -> Result<Vec<RecordBatch>> {
    let RelationKind::Source { connector, options } = &relation.kind else { return Ok(vec![]) };
    let schema = relation.visible_schema();
    if !db.connectors().validate_source(connector, options, &schema)?.bounded {
        return Err(Error::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("source \"{}\" has no end, so it cannot be read by SELECT", relation.name),
        )
        .with_hint(format!("create a materialized view over it: CREATE MATERIALIZED VIEW v AS SELECT ... FROM {}", relation.name)));
    }
    let spec = SourceSpec {
        name: relation.name.clone(),
        connector: connector.clone(),
        options: options.clone(),
        projection: (0..schema.len()).collect(),
        schema,
    };
    let context =
        SourceContext { subtask: 0, parallelism: 1, waker: TaskWaker::new(), clock: Arc::clone(db.clock()), job_name: "select".into() };
    let mut reader = db.connectors().source(&spec, &context)?;
    let mut batches = vec![];
    loop {
        // Decoding is work for a thread that may block; the next step checks for cancellation.
        let (back, step) = tokio::task::spawn_blocking(move || {
            let step = poll_some(reader.as_mut());
            (reader, step)
        })
        .await
        .map_err(Error::internal)?;
        reader = back;
        match step? {
            (more, Next::Go) => batches.extend(more),
            (more, Next::Wait(time)) => {
                batches.extend(more);
                tokio::time::sleep(time).await;
            }
            (more, Next::End) => {
                batches.extend(more);
                return Ok(batches);
            }
        }
    }
}

enum Next {
    Go,
    Wait(Duration),
    End,
}

fn poll_some(reader: &mut dyn SourceReader) -> Result<(Vec<RecordBatch>, Next)> {
    let mut batches = vec![];
    for _ in 0..64 {
        match reader.poll(None, millstream_types::limits::BATCH_TARGET_ROWS)? {
            SourcePoll::Batch(batch) => batches.push(batch.rows().clone()),
            SourcePoll::Watermark(_) | SourcePoll::CutReached => (),
            SourcePoll::Pending { wake_after } => return Ok((batches, Next::Wait(wake_after.unwrap_or(Duration::from_millis(10))))),
            SourcePoll::Finished => return Ok((batches, Next::End)),
        }
    }
    Ok((batches, Next::Go))
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
    writer.publish(Barrier { epoch: 1, since: 0, checkpoint: false })?;
    Ok(store)
}

/// A relation at an epoch.
struct RelationTable {
    cluster: Arc<MiniCluster>,
    relation: RelationId,
    lease: Arc<ReadLease>,
    schema: SchemaRef,
}

impl fmt::Debug for RelationTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RelationTable({})", self.relation)
    }
}

#[async_trait]
impl TableProvider for RelationTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _state: &dyn DfSession,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
        let projection = projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let schema: SchemaRef = Arc::new(self.schema.project(&projection)?);
        let partition = RelationScan {
            cluster: Arc::clone(&self.cluster),
            relation: self.relation,
            lease: Arc::clone(&self.lease),
            schema: Arc::clone(&schema),
            request: ScanRequest { epoch: self.lease.epoch(), projection, limit },
        };
        let exec = StreamingTableExec::try_new(schema, vec![Arc::new(partition)], None, None, false, limit)?;
        Ok(Arc::new(exec))
    }
}

/// All partitions of a relation, one behind the other.
struct RelationScan {
    cluster: Arc<MiniCluster>,
    relation: RelationId,
    lease: Arc<ReadLease>,
    schema: SchemaRef,
    request: ScanRequest,
}

impl fmt::Debug for RelationScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RelationScan({} at {})", self.relation, self.request.epoch)
    }
}

impl PartitionStream for RelationScan {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _ctx: Arc<TaskContext>) -> SendableRecordBatchStream {
        let serving = self.cluster.serving();
        let scans: Result<Vec<_>> =
            (0..serving.parallelism(self.relation).unwrap_or(0)).map(|s| serving.scan(self.relation, s, &self.request)).collect();
        let lease = Arc::clone(&self.lease);
        let batches: Box<dyn Iterator<Item = Result<RecordBatch>> + Send> = match scans {
            Ok(scans) => Box::new(scans.into_iter().flatten()),
            Err(e) => Box::new(std::iter::once(Err(e))),
        };
        let schema = Arc::clone(&self.schema);
        let rows = batches.map(move |b| {
            let _held = &lease;
            let b = b.map_err(external)?;
            let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(b.num_rows()));
            Ok(RecordBatch::try_new_with_options(Arc::clone(&schema), b.columns().to_vec(), &options)?)
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream::iter(rows)))
    }
}
