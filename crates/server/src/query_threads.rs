//! Threads of their own for ad hoc reads. A query may compute for seconds without a pause: on the threads that serve clients it would keep
//! everybody waiting, and the one who wants to cancel it as well.

use std::sync::Arc;

use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::StreamExt;
use millstream_types::Result;
use tokio::runtime::{Builder, Runtime};

/// Batches of a query that wait for its reader.
const QUEUED_BATCHES: usize = 2;

/// The threads.
#[derive(Debug)]
pub(crate) struct QueryThreads {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl QueryThreads {
    /// One per core.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub(crate) fn start() -> Result<Self> {
        let runtime = Builder::new_multi_thread().thread_name("query").enable_time().build()?;
        Ok(QueryThreads { runtime: Some(runtime) })
    }

    /// Runs a plan. It ends when the stream is dropped, at its next pause.
    pub(crate) fn run(&self, plan: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut stream = RecordBatchReceiverStreamBuilder::new(plan.schema(), QUEUED_BATCHES);
        let out = stream.tx();
        let query = async move {
            let mut rows = execute_stream(plan, context)?;
            while let Some(batch) = rows.next().await {
                // A reader that has gone wants no more.
                if out.send(batch).await.is_err() {
                    break;
                }
            }
            Ok(())
        };
        if let Some(runtime) = &self.runtime {
            stream.spawn_on(query, runtime.handle());
        }
        stream.build()
    }
}

impl Drop for QueryThreads {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
