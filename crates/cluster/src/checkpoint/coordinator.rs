//! The actor that persists and commits. One checkpoint is written at a time; what comes meanwhile waits in the mailbox, so that whoever asks
//! for a job's newest checkpoint gets it with everything published that belongs to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use millstream_graph::{OperatorSpec, SinkSpec};
use millstream_state::{CheckpointStorage, LogStore, MetadataStore, MetadataWrite};
use millstream_types::faults::{Bug, crash_point, has_bug};
use millstream_types::{Clock, Epoch, Error, ExecutionAttemptId, JobId, Result, SqlState};
use tokio::sync::{mpsc, oneshot};

use super::CHECKPOINT_KEYS;
use super::core::{AbortCause, Action, CheckpointCore, Event};
use super::history::{CheckpointHistory, CheckpointOverview, CheckpointStatus};
use super::record::JobCheckpoint;
use crate::dispatcher::JobDirectory;
use crate::epoch::EpochService;
use crate::gateway::{CheckpointNews, CommitSink, FencingToken, JobMasterGateway, PersistCheckpoint, PersistedTask, TaskExecutorGateway};
use crate::job::shutting_down;
use crate::spawn::{Actor, TaskTracker};

/// Messages that may wait. A job has at most one checkpoint under way, so this is what thousands of jobs can cause at once.
const MAILBOX_MESSAGES: usize = 65_536;
/// How often time-outs are looked for.
const TIMER: Duration = Duration::from_secs(1);

/// A job's tasks at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FrozenJob {
    /// Those that have handed over their state.
    pub(crate) attempts: Vec<ExecutionAttemptId>,
    /// All rows of its subscriptions' first snapshots were in.
    pub(crate) backfilled: bool,
}

/// What a job continues from.
pub(crate) type Recovered = Option<Arc<JobCheckpoint>>;

pub(crate) enum Message {
    Event(Event<FrozenJob>),
    Recover(JobId, oneshot::Sender<Result<Recovered>>),
    Forget(JobId, oneshot::Sender<Result<()>>),
}

/// What the coordinator works with.
pub(crate) struct CheckpointServices {
    pub(crate) token: FencingToken,
    pub(crate) metadata: Arc<dyn MetadataStore>,
    pub(crate) storage: CheckpointStorage,
    pub(crate) executor: Arc<dyn TaskExecutorGateway>,
    pub(crate) epochs: EpochService,
    pub(crate) directory: Arc<JobDirectory>,
    pub(crate) log: Arc<dyn LogStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) history: Arc<CheckpointHistory>,
    /// Time after which a checkpoint is given up.
    pub(crate) timeout: Duration,
}

/// The coordinator's mailbox as others hold it.
#[derive(Clone, Debug)]
pub(crate) struct CheckpointClient {
    mailbox: mpsc::Sender<Message>,
}

/// Persists and commits checkpoints.
pub(crate) struct CheckpointCoordinator {
    core: CheckpointCore<FrozenJob>,
    services: CheckpointServices,
    newest: BTreeMap<JobId, Arc<JobCheckpoint>>,
    /// Jobs whose sinks have prepared something in their newest checkpoint that could not be published.
    unpublished: BTreeSet<JobId>,
}

impl CheckpointClient {
    /// A client and the mailbox that [`CheckpointCoordinator::start`] takes.
    pub(crate) fn new() -> (Self, CheckpointMailbox) {
        let (mailbox, messages) = mpsc::channel(MAILBOX_MESSAGES);
        (CheckpointClient { mailbox }, CheckpointMailbox(messages))
    }

    fn tell(&self, event: Event<FrozenJob>) {
        match self.mailbox.try_send(Message::Event(event)) {
            // The cluster ends.
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => (),
            Err(mpsc::error::TrySendError::Full(_)) => tracing::error!("the mailbox of the checkpoint coordinator is full: message lost"),
        }
    }

