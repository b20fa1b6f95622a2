//! The actor that does what the core decided.

use std::collections::VecDeque;
use std::sync::Arc;

use millstream_runtime::task::TaskConfig;
use millstream_state::LogStore;
use millstream_types::{Epoch, Error, Result};

use super::core::{Action, Event, JobMasterCore};
use super::{JobEntry, JobMasterClient};
use crate::epoch::{EpochService, JobEnd, JobRegistration};
use crate::gateway::{
    DispatcherGateway, FencingToken, JobEnded, ReleaseSlots, RequestSlots, ResourceManagerGateway, SubmitTask, TellTasks,
};
use crate::job::JobStatus;
use crate::spawn::{Actor, TaskTracker};

/// What a JobMaster works with.
#[derive(Clone)]
pub(crate) struct JobMasterServices {
    pub(crate) token: FencingToken,
    pub(crate) dispatcher: Arc<dyn DispatcherGateway>,
    pub(crate) resource_manager: Arc<dyn ResourceManagerGateway>,
    pub(crate) epochs: EpochService,
    pub(crate) log: Arc<dyn LogStore>,
}

/// Runs one job.
pub(crate) struct JobMaster {
    core: JobMasterCore,
    entry: Arc<JobEntry>,
    services: JobMasterServices,
}

impl JobMaster {
    /// Registers the job with the clock, starts its actor and shows it to `publish`; then slots are requested.
    pub(crate) fn start(
        entry: Arc<JobEntry>,
        services: JobMasterServices,
        tracker: &TaskTracker,
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
        };
        services.epochs.register(registration, Arc::new(client.clone()))?;
        let config = TaskConfig { linger_ms: options.linger_ms, batch_rows: options.batch_rows };
        let core = JobMasterCore::new(&entry.execution_graph.read(), config);
        let job = entry.job;
        let actor = JobMaster { core, entry, services: services.clone() };
        if let Err(error) = tracker.actor("job master", actor, events, None) {
            services.epochs.remove(job);
            return Err(error);
        }
        publish(client.clone());
        client.start();
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
            Action::Paused(paused) => {
                epochs.set_paused(job, paused);
                self.entry.state.send_modify(|s| s.paused = paused);
            }
        }
        Ok(None)
    }

    fn completed(&self, epoch: Epoch) {
        if self.entry.options.table
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
            JobStatus::Created | JobStatus::Running => (),
            JobStatus::Failing | JobStatus::Failed => {
                let cause = cause.clone().unwrap_or_else(|| Error::internal("a job failed without a cause"));
                self.services.epochs.ended(job, JobEnd::Failed(cause));
            }
            JobStatus::Cancelling | JobStatus::Canceled => self.services.epochs.ended(job, JobEnd::Canceled),
            JobStatus::Finished => self.services.epochs.ended(job, JobEnd::Finished),
        }
        if status.is_terminal() {
            if self.entry.options.table
                && let Some(table) = self.entry.options.relation
            {
                self.services.log.truncate(table, Epoch::MAX);
            }
            self.services.resource_manager.release_slots(ReleaseSlots { token, job }).await?;
        }
        self.entry.state.send_modify(|s| {
            s.status = status;
            s.was_running |= status == JobStatus::Running;
            s.cause = cause;
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
