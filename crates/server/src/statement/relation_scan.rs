//! A table or view at an epoch as the batch engine reads it: all partitions, or the rows of one key.

use std::fmt;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session as DfSession, TableProvider};
use datafusion::common::{Result as DfResult, ScalarValue};
use datafusion::datasource::TableType;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::stream;
use millstream_cluster::{MiniCluster, ReadLease};
use millstream_functions::external;
use millstream_planner::PlannerRelation;
use millstream_state::ScanRequest;
use millstream_types::{RelationId, Result, Schema};

/// A relation at an epoch.
pub(super) struct RelationTable {
    cluster: Arc<MiniCluster>,
    relation: RelationId,
    /// Columns that identify a row.
    key: Vec<usize>,
    lease: Arc<ReadLease>,
    schema: SchemaRef,
}

impl RelationTable {
    /// The columns of `schema`, the first ones of the stored relation.
    pub(super) fn new(cluster: &Arc<MiniCluster>, relation: &PlannerRelation, lease: Arc<ReadLease>, schema: &Schema) -> Self {
        let key = relation.key.clone().unwrap_or_default();
        RelationTable { cluster: Arc::clone(cluster), relation: relation.id, key, lease, schema: schema.to_arrow() }
    }

    /// `column = literal` with a key column: its place in the key and the literal.
    fn key_equality(&self, filter: &Expr) -> Option<(usize, ScalarValue)> {
        let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = filter else { return None };
        let (Expr::Column(column), Expr::Literal(value, _)) = (match (left.as_ref(), right.as_ref()) {
            (l @ Expr::Column(_), r @ Expr::Literal(..)) => (l, r),
            (l @ Expr::Literal(..), r @ Expr::Column(_)) => (r, l),
            _ => return None,
        }) else {
            return None;
        };
        let index = self.schema.index_of(&column.name).ok()?;
        let place = self.key.iter().position(|&k| k == index)?;
        (value.data_type() == *self.schema.field(index).data_type() && !value.is_null()).then(|| (place, value.clone()))
    }

    /// The key that the filters ask for, as one row, if they name all of it.
    fn wanted_key(&self, filters: &[Expr]) -> DfResult<Option<RecordBatch>> {
        let mut values = vec![None; self.key.len()];
        for (place, value) in filters.iter().filter_map(|f| self.key_equality(f)) {
            values[place] = Some(value);
        }
        let Some(values) = values.into_iter().collect::<Option<Vec<_>>>().filter(|v| !v.is_empty()) else { return Ok(None) };
        let arrays = values.iter().map(ScalarValue::to_array).collect::<DfResult<Vec<_>>>()?;
        Ok(Some(RecordBatch::try_new(Arc::new(self.schema.project(&self.key)?), arrays)?))
    }
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

    /// Filters stay in the plan as well, so that a key may find more than the filter lets through.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        let kind = |f: &&Expr| match self.key_equality(f) {
            Some(_) => TableProviderFilterPushDown::Inexact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(kind).collect())
    }

    async fn scan(
        &self,
        _state: &dyn DfSession,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let projection = projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let schema: SchemaRef = Arc::new(self.schema.project(&projection)?);
        let partition = RelationScan {
            cluster: Arc::clone(&self.cluster),
            relation: self.relation,
            lease: Arc::clone(&self.lease),
            schema: Arc::clone(&schema),
            key: self.wanted_key(filters)?,
            request: ScanRequest { epoch: self.lease.epoch(), projection, limit },
        };
        let exec = StreamingTableExec::try_new(schema, vec![Arc::new(partition)], None, None, false, limit)?;
        Ok(Arc::new(exec))
    }
}

/// All partitions of a relation one behind the other, or the rows of a key.
struct RelationScan {
    cluster: Arc<MiniCluster>,
    relation: RelationId,
    lease: Arc<ReadLease>,
    schema: SchemaRef,
    key: Option<RecordBatch>,
    request: ScanRequest,
}

impl fmt::Debug for RelationScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RelationScan({} at {})", self.relation, self.request.epoch)
    }
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

impl RelationScan {
    fn batches(&self) -> Result<Batches> {
        let serving = self.cluster.serving();
        if let Some(key) = &self.key {
            let rows = serving.get(self.relation, key, self.request.epoch)?.project(&self.request.projection)?;
            return Ok(Box::new(std::iter::once(Ok(rows))));
        }
        let partitions = 0..serving.parallelism(self.relation).unwrap_or(0);
        let scans = partitions.map(|s| serving.scan(self.relation, s, &self.request)).collect::<Result<Vec<_>>>()?;
        Ok(Box::new(scans.into_iter().flatten()))
    }
}

impl PartitionStream for RelationScan {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _ctx: Arc<TaskContext>) -> SendableRecordBatchStream {
        let lease = Arc::clone(&self.lease);
        let batches = self.batches().unwrap_or_else(|e| Box::new(std::iter::once(Err(e))));
        let schema = Arc::clone(&self.schema);
        let rows = batches.map(move |b| {
            let _held = &lease;
            let b = b.map_err(external)?;
            let options = RecordBatchOptions::new().with_row_count(Some(b.num_rows()));
            Ok(RecordBatch::try_new_with_options(Arc::clone(&schema), b.columns().to_vec(), &options)?)
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream::iter(rows)))
    }
}