    /// The clock has sent a checkpoint's ticks.
    pub(crate) fn triggered(&self, epoch: Epoch, jobs: Vec<JobId>) {
        self.tell(Event::Triggered { epoch, jobs });
    }

    /// All tasks of a job have handed over.
    pub(crate) fn frozen(&self, job: JobId, epoch: Epoch, frozen: FrozenJob) {
        self.tell(Event::Frozen { job, epoch, frozen });
    }

    /// A job's tasks are no more.
    pub(crate) fn gone(&self, job: JobId) {
        self.tell(Event::Gone { job });
    }

    /// The newest checkpoint of a job, with all that its sinks prepared up to there published.
    pub(crate) async fn recover(&self, job: JobId) -> Result<Recovered> {
        self.ask(|answer| Message::Recover(job, answer)).await
    }

    /// Removes a job's checkpoints.
    pub(crate) async fn forget(&self, job: JobId) -> Result<()> {
        self.ask(|answer| Message::Forget(job, answer)).await
    }

    async fn ask<T>(&self, message: impl FnOnce(oneshot::Sender<Result<T>>) -> Message) -> Result<T> {
        let (tell, answer) = oneshot::channel();
        self.mailbox.send(message(tell)).await.map_err(|_| shutting_down())?;
        answer.await.map_err(|_| shutting_down())?
    }
}

/// What the coordinator will read.
pub(crate) struct CheckpointMailbox(mpsc::Receiver<Message>);

impl CheckpointCoordinator {
    /// Reads what is durable, removes files that belong to nothing, and starts the actor. Checkpoints of jobs that are not `live` are
    /// removed: their jobs were dropped.
    ///
    /// # Errors
    /// XX001 for metadata that cannot be read, 58030.
    pub(crate) async fn start(
        services: CheckpointServices,
        mailbox: CheckpointMailbox,
        live: &BTreeSet<JobId>,
        tracker: &TaskTracker,
    ) -> Result<()> {
        let mut newest = BTreeMap::new();
        let mut dropped = vec![];
        for (key, metadata) in services.metadata.scan(CHECKPOINT_KEYS)? {
            let checkpoint = JobCheckpoint::decode(&key, &metadata.value)?;
            if live.contains(&checkpoint.job) {
                newest.insert(checkpoint.job, Arc::new(checkpoint));
            } else {
                dropped.push(MetadataWrite::Delete(key));
            }
        }
        if !dropped.is_empty() {
            services.metadata.commit(&[], dropped)?;
        }
        let needed: BTreeSet<&str> = newest.values().flat_map(|c| c.files()).collect();
        let unneeded = services.storage.list().await?.into_iter().filter(|f| !needed.contains(f.as_str())).collect();
        services.storage.delete(unneeded).await?;
        let core = CheckpointCore::new(services.timeout);
        tracker.actor(
            "checkpoint coordinator",
            CheckpointCoordinator { core, services, newest, unpublished: BTreeSet::new() },
            mailbox.0,
            Some(TIMER),
        )
    }

