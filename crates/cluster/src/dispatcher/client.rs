//! What the SQL front door does with jobs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use millstream_graph::StreamGraph;
use millstream_types::{Error, JobId, Result};

use super::JobDirectory;
use crate::epoch::EpochService;
use crate::gateway::{DispatcherGateway, FencingToken, JobCommand, SubmitJob};
use crate::job::{JobDetails, JobOptions, JobOverview, JobStatus, SlotDetails, already_exists, shutting_down, unknown_job};
use crate::job_master::JobState;
use crate::task_executor::TaskExecutor;

/// Time that the start of a cluster waits for one job.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// Time that the end of the cluster gives jobs to stop.
const CANCEL_ALL_TIMEOUT: Duration = Duration::from_secs(5);

/// Submits, watches and ends jobs. Waiting can be given up at any time by dropping the future.
#[derive(Clone)]
pub struct JobClient {
    token: FencingToken,
    dispatcher: Arc<dyn DispatcherGateway>,
    directory: Arc<JobDirectory>,
    epochs: EpochService,
    executor: Arc<TaskExecutor>,
}

impl JobClient {
    pub(crate) fn new(
        token: FencingToken,
        dispatcher: Arc<dyn DispatcherGateway>,
        directory: Arc<JobDirectory>,
        epochs: EpochService,
        executor: Arc<TaskExecutor>,
    ) -> Self {
        JobClient { token, dispatcher, directory, epochs, executor }
    }

    fn command(&self, job: JobId) -> JobCommand {
        JobCommand { token: self.token, job }
    }

    /// Runs a job; returns when all its tasks run. A job that does not get so far leaves nothing behind, nor does one whose submission
    /// is given up.
    ///
    /// # Errors
    /// 53000 without enough slots, 42710 if the job exists, otherwise what its first failing task says.
    pub async fn submit(&self, graph: StreamGraph, options: JobOptions) -> Result<()> {
        let job = graph.job;
        if self.directory.contains(job) {
            return Err(already_exists(&graph.name));
        }
        let guard = RemoveOnDrop { client: self, job, armed: true };
        if let Err(error) = self.dispatcher.submit(SubmitJob { token: self.token, graph, options }).await {
            guard.disarm();
            return Err(error);
        }
        let state = self.wait(job, |s| s.was_running || s.status.is_terminal()).await?;
        guard.disarm();
        if state.was_running || state.status == JobStatus::Finished {
            return Ok(());
        }
        self.drop(job).await?;
        Err(state.cause.clone().unwrap_or_else(|| not_running(job, &state)))
    }

    /// Waits until a job that was taken in runs, or has ended; not for one that does not get there soon.
    pub(crate) async fn wait_started(&self, job: JobId) -> Result<()> {
        match tokio::time::timeout(START_TIMEOUT, self.wait(job, |s| s.was_running || s.status.is_terminal())).await {
            Ok(state) => state.map(drop),
            Err(_) => {
                tracing::warn!(%job, "the job does not start: it is tried again in the background");
                Ok(())
            }
        }
    }

    async fn wait(&self, job: JobId, until: impl FnMut(&JobState) -> bool) -> Result<JobState> {
        let found = self.directory.get(job).ok_or_else(|| unknown_job(job))?;
        let mut state = found.entry.state.subscribe();
        drop(found);
        state.wait_for(until).await.map(|s| s.clone()).map_err(|_| shutting_down())
    }

    /// Waits until the job's relation is readable: all rows that its upstreams had are in.
    ///
    /// # Errors
    /// 55000 if the job or an upstream cannot go on.
    pub async fn wait_backfill(&self, job: JobId) -> Result<()> {
        self.epochs.wait_filled(job).await
    }

    /// Cancels a job and waits until its tasks have stopped. One that has ended stays as it is.
    ///
    /// # Errors
    /// 42704 for an unknown job.
    pub async fn cancel(&self, job: JobId) -> Result<()> {
        self.dispatcher.cancel(self.command(job)).await?;
        self.wait_finished(job).await.map(drop)
    }

    /// Lets a job's sources rest. Its relation, and those of the jobs that read from it, cannot be read strictly until it goes on.
    ///
    /// # Errors
    /// 42704 for an unknown job, 55000 for one that is not running.
    pub async fn pause(&self, job: JobId) -> Result<()> {
        self.set_paused(job, true).await
    }

    /// Lets a paused job go on.
    ///
    /// # Errors
    /// As [`JobClient::pause`].
    pub async fn resume(&self, job: JobId) -> Result<()> {
        self.set_paused(job, false).await
    }

    async fn set_paused(&self, job: JobId, paused: bool) -> Result<()> {
        self.dispatcher.set_paused(self.command(job), paused).await?;
        let state = self.wait(job, |s| s.paused == paused || s.status != JobStatus::Running).await?;
        if state.paused == paused { Ok(()) } else { Err(not_running(job, &state)) }
    }

    /// Cancels a job if it runs and forgets it with its relation. Unknown jobs are fine. Goes on when the future is dropped.
    ///
    /// # Errors
    /// 57P01 if the cluster ends meanwhile.
    pub async fn drop(&self, job: JobId) -> Result<()> {
        self.dispatcher.remove(self.command(job)).await
    }

    /// Waits for a job's end.
    ///
    /// # Errors
    /// 42704 for an unknown job.
    pub async fn wait_finished(&self, job: JobId) -> Result<JobStatus> {
        Ok(self.wait(job, |s| s.status.is_terminal()).await?.status)
    }

    /// Cancels all jobs and waits for their end, at most for a while: a task that does not obey is left to the end of the process.
    pub(crate) async fn cancel_all(&self) {
        let running = self.directory.entries().into_iter().filter(|e| !e.state().status.is_terminal());
        let ends = running.map(|e| async move { self.cancel(e.job).await });
        if tokio::time::timeout(CANCEL_ALL_TIMEOUT, futures::future::join_all(ends)).await.is_err() {
            tracing::warn!("jobs are still running at the end of the cluster");
        }
    }

    /// All jobs, by number.
    pub fn list(&self) -> Vec<JobOverview> {
        self.directory.entries().iter().map(|e| e.overview()).collect()
    }

    /// One line of [`JobClient::list`].
    pub fn overview(&self, job: JobId) -> Option<JobOverview> {
        self.directory.get(job).map(|j| j.entry.overview())
    }

    /// Everything about a job.
    pub fn details(&self, job: JobId) -> Option<JobDetails> {
        self.directory.get(job).map(|j| j.entry.details())
    }

    /// All slots.
    pub fn slots(&self) -> Vec<SlotDetails> {
        self.executor.slots()
    }
}

fn not_running(job: JobId, state: &JobState) -> Error {
    let error =
        Error::new(millstream_types::SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, format!("{job} is not running: it is {}", state.status));
    match &state.cause {
        Some(cause) => error.with_detail(cause.message()),
        None => error,
    }
}

/// Removes a job whose submitter has gone.
struct RemoveOnDrop<'a> {
    client: &'a JobClient,
    job: JobId,
    armed: bool,
}

impl RemoveOnDrop<'_> {
    fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for RemoveOnDrop<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.client.dispatcher.tell_remove(self.client.command(self.job));
        }
    }
}

impl fmt::Debug for JobClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobClient").finish_non_exhaustive()
    }
}
