//! To the Dispatcher: jobs come and go.

use async_trait::async_trait;
use millstream_graph::StreamGraph;
use millstream_types::{JobId, Result};
use serde::{Deserialize, Serialize};

use super::FencingToken;
use crate::job::JobOptions;

/// Run this job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SubmitJob {
    /// The leader that is meant.
    pub token: FencingToken,
    /// What to run.
    pub graph: StreamGraph,
    /// How.
    pub options: JobOptions,
}

/// Do something with a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCommand {
    /// The leader that is meant.
    pub token: FencingToken,
    /// Which job.
    pub job: JobId,
}

/// A job is in a terminal state and has freed what it held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEnded {
    /// The leader that is meant.
    pub token: FencingToken,
    /// Which job.
    pub job: JobId,
}

/// What a Dispatcher answers.
#[async_trait]
pub trait DispatcherGateway: Send + Sync {
    /// Accepts a job and starts its JobMaster; it may still be starting when this returns.
    ///
    /// # Errors
    /// 42710 if the job exists, also if it has ended; XX000 for a graph that breaks its rules.
    async fn submit(&self, message: SubmitJob) -> Result<()>;

    /// Starts to cancel a job. One that has ended stays as it is.
    ///
    /// # Errors
    /// 42704 for an unknown job.
    async fn cancel(&self, message: JobCommand) -> Result<()>;

    /// Lets a job's sources rest, or go on.
    ///
    /// # Errors
    /// 42704 for an unknown job, 55000 for one that is not running.
    async fn set_paused(&self, message: JobCommand, paused: bool) -> Result<()>;

    /// Cancels a job if it runs, waits for its end and forgets it with its relation. An unknown job is fine.
    ///
    /// # Errors
    /// 57P01 if the cluster ends meanwhile.
    async fn remove(&self, message: JobCommand) -> Result<()>;

    /// The same without waiting, for callers that are gone.
    fn tell_remove(&self, message: JobCommand);

    /// From a JobMaster: told once.
    async fn job_ended(&self, message: JobEnded) -> Result<()>;
}
