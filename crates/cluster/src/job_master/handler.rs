//! The actor that does what the core decided.

use std::collections::VecDeque;
use std::sync::Arc;

use millstream_runtime::task::TaskConfig;
use millstream_state::LogStore;
use millstream_types::{Epoch, Error, Result};

use super::core::{Action, Event, JobMasterCore};
use super::{JobEntry, JobMasterClient};
use crate::checkpoint::{CheckpointClient, FrozenJob, JobCheckpoint, Recovered};
use crate::epoch::{EpochService, JobEnd, JobRegistration, Restored};
use crate::gateway::{
    DispatcherGateway, FencingToken, JobEnded, ReleaseSlots, RequestSlots, ResourceManagerGateway, SubmitTask, TellTasks,
};
use crate::job::JobStatus;
use crate::job_store::JobStore;
use crate::spawn::{Actor, TaskTracker};

/// What a JobMaster works with.
#[derive(Clone)]
pub(crate) struct JobMasterServices {
    pub(crate) token: FencingToken,
    pub(crate) dispatcher: Arc<dyn DispatcherGateway>,
    pub(crate) resource_manager: Arc<dyn ResourceManagerGateway>,
    pub(crate) epochs: EpochService,
    pub(crate) log: Arc<dyn LogStore>,
    pub(crate) jobs: JobStore,
    /// `None` where nothing is made durable.
    pub(crate) checkpoints: Option<CheckpointClient>,
    pub(crate) tracker: Arc<TaskTracker>,
}

/// A job of an earlier process.
pub(crate) struct RecoveredJob {
    pub(crate) newest: Recovered,
    pub(crate) paused: bool,
}

impl RecoveredJob {
    /// Without a checkpoint a table has everything to read from the log still, and anything else is filled again.
    fn restored(&self, table: bool) -> Restored {
        let of = |c: &Arc<JobCheckpoint>| Restored { epoch: c.epoch, backfilled: c.backfilled };
        self.newest.as_ref().map_or(Restored { epoch: 0, backfilled: table }, of)
    }
}

/// Runs one job.
pub(crate) struct JobMaster {
    core: JobMasterCore,
    entry: Arc<JobEntry>,
    services: JobMasterServices,
    client: JobMasterClient,
}

impl JobMaster {
    /// Registers the job with the clock, starts its actor and shows it to `publish`; then slots are requested.
    pub(crate) fn start(
        entry: Arc<JobEntry>,
        services: JobMasterServices,
        recovered: Option<RecoveredJob>,
        publish: impl FnOnce(JobMasterClient),
    ) -> Result<()> {
        let tasks = entry.execution_graph.read().executions().count();
        let (client, events) = JobMasterClient::new(services.token, tasks);
        let options = &entry.options;
        let registration = JobRegistration {
            job: entry.job,
            name: entry.stream_graph.name.clone(),
            upstream: options.upstream.clone(),
            external: options.external,
            table: options.table,
            restored: recovered.as_ref().map(|r| r.restored(options.table)),
        };
        services.epochs.register(registration, Arc::new(client.clone()))?;
        let checkpoints = services.checkpoints.is_some();
        let config = TaskConfig { linger_ms: options.linger_ms, batch_rows: options.batch_rows, checkpoints };
        let graph = entry.execution_graph.read();
        let core = match recovered {
            None => JobMasterCore::new(&graph, config, options.restart),
            Some(RecoveredJob { newest, paused }) => JobMasterCore::recovered(&graph, config, options.restart, newest, paused),
        };
        drop(graph);
        let job = entry.job;
        let actor = JobMaster { core, entry, services: services.clone(), client: client.clone() };
        if let Err(error) = services.tracker.actor("job master", actor, events, None) {
            services.epochs.remove(job);
            return Err(error);
        }
        publish(client.clone());
        client.start();
        Ok(())
    }

    /// Shows a job that ended in an earlier process: nothing runs, readers are told why.
    pub(crate) fn show_ended(
        entry: &Arc<JobEntry>,
        services: &JobMasterServices,
        status: JobStatus,
        publish: impl FnOnce(JobMasterClient),
    ) -> Result<()> {
        let (client, _) = JobMasterClient::new(services.token, 0);
        let options = &entry.options;
        let registration = JobRegistration {
            job: entry.job,
            name: entry.stream_graph.name.clone(),
            upstream: options.upstream.clone(),
            external: options.external,
            table: options.table,
            restored: None,
        };
        services.epochs.register(registration, Arc::new(client.clone()))?;
        let cause = entry.state().cause.unwrap_or_else(|| Error::internal("a job failed without a cause"));
        services.epochs.ended(entry.job, if status == JobStatus::Canceled { JobEnd::Canceled } else { JobEnd::Failed(cause) });
        publish(client);
        Ok(())
    }

