//! SELECT: all relations at one epoch, run by the batch engine.

use std::sync::Arc;

use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use millstream_cluster::{Isolation, ReadLease};
use millstream_functions::from_datafusion_in;
use millstream_planner::{BoundQuery, batch, bind_query};
use millstream_sql::statement::SelectStatement;
use millstream_types::{Error, ObjectId, Result, SqlState};

use super::scan::Scans;
use super::{catalog_query, query_memory};
use crate::pg::service::Response;
use crate::session::{Session, names};

pub(super) async fn run(session: &mut Session, select: &SelectStatement, text: &str) -> Result<Response> {
    if let Some(emit) = &select.emit {
        return Err(Error::unsupported(format!("{} outside a streaming query", emit.to_string().trim())));
    }
    if let Some(lock) = select.query.locks.first() {
        return Err(Error::unsupported(lock.to_string())
            .with_hint("UPDATE and DELETE lock what they change; transactions find conflicts at COMMIT"));
    }
    if catalog_query::is_one(session, &select.query) {
        return catalog_query::run(session, select, text).await;
    }
    let bound = bind_query(&session.planner_catalog(), &select.query, text)?;
    let lease = lease(session, &bound.relations).await?;
    let schema = bound.schema.clone();
    let stream = stream(session, bound, lease, text).await?;
    Ok(Response::Rows { schema, stream })
}

/// An epoch at which all of `relations` can be read; `None` without any. In a transaction it is the transaction's.
pub(super) async fn lease(session: &mut Session, relations: &[ObjectId]) -> Result<Option<Arc<ReadLease>>> {
    let state = session.db.catalog().snapshot();
    let jobs = names::jobs(&state, relations);
    check_own_writes(session, relations)?;
    if jobs.is_empty() {
        return Ok(None);
    }
    let epochs = session.db.cluster().epochs();
    let Some(transaction) = &mut session.transaction else {
        let isolation = match session.settings.get("isolation")?.as_str() {
            "latest" => Isolation::Latest,
            _ => Isolation::StrictSerializable,
        };
        return Ok(Some(Arc::new(epochs.read(&jobs, isolation).await?)));
    };
    if let Some(held) = &transaction.lease {
        epochs.read_at(&jobs, held).await?;
        return Ok(Some(Arc::clone(held)));
    }
    let held = Arc::new(epochs.read_snapshot(&jobs).await?);
    transaction.lease = Some(Arc::clone(&held));
    Ok(Some(held))
}

/// A view over a table that the transaction has written to cannot show those writes.
fn check_own_writes(session: &Session, relations: &[ObjectId]) -> Result<()> {
    let Some(transaction) = session.transaction.as_ref().filter(|t| !t.writes.is_empty()) else { return Ok(()) };
    let written: Vec<ObjectId> = transaction.writes.keys().copied().collect();
    let state = session.db.catalog().snapshot();
    let behind = state.closure(&written);
    let stale = relations.iter().find(|r| behind.contains(r) && !written.contains(r));
    let Some(view) = stale.and_then(|r| state.object(*r)) else { return Ok(()) };
    Err(Error::new(
        SqlState::FEATURE_NOT_SUPPORTED,
        format!("reading \"{}\" in a transaction that changed a table behind it is not supported", view.name),
    )
    .with_hint("commit first, or read the table itself"))
}

/// The rows of a bound query. The lease is held until the stream is dropped.
pub(super) async fn stream(
    session: &Session,
    bound: BoundQuery,
    lease: Option<Arc<ReadLease>>,
    text: &str,
) -> Result<SendableRecordBatchStream> {
    let scans = Scans::new(session, lease.clone());
    let plan = batch::with_rows(bound.plan, &|relation, with_hidden| scans.provider(relation, with_hidden))?;
    let state = session.db.batch();
    let physical = state.create_physical_plan(&plan).await.map_err(|e| from_datafusion_in(text, e))?;
    let rows = session.db.query_threads().run(physical, query_memory::task_context(session));
    let schema = bound.schema.to_arrow();
    let target = Arc::clone(&schema);
    let held = rows.map(move |batch| {
        let _held = &lease;
        // The same columns, all nullable: what was announced.
        batch.and_then(|b| {
            Ok(arrow::array::RecordBatch::try_new_with_options(
                Arc::clone(&target),
                b.columns().to_vec(),
                &arrow::array::RecordBatchOptions::new().with_row_count(Some(b.num_rows())),
            )?)
        })
    });
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, held)))
}

/// All rows of a bound query.
pub(super) async fn collect(
    session: &Session,
    bound: BoundQuery,
    lease: Option<Arc<ReadLease>>,
    text: &str,
) -> Result<Vec<arrow::array::RecordBatch>> {
    let limit = query_memory::limit(session);
    let mut rows = stream(session, bound, lease, text).await?;
    let (mut batches, mut bytes) = (vec![], 0);
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(|e| from_datafusion_in(text, e))?;
        bytes += batch.get_array_memory_size();
        if bytes > limit {
            return Err(Error::new(SqlState::OUT_OF_MEMORY, "out of memory")
                .with_detail(format!("A statement may use {limit} bytes (query_memory)."))
                .with_hint("change fewer rows at once, or SET query_memory"));
        }
        batches.push(batch);
    }
    Ok(batches)
}
