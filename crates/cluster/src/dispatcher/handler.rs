//! The actor: one job in, one JobMaster started; one job ended, whoever waits for its removal told.

use std::collections::BTreeMap;
use std::sync::Arc;

use millstream_graph::JobGraphGenerator;
use millstream_types::faults::crash_point;
use millstream_types::{Clock, Epoch, Error, JobId, Result, SqlState};
use parking_lot::RwLock;
use tokio::sync::{oneshot, watch};

use super::JobDirectory;
use super::directory::DirectoryJob;
use super::gateway::Message;
use crate::gateway::{ControlJob, ForgetJob, JobCommand, JobControl, JobEnded, JobMasterGateway, SubmitJob, TaskExecutorGateway};
use crate::job::{JobStatus, already_exists, shutting_down, unknown_job};
use crate::job_master::{ExecutionGraph, JobEntry, JobMaster, JobMasterServices, JobState, RecoveredJob};
use crate::job_store::JobRecord;
use crate::spawn::Actor;

/// What the Dispatcher works with.
pub(crate) struct DispatcherServices {
    pub(crate) job_master: JobMasterServices,
    pub(crate) executor: Arc<dyn TaskExecutorGateway>,
    pub(crate) directory: Arc<JobDirectory>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// Takes jobs in.
pub(crate) struct Dispatcher {
    services: DispatcherServices,
    /// Jobs that are to be forgotten when they have ended, and who waits for that.
    removing: BTreeMap<JobId, Vec<oneshot::Sender<Result<()>>>>,
}

impl Dispatcher {
    pub(crate) fn new(services: DispatcherServices) -> Self {
        Dispatcher { services, removing: BTreeMap::new() }
    }

    fn submit(&self, message: SubmitJob) -> Result<()> {
        let services = &self.services;
        services.job_master.token.check(message.token)?;
        let SubmitJob { graph, options, .. } = message;
        let job = graph.job;
        if services.directory.contains(job) {
            return Err(already_exists(&graph.name));
        }
        let record = JobRecord::new(graph, options, services.clock.unix_micros());
        let entry = self.entry(&record, JobState { status: JobStatus::Created, was_running: false, paused: false, cause: None })?;
        services.job_master.jobs.put(&record)?;
        crash_point("create-job-recorded");
        let insert = |client| services.directory.insert(Arc::clone(&entry), client);
        JobMaster::start(Arc::clone(&entry), services.job_master.clone(), None, insert)
    }

    fn entry(&self, record: &JobRecord, state: JobState) -> Result<Arc<JobEntry>> {
        let job_graph = JobGraphGenerator::generate(&record.graph)?;
        Ok(Arc::new(JobEntry {
            job: record.graph.job,
            options: record.options.clone(),
            stream_graph: Arc::new(record.graph.clone()),
            execution_graph: RwLock::new(ExecutionGraph::new(&job_graph)),
            job_graph: Arc::new(job_graph),
            state: watch::Sender::new(state),
            start_time_micros: record.start_time_micros,
            executor: Arc::clone(&self.services.executor),
        }))
    }

    /// Takes in a job of an earlier process. One that failed or was cancelled stays so; any other one continues from its newest
    /// checkpoint, a finished one as well: it serves its rows again and finishes at once.
    async fn recover(&self, record: JobRecord) -> Result<()> {
        let services = &self.services;
        let job = record.graph.job;
        let ended = record.ended.filter(|s| *s != JobStatus::Finished);
        let status = ended.unwrap_or(JobStatus::Restarting);
        let state = JobState { status, was_running: ended.is_some(), paused: false, cause: record.cause.clone() };
        let entry = self.entry(&record, state)?;
        if let Some(ended) = ended {
            return JobMaster::show_ended(&entry, &services.job_master, ended, |client| {
                services.directory.insert(Arc::clone(&entry), client)
            });
        }
        let insert = |client| services.directory.insert(Arc::clone(&entry), client);
        // Its sinks' entry must be there for what they have prepared to be published.
        let (placeholder, _) = crate::job_master::JobMasterClient::new(services.job_master.token, 0);
        insert(placeholder);
        let newest = match &services.job_master.checkpoints {
            Some(checkpoints) => checkpoints.recover(job).await,
            None => Ok(None),
        };
        let newest = match newest {
            Ok(newest) => newest,
            // The others start. It stays as it was, for the next start of the server.
            Err(error) => {
                tracing::error!(job = record.graph.name, %error, "the job cannot continue");
                entry.state.send_modify(|s| (s.status, s.was_running, s.cause) = (JobStatus::Failed, true, Some(error)));
                return JobMaster::show_ended(&entry, &services.job_master, JobStatus::Failed, insert);
            }
        };
        crash_point("start-job-recovered");
        let recovered = RecoveredJob { newest, paused: record.paused };
        JobMaster::start(Arc::clone(&entry), services.job_master.clone(), Some(recovered), insert)
    }