    /// One action. An event that it causes at once comes back.
    async fn perform(&mut self, action: Action) -> Result<Option<Event>> {
        let (token, job) = (self.services.token, self.entry.job);
        let epochs = &self.services.epochs;
        match action {
            Action::RequestSlots(requirements) => {
                let answer = self.services.resource_manager.request_slots(RequestSlots { token, job, requirements }).await;
                return Ok(Some(Event::Slots(answer)));
            }
            Action::Deploy(descriptor) => {
                let attempt = descriptor.attempt;
                let submitted = self.entry.executor.submit_task(SubmitTask { token, descriptor: *descriptor }).await;
                return Ok(submitted.err().map(|error| Event::DeployFailed { attempt, error }));
            }
            Action::Tell { attempts, command } => self.entry.executor.tell_tasks(TellTasks { token, attempts, command }),
            Action::Status(status) => self.enter(status).await?,
            Action::Started => epochs.started(job),
            Action::Completed(epoch) => self.completed(epoch),
            Action::WantTick => epochs.want_tick(job),
            Action::Backfilled => epochs.backfilled(job),
            Action::Frozen { epoch, attempts, backfilled } => {
                if let Some(checkpoints) = &self.services.checkpoints {
                    checkpoints.frozen(job, epoch, FrozenJob { attempts, backfilled });
                }
            }
            Action::Restarting { from_scratch } => {
                self.gone();
                epochs.restarting(job, from_scratch);
            }
            Action::RestartAfter(delay) => {
                let Some(checkpoints) = self.services.checkpoints.clone() else { return Ok(None) };
                let client = self.client.clone();
                self.services.tracker.after(delay, async move { client.restart(checkpoints.recover(job).await) })?;
            }
            Action::Paused(paused) => {
                self.services.jobs.update(job, |record| record.paused = paused)?;
                epochs.set_paused(job, paused);
                self.entry.state.send_modify(|s| s.paused = paused);
            }
        }
        Ok(None)
    }

    /// A checkpoint that the job is part of will not be complete.
    fn gone(&self) {
        if let Some(checkpoints) = &self.services.checkpoints {
            checkpoints.gone(self.entry.job);
        }
    }

    fn completed(&self, epoch: Epoch) {
        // Where there are checkpoints, the log is kept for as long as they need it.
        if self.services.checkpoints.is_none()
            && self.entry.options.table
            && let Some(table) = self.entry.options.relation
        {
            self.services.log.truncate(table, epoch);
        }
        self.services.epochs.completed(self.entry.job, epoch);
    }

    /// Tells readers first, then frees what the job held, then says so to who waits for that.
    async fn enter(&mut self, status: JobStatus) -> Result<()> {
        let (token, job) = (self.services.token, self.entry.job);
        let cause = self.core.cause().cloned();
        match status {
            JobStatus::Created | JobStatus::Running | JobStatus::Restarting => (),
            JobStatus::Failing | JobStatus::Failed => {
                let cause = cause.clone().unwrap_or_else(|| Error::internal("a job failed without a cause"));
                self.services.epochs.ended(job, JobEnd::Failed(cause));
            }
            JobStatus::Cancelling | JobStatus::Canceled => self.services.epochs.ended(job, JobEnd::Canceled),
            JobStatus::Finished => self.services.epochs.ended(job, JobEnd::Finished),
        }
        if matches!(status, JobStatus::Failing | JobStatus::Failed | JobStatus::Cancelling | JobStatus::Canceled) {
            self.gone();
        }
        if status.is_terminal() {
            self.services.jobs.update(job, |record| {
                record.ended = Some(status);
                record.cause.clone_from(&cause);
            })?;
            if self.services.checkpoints.is_none()
                && self.entry.options.table
                && let Some(table) = self.entry.options.relation
            {
                self.services.log.truncate(table, Epoch::MAX);
            }
            self.services.resource_manager.release_slots(ReleaseSlots { token, job }).await?;
        }
        self.entry.state.send_modify(|s| {
            s.status = status;
            s.was_running |= status == JobStatus::Running;
            s.cause = cause.filter(|_| status != JobStatus::Running && status != JobStatus::Finished);
        });
        if status.is_terminal() {
            self.services.dispatcher.job_ended(JobEnded { token, job }).await?;
        }
        Ok(())
    }
}

impl Actor for JobMaster {
    type Message = Event;

    async fn handle(&mut self, event: Event) -> Result<bool> {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let actions = self.core.on(&mut self.entry.execution_graph.write(), event);
            for action in actions {
                events.extend(self.perform(action).await?);
            }
        }
        Ok(!self.core.status().is_terminal())
    }
}
