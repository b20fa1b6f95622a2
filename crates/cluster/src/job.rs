//! A job as clients see it: options in, status and details out.

use std::fmt;
use std::sync::Arc;

use millstream_graph::{JobGraph, StreamGraph};
use millstream_runtime::task::{ExecutionState, TaskMetricsSnapshot};
use millstream_types::{Error, ExecutionAttemptId, JobId, JobVertexId, RelationId, SlotId, SqlState, limits};
use serde::{Deserialize, Serialize};

use crate::job_master::RestartStrategy;

/// What a job is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum JobKind {
    /// CREATE TABLE.
    Table,
    /// CREATE MATERIALIZED VIEW.
    MaterializedView,
    /// CREATE STREAMING JOB.
    StreamingJob,
}

/// How a job runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobOptions {
    /// What it is for.
    pub kind: JobKind,
    /// The relation it serves.
    pub relation: Option<RelationId>,
    /// Jobs whose relations it reads.
    pub upstream: Vec<JobId>,
    /// True if it reads an external source.
    pub external: bool,
    /// True if its relation takes INSERT, UPDATE and DELETE.
    pub table: bool,
    /// Milliseconds that exchanges may keep rows when more input keeps coming; 0 flushes every batch.
    pub linger_ms: u64,
    /// Rows that batches aim at.
    pub batch_rows: usize,
    /// Whether it runs again after a failure.
    pub restart: RestartStrategy,
}

impl JobOptions {
    /// The defaults for this kind of job: no relation, no upstream.
    pub fn new(kind: JobKind) -> Self {
        JobOptions {
            kind,
            relation: None,
            upstream: vec![],
            external: false,
            table: kind == JobKind::Table,
            linger_ms: limits::LINGER_MS,
            batch_rows: limits::BATCH_TARGET_ROWS,
            restart: RestartStrategy::default(),
        }
    }
}

/// Flink's job states. CREATED until all tasks run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum JobStatus {
    /// Accepted; slots are requested, tasks deployed.
    Created,
    /// All tasks run or have finished.
    Running,
    /// A task failed; new attempts follow when the others have stopped.
    Restarting,
    /// A task failed; the others are being cancelled.
    Failing,
    /// Stopped by an error.
    Failed,
    /// A user cancelled it; its tasks are stopping.
    Cancelling,
    /// Stopped by a user.
    Canceled,
    /// All input was read.
    Finished,
}

impl JobStatus {
    /// True if it never changes again.
    pub fn is_terminal(self) -> bool {
        matches!(self, JobStatus::Failed | JobStatus::Canceled | JobStatus::Finished)
    }

    /// The legal transitions.
    pub fn may_become(self, next: JobStatus) -> bool {
        use JobStatus as S;
        matches!(
            (self, next),
            (S::Created, S::Running | S::Failing | S::Failed | S::Cancelling | S::Canceled | S::Finished)
                | (S::Running, S::Restarting | S::Failing | S::Failed | S::Cancelling | S::Canceled | S::Finished)
                | (S::Restarting, S::Running | S::Failing | S::Failed | S::Cancelling | S::Canceled | S::Finished)
                | (S::Failing, S::Failed)
                | (S::Cancelling, S::Canceled)
        )
    }
}

impl fmt::Display for JobStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JobStatus::Created => "CREATED",
            JobStatus::Running => "RUNNING",
            JobStatus::Restarting => "RESTARTING",
            JobStatus::Failing => "FAILING",
            JobStatus::Failed => "FAILED",
            JobStatus::Cancelling => "CANCELLING",
            JobStatus::Canceled => "CANCELED",
            JobStatus::Finished => "FINISHED",
        })
    }
}

/// One line of SHOW JOBS.
#[derive(Clone, Debug)]
pub struct JobOverview {
    /// The job.
    pub job: JobId,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub kind: JobKind,
    /// Where it is.
    pub status: JobStatus,
    /// True if its sources rest.
    pub paused: bool,
    /// Why it failed.
    pub cause: Option<Error>,
    /// When it was submitted, in microseconds since 1970-01-01 UTC.
    pub start_time_micros: i64,
    /// Largest parallelism of its vertices.
    pub parallelism: u32,
    /// Rows that its sources gave.
    pub records_in: u64,
    /// Rows that its last tasks took.
    pub records_out: u64,
    /// Rows done and in all while it is being filled.
    pub backfill: Option<(u64, u64)>,
}

/// Everything about a job.
#[derive(Clone, Debug)]
pub struct JobDetails {
    /// The line of SHOW JOBS.
    pub overview: JobOverview,
    /// As the planner made it.
    pub stream_graph: Arc<StreamGraph>,
    /// As it was chained.
    pub job_graph: Arc<JobGraph>,
    /// Its vertices in topological order.
    pub vertices: Vec<VertexDetails>,
}

/// A vertex with its subtasks.
#[derive(Clone, Debug)]
pub struct VertexDetails {
    /// The vertex.
    pub vertex: JobVertexId,
    /// The operators of its chain.
    pub name: String,
    /// Subtasks.
    pub parallelism: u32,
    /// One per subtask.
    pub subtasks: Vec<SubtaskDetails>,
}

/// A subtask's current attempt.
#[derive(Clone, Debug)]
pub struct SubtaskDetails {
    /// 0-based.
    pub subtask: u32,
    /// The attempt.
    pub attempt: ExecutionAttemptId,
    /// Where it is.
    pub state: ExecutionState,
    /// The slot it has; `None` before slots were granted.
    pub slot: Option<SlotId>,
    /// Counters; the last ones of a task that has ended.
    pub metrics: TaskMetricsSnapshot,
}

/// A slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotDetails {
    /// Where.
    pub slot: SlotId,
    /// The slot sharing group that has it.
    pub group: Option<String>,
    /// Tasks in it now.
    pub tasks: u32,
}

pub(crate) fn shutting_down() -> Error {
    Error::new(SqlState::ADMIN_SHUTDOWN, "the cluster is shutting down")
}

pub(crate) fn already_exists(name: &str) -> Error {
    Error::new(SqlState::DUPLICATE_OBJECT, format!("job \"{name}\" already exists"))
        .with_detail("A job's number is taken also after its end, until it is dropped.")
}

pub(crate) fn unknown_job(job: JobId) -> Error {
    Error::new(SqlState::UNDEFINED_OBJECT, format!("{job} does not exist"))
}