    fn control(&self, message: JobCommand, control: JobControl) -> Result<()> {
        self.services.job_master.token.check(message.token)?;
        let job = self.services.directory.get(message.job).ok_or_else(|| unknown_job(message.job))?;
        let status = job.entry.state().status;
        if control != JobControl::Cancel && status != JobStatus::Running {
            return Err(Error::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("job \"{}\" is not running: it is {status}", job.entry.stream_graph.name),
            ));
        }
        job.job_master.control(ControlJob { token: message.token, control });
        Ok(())
    }

    async fn remove(&mut self, message: JobCommand, answer: Option<oneshot::Sender<Result<()>>>) -> Result<()> {
        if let Err(error) = self.services.job_master.token.check(message.token) {
            if let Some(answer) = answer {
                // An asker that has gone needs no answer.
                let _ = answer.send(Err(error));
            }
            return Ok(());
        }
        self.removing.entry(message.job).or_default().extend(answer);
        match self.services.directory.get(message.job) {
            Some(job) if !job.entry.state().status.is_terminal() => {
                job.job_master.control(ControlJob { token: message.token, control: JobControl::Cancel });
                Ok(())
            }
            _ => self.forget(message.job).await,
        }
    }

    async fn ended(&mut self, message: JobEnded) -> Result<()> {
        let current = self.services.job_master.token.admits(message.token, "job ended");
        // A message about an earlier job of this number may come late.
        let ended = |job: DirectoryJob| job.entry.state().status.is_terminal();
        let ended = current && self.services.directory.get(message.job).is_none_or(ended);
        if ended && self.removing.contains_key(&message.job) { self.forget(message.job).await } else { Ok(()) }
    }

    /// The job has ended: nothing of it stays.
    async fn forget(&mut self, job: JobId) -> Result<()> {
        let services = &self.services.job_master;
        services.jobs.remove(job)?;
        if let Some(checkpoints) = &services.checkpoints {
            checkpoints.forget(job).await?;
        }
        let result = match self.services.directory.remove(job) {
            Some(removed) => {
                if let (true, Some(table)) = (removed.entry.options.table, removed.entry.options.relation) {
                    services.log.truncate(table, Epoch::MAX);
                }
                self.services.job_master.epochs.remove(job);
                let message = ForgetJob { token: self.services.job_master.token, job, relation: removed.entry.options.relation };
                self.services.executor.forget_job(message).await
            }
            None => Ok(()),
        };
        for waiting in self.removing.remove(&job).unwrap_or_default() {
            let _ = waiting.send(result.clone());
        }
        Ok(())
    }
}

impl Actor for Dispatcher {
    type Message = Message;

    async fn handle(&mut self, message: Message) -> Result<bool> {
        match message {
            Message::Submit(message, answer) => {
                let _ = answer.send(self.submit(*message));
            }
            Message::Recover(record, answer) => {
                let _ = answer.send(self.recover(*record).await);
            }
            Message::Control(message, control, answer) => {
                let _ = answer.send(self.control(message, control));
            }
            Message::Remove(message, answer) => self.remove(message, answer).await?,
            Message::Ended(message) => self.ended(message).await?,
        }
        Ok(true)
    }
}

impl Drop for Dispatcher {
    fn drop(&mut self) {
        for waiting in std::mem::take(&mut self.removing).into_values().flatten() {
            let _ = waiting.send(Err(shutting_down()));
        }
    }
}
