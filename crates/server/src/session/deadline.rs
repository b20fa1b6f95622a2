//! `statement_timeout`: for a statement, and for the rows it answers with.

use std::time::Duration;

use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, stream};
use millstream_functions::external;
use millstream_types::{Error, Result, SqlState};
use tokio::time::{Instant, timeout_at};

use crate::pg::service::Response;

fn late() -> Error {
    Error::new(SqlState::QUERY_CANCELED, "canceling statement due to statement timeout")
}

/// Runs a statement for at most `timeout`; zero is no limit.
pub(super) async fn run(timeout: Duration, statement: impl Future<Output = Result<Response>>) -> Result<Response> {
    if timeout.is_zero() {
        return statement.await;
    }
    let deadline = Instant::now() + timeout;
    let response = timeout_at(deadline, statement).await.unwrap_or_else(|_| Err(late()))?;
    Ok(match response {
        Response::Rows { schema, stream } => Response::Rows { schema, stream: rows_until(deadline, stream) },
        Response::RowsWithTag { schema, stream, tag } => Response::RowsWithTag { schema, stream: rows_until(deadline, stream), tag },
        other @ (Response::Command { .. } | Response::Empty) => other,
    })
}

fn rows_until(deadline: Instant, rows: SendableRecordBatchStream) -> SendableRecordBatchStream {
    let schema = rows.schema();
    let limited = stream::unfold(Some(rows), move |rows| async move {
        let mut rows = rows?;
        match timeout_at(deadline, rows.next()).await {
            Ok(batch) => batch.map(|b| (b, Some(rows))),
            Err(_) => Some((Err(external(late())), None)),
        }
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, limited))
}
