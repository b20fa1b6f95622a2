//! A bounded external source as a table: read to its end by each SELECT.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session as DfSession, TableProvider};
use datafusion::datasource::TableType;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::stream;
use millstream_functions::external;
use millstream_graph::SourceSpec;
use millstream_planner::{PlannerRelation, RelationKind};
use millstream_runtime::connector::{ConnectorProvider, SourceContext, TaskWaker};
use millstream_runtime::source::{SourcePoll, SourceReader};
use millstream_types::{Error, Result, SqlState, limits};

use crate::database::Database;

/// Batches that are decoded before the query gets the first of them.
const READ_AHEAD: usize = 8;
/// Time after which a source that has nothing yet and says nothing is asked again.
const PATIENCE: Duration = Duration::from_millis(10);

/// A bounded source.
pub(super) struct SourceTable {
    db: Arc<Database>,
    spec: SourceSpec,
    schema: SchemaRef,
}

impl fmt::Debug for SourceTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceTable({})", self.spec.name)
    }
}

impl SourceTable {
    /// # Errors
    /// 0A000 for a source without end, and what the connector says of its options.
    pub(super) fn new(db: &Arc<Database>, relation: &PlannerRelation) -> Result<Self> {
        let RelationKind::Source { connector, options } = &relation.kind else {
            return Err(Error::internal("a relation that is no source"));
        };
        let schema = relation.visible_schema();
        if !db.connectors().validate_source(connector, options, &schema)?.bounded {
            let message = format!("source \"{}\" has no end, so it cannot be read by SELECT", relation.name);
            return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message).with_hint(format!(
                "create a materialized view over it: CREATE MATERIALIZED VIEW v AS SELECT ... FROM {}",
                relation.name
            )));
        }
        let arrow = schema.to_arrow();
        let (name, connector, options) = (relation.name.clone(), connector.clone(), options.clone());
        let spec = SourceSpec { name, connector, options, projection: (0..schema.len()).collect(), schema };
        Ok(SourceTable { db: Arc::clone(db), spec, schema: arrow })
    }
}

#[async_trait]
impl TableProvider for SourceTable {
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
        let mut spec = self.spec.clone();
        if let Some(projection) = projection {
            spec.projection.clone_from(projection);
        }
        let schema: SchemaRef = Arc::new(self.schema.project(&spec.projection)?);
        let scan = SourceScan { db: Arc::clone(&self.db), spec, schema: Arc::clone(&schema) };
        Ok(Arc::new(StreamingTableExec::try_new(schema, vec![Arc::new(scan)], None, None, false, limit)?))
    }
}

/// One reading of a source.
struct SourceScan {
    db: Arc<Database>,
    spec: SourceSpec,
    schema: SchemaRef,
}

impl fmt::Debug for SourceScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceScan({})", self.spec.name)
    }
}

impl PartitionStream for SourceScan {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _ctx: Arc<TaskContext>) -> SendableRecordBatchStream {
        let context = SourceContext {
            subtask: 0,
            parallelism: 1,
            waker: TaskWaker::new(),
            clock: Arc::clone(self.db.clock()),
            job_name: "select".into(),
        };
        let reading = self.db.connectors().source(&self.spec, &context).map(|reader| Reading::More(reader, VecDeque::new()));
        let schema = Arc::clone(&self.schema);
        let rows = stream::try_unfold(Some(reading), move |reading| {
            let schema = Arc::clone(&schema);
            async move {
                let Some(reading) = reading else { return Ok(None) };
                let next = match reading {
                    Ok(reading) => next(reading).await,
                    Err(e) => Err(e),
                };
                let Some((batch, rest)) = next.map_err(external)? else { return Ok(None) };
                let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
                let batch = RecordBatch::try_new_with_options(schema, batch.columns().to_vec(), &options)?;
                Ok(Some((batch, Some(Ok(rest)))))
            }
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows))
    }
}

/// How far a reading is, with the batches that were decoded and not handed out.
enum Reading {
    More(Box<dyn SourceReader>, VecDeque<RecordBatch>),
    Ended(VecDeque<RecordBatch>),
}

async fn next(mut reading: Reading) -> Result<Option<(RecordBatch, Reading)>> {
    loop {
        reading = match reading {
            Reading::Ended(mut left) => return Ok(left.pop_front().map(|b| (b, Reading::Ended(left)))),
            Reading::More(reader, mut left) => {
                if let Some(batch) = left.pop_front() {
                    return Ok(Some((batch, Reading::More(reader, left))));
                }
                // Decoding is work for a thread that may block; between two steps a query can be cancelled.
                let (reading, wait) = tokio::task::spawn_blocking(move || read_ahead(reader)).await.map_err(Error::internal)??;
                if let Some(wait) = wait {
                    tokio::time::sleep(wait).await;
                }
                reading
            }
        }
    }
}

/// Decodes some batches, and says how long to wait if there were none.
fn read_ahead(mut reader: Box<dyn SourceReader>) -> Result<(Reading, Option<Duration>)> {
    let mut batches = VecDeque::new();
    while batches.len() < READ_AHEAD {
        match reader.poll(None, limits::BATCH_TARGET_ROWS)? {
            SourcePoll::Batch(batch) => batches.push_back(batch.rows().clone()),
            SourcePoll::Watermark(_) | SourcePoll::CutReached => (),
            SourcePoll::Pending { wake_after } => {
                let wait = batches.is_empty().then(|| wake_after.unwrap_or(PATIENCE));
                return Ok((Reading::More(reader, batches), wait));
            }
            SourcePoll::Finished => return Ok((Reading::Ended(batches), None)),
        }
    }
    Ok((Reading::More(reader, batches), None))
}