    async fn perform(&mut self, actions: Vec<Action<FrozenJob>>) {
        for action in actions {
            match action {
                Action::Persist { epoch, started, jobs } => {
                    if let Err(error) = self.persist(epoch, started, &jobs).await {
                        tracing::warn!(epoch, %error, "checkpoint failed");
                        self.failed(epoch, started, jobs.keys().copied().collect(), &error);
                    }
                }
                Action::Abort { epoch, started, jobs, cause } => {
                    let error = match cause {
                        AbortCause::Gone(job) => Error::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, format!("{job} was stopped")),
                        AbortCause::Timeout => Error::new(SqlState::QUERY_CANCELED, "the checkpoint took too long")
                            .with_detail(format!("It was given up after {:?}.", self.services.timeout)),
                    };
                    self.failed(epoch, started, jobs, &error);
                }
            }
        }
    }

    fn job_master(&self, job: JobId) -> Option<impl JobMasterGateway + use<>> {
        self.services.directory.get(job).map(|j| j.job_master)
    }

    fn failed(&self, epoch: Epoch, started: Duration, jobs: Vec<JobId>, error: &Error) {
        for job in &jobs {
            self.services.history.add(*job, self.overview(*job, epoch, started, CheckpointStatus::Failed(error.clone()), &[]));
            if let Some(job_master) = self.job_master(*job) {
                job_master.checkpoint(CheckpointNews { token: self.services.token, epoch, durable: None });
            }
        }
        self.services.epochs.not_saved(&jobs, epoch);
    }

    fn overview(
        &self,
        job: JobId,
        epoch: Epoch,
        started: Duration,
        status: CheckpointStatus,
        tasks: &[PersistedTask],
    ) -> CheckpointOverview {
        let newest = self.newest.get(&job);
        let segments = tasks.iter().flat_map(|t| &t.operators).filter_map(|o| o.segment.as_ref());
        CheckpointOverview {
            epoch,
            status,
            end_time_micros: self.services.clock.unix_micros(),
            duration: self.services.clock.monotonic().saturating_sub(started),
            sync: tasks.iter().map(|t| t.sync).max().unwrap_or_default(),
            written_bytes: segments.map(|s| s.len).sum(),
            state_bytes: newest.map_or(0, |c| c.bytes()),
            keys: newest.map_or(0, |c| c.subtasks().map(|s| s.keys).sum()),
        }
    }

    /// Writes the state of a group of jobs, makes it durable with one record for all of them, then lets everybody know.
    async fn persist(&mut self, epoch: Epoch, started: Duration, jobs: &BTreeMap<JobId, FrozenJob>) -> Result<()> {
        for job in jobs.keys() {
            if self.unpublished.contains(job) {
                self.recover(*job).await?;
                self.unpublished.remove(job);
            }
        }
        let services = &self.services;
        let first = jobs.keys().next().map_or(0, |j| j.0);
        let attempts = jobs.values().flat_map(|f| f.attempts.iter().copied()).collect();
        let message = PersistCheckpoint { token: services.token, epoch, file: format!("{epoch:020}-{first}.segments"), attempts };
        crash_point("checkpoint-frozen");
        let tasks = services.executor.persist_checkpoint(message).await?;
        crash_point("checkpoint-after-file");
        let mut by_job: BTreeMap<JobId, Vec<PersistedTask>> = jobs.keys().map(|job| (*job, vec![])).collect();
        for task in tasks {
            by_job.entry(task.attempt.vertex.job).or_default().push(task);
        }
        let mut next = vec![];
        for (job, frozen) in jobs {
            let tasks = by_job.get(job).map_or(&[][..], Vec::as_slice);
            let before = self.newest.get(job).map(AsRef::as_ref);
            next.push(Arc::new(JobCheckpoint::next(before, *job, epoch, frozen.backfilled, tasks)));
        }
        let puts = next.iter().map(|c| Ok(MetadataWrite::Put(JobCheckpoint::key(c.job), c.encode()?))).collect::<Result<Vec<_>>>()?;
        let metadata = Arc::clone(&services.metadata);
        tokio::task::spawn_blocking(move || metadata.commit(&[], puts)).await.map_err(Error::internal)??;
        crash_point("checkpoint-committed");
        // From here on it is there, whatever happens.
        let replaced: Vec<_> = next.iter().filter_map(|c| self.newest.insert(c.job, Arc::clone(c))).collect();
        for checkpoint in &next {
            let job = checkpoint.job;
            let tasks = by_job.get(&job).map_or(&[][..], Vec::as_slice);
            self.services.history.add(job, self.overview(job, epoch, started, CheckpointStatus::Completed, tasks));
            self.truncate(job, epoch);
            let published = self.publish(checkpoint).await;
            crash_point("checkpoint-published");
            if let Err(error) = &published {
                tracing::error!(%job, %error, "what a sink has prepared cannot be published");
                self.unpublished.insert(job);
            }
            if let Some(job_master) = self.job_master(job) {
                let durable = published.is_ok().then(|| checkpoint.as_ref().clone());
                job_master.checkpoint(CheckpointNews { token: self.services.token, epoch, durable });
            }
        }
        self.services.epochs.saved(&jobs.keys().copied().collect::<Vec<_>>(), epoch);
        self.sweep(&replaced).await;
        Ok(())
    }

    /// A table that has its rows in a checkpoint needs their log records no more.
    fn truncate(&self, job: JobId, epoch: Epoch) {
        let entry = self.services.directory.get(job).map(|j| j.entry);
        if let Some(table) = entry.filter(|e| e.options.table).and_then(|e| e.options.relation) {
            let ahead = if has_bug(Bug::TruncateEarly) { Epoch::MAX } else { epoch };
            self.services.log.truncate(table, ahead);
        }
    }

    /// Publishes what the sinks of a job have prepared.
    async fn publish(&self, checkpoint: &JobCheckpoint) -> Result<()> {
        let Some(job) = self.services.directory.get(checkpoint.job) else { return Ok(()) };
        for (operator, state) in &checkpoint.operators {
            let committables: Vec<Vec<u8>> = state.subtasks.values().flat_map(|s| s.committables.iter().cloned()).collect();
            if committables.is_empty() {
                continue;
            }
            let node = job.entry.stream_graph.nodes.iter().find(|n| n.id == *operator);
            let sink: Option<&SinkSpec> = node.and_then(|n| if let OperatorSpec::Sink(sink) = &n.spec { Some(sink) } else { None });
            let sink = sink.ok_or_else(|| Error::internal(format!("{operator} prepared something to publish and is no sink")))?.clone();
            self.services.executor.commit_sink(CommitSink { token: self.services.token, sink, committables }).await?;
        }
        Ok(())
    }

    /// Removes files that were needed and are no more. What is left by a failure here goes at the next start.
    async fn sweep(&self, replaced: &[Arc<JobCheckpoint>]) {
        let candidates: BTreeSet<&str> = replaced.iter().flat_map(|c| c.files()).collect();
        if candidates.is_empty() {
            return;
        }
        let needed: BTreeSet<&str> = self.newest.values().flat_map(|c| c.files()).collect();
        let unneeded = candidates.difference(&needed).map(|f| (*f).to_owned()).collect();
        if let Err(error) = self.services.storage.delete(unneeded).await {
            tracing::warn!(%error, "files of old checkpoints cannot be removed");
        }
    }

    async fn recover(&self, job: JobId) -> Result<Recovered> {
        let newest = self.newest.get(&job).cloned();
        if let Some(checkpoint) = &newest {
            self.publish(checkpoint).await?;
        }
        Ok(newest)
    }

    async fn forget(&mut self, job: JobId) -> Result<()> {
        self.services.metadata.commit(&[], vec![MetadataWrite::Delete(JobCheckpoint::key(job))])?;
        self.services.history.remove(job);
        let removed: Vec<_> = self.newest.remove(&job).into_iter().collect();
        self.sweep(&removed).await;
        Ok(())
    }
}

impl Actor for CheckpointCoordinator {
    type Message = Message;

    async fn handle(&mut self, message: Message) -> Result<bool> {
        // An asker that has gone needs no answer.
        match message {
            Message::Event(event) => {
                let actions = self.core.on(event, self.services.clock.monotonic());
                self.perform(actions).await;
            }
            Message::Recover(job, answer) => {
                let _ = answer.send(self.recover(job).await);
            }
            Message::Forget(job, answer) => {
                let _ = answer.send(self.forget(job).await);
            }
        }
        Ok(true)
    }

    async fn on_timer(&mut self) -> Result<()> {
        let actions = self.core.on_time(self.services.clock.monotonic());
        self.perform(actions).await;
        Ok(())
    }
}
