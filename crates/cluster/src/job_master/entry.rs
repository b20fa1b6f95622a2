//! What others may see of a job while its JobMaster runs it: written by the JobMaster only.

use std::collections::BTreeMap;
use std::sync::Arc;

use millstream_graph::{JobGraph, OperatorSpec, StreamGraph};
use millstream_runtime::task::TaskMetricsSnapshot;
use millstream_types::{Error, ExecutionAttemptId, JobId};
use parking_lot::RwLock;
use tokio::sync::watch;

use super::ExecutionGraph;
use crate::gateway::TaskExecutorGateway;
use crate::job::{JobDetails, JobOptions, JobOverview, JobStatus, SubtaskDetails, VertexDetails};

/// Where a job is.
#[derive(Clone, Debug)]
pub(crate) struct JobState {
    pub(crate) status: JobStatus,
    /// All its tasks ran once: what happens to it now is no longer its submitter's.
    pub(crate) was_running: bool,
    pub(crate) paused: bool,
    pub(crate) cause: Option<Error>,
}

/// A job for readers.
pub(crate) struct JobEntry {
    pub(crate) job: JobId,
    pub(crate) options: JobOptions,
    pub(crate) stream_graph: Arc<StreamGraph>,
    pub(crate) job_graph: Arc<JobGraph>,
    pub(crate) execution_graph: RwLock<ExecutionGraph>,
    pub(crate) state: watch::Sender<JobState>,
    pub(crate) start_time_micros: i64,
    pub(crate) executor: Arc<dyn TaskExecutorGateway>,
}

impl JobEntry {
    pub(crate) fn state(&self) -> JobState {
        self.state.borrow().clone()
    }

    /// Counters of every current attempt, in the order of the graph.
    fn metrics(&self) -> BTreeMap<ExecutionAttemptId, TaskMetricsSnapshot> {
        let attempts: Vec<_> = self.execution_graph.read().executions().map(|e| e.attempt).collect();
        let metrics = self.executor.metrics(&attempts);
        attempts.into_iter().zip(metrics).filter_map(|(attempt, metrics)| Some((attempt, metrics?))).collect()
    }

    fn backfill(&self) -> Option<(u64, u64)> {
        let subscribes = |s: &OperatorSpec| matches!(s, OperatorSpec::Subscription(_));
        let graph = self.execution_graph.read();
        let vertices = graph.vertices.iter().filter(|v| v.job_vertex.operators.iter().any(|o| subscribes(&o.node.spec)));
        let attempts = vertices.flat_map(|v| &v.subtasks).map(|s| s.current.attempt);
        let progress: Vec<_> = attempts.filter_map(|a| self.executor.backfill_progress(a)).collect();
        (!progress.is_empty()).then(|| progress.iter().fold((0, 0), |sum, (done, all)| (sum.0 + done, sum.1 + all)))
    }

    pub(crate) fn overview(&self) -> JobOverview {
        let state = self.state();
        let metrics = self.metrics();
        let backfill = if state.status.is_terminal() { None } else { self.backfill() };
        let graph = self.execution_graph.read();
        let sum = |attempts: Vec<ExecutionAttemptId>, of: fn(&TaskMetricsSnapshot) -> u64| -> u64 {
            attempts.iter().filter_map(|a| metrics.get(a)).map(of).sum()
        };
        JobOverview {
            job: self.job,
            name: self.stream_graph.name.clone(),
            kind: self.options.kind,
            status: state.status,
            paused: state.paused,
            cause: state.cause,
            start_time_micros: self.start_time_micros,
            parallelism: graph.job_vertices().map(|v| v.parallelism).max().unwrap_or(0),
            records_in: sum(graph.sources().map(|e| e.attempt).collect(), |m| m.records_in),
            records_out: sum(graph.leaves().map(|e| e.attempt).collect(), |m| m.records_in),
            backfill,
        }
    }

    pub(crate) fn details(&self) -> JobDetails {
        let overview = self.overview();
        let mut metrics = self.metrics();
        let graph = self.execution_graph.read();
        let vertices = graph.vertices.iter().map(|v| VertexDetails {
            vertex: v.job_vertex.id,
            name: v.job_vertex.name.clone(),
            parallelism: v.job_vertex.parallelism,
            subtasks: v
                .subtasks
                .iter()
                .map(|s| SubtaskDetails {
                    subtask: s.id.subtask,
                    attempt: s.current.attempt,
                    state: s.current.state,
                    slot: s.current.slot.map(|a| a.slot),
                    metrics: metrics.remove(&s.current.attempt).unwrap_or_default(),
                })
                .collect(),
        });
        let vertices = vertices.collect();
        JobDetails { overview, stream_graph: Arc::clone(&self.stream_graph), job_graph: Arc::clone(&self.job_graph), vertices }
    }
}

impl std::fmt::Debug for JobEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobEntry").field("job", &self.job).finish_non_exhaustive()
    }
}
