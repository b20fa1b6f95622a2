//! Rows that a statement has made itself, as a response.

use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::stream;
use millstream_types::{Result, Schema};

use crate::pg::service::Response;
use crate::system::SystemRows;

/// Batches of `schema` with a tag of their own.
pub(super) fn tagged(schema: Schema, batches: Vec<RecordBatch>, tag: impl Into<String>) -> Response {
    let arrow = schema.to_arrow();
    let stream = RecordBatchStreamAdapter::new(arrow, stream::iter(batches.into_iter().map(Ok)));
    Response::RowsWithTag { schema, stream: Box::pin(stream), tag: tag.into() }
}

/// The rows of SHOW and the like.
pub(super) fn shown(rows: SystemRows, tag: &str) -> Result<Response> {
    let schema = rows.schema.clone();
    let batch = rows.into_batch()?;
    let batch = RecordBatch::try_new(schema.to_arrow(), batch.columns().iter().map(Arc::clone).collect())?;
    Ok(tagged(schema, vec![batch], tag))
}
