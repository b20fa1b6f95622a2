//! The clock for everybody else: a lock around the state machine, and what its actions mean.
//!
//! It is no actor: a reader's call closes the epoch and hands the tick to every JobMaster in the caller's own thread, which is what
//! makes INSERT, then SELECT, a matter of microseconds. The lock is held for the state machine and for non-blocking sends only, and so
//! are ticks to one JobMaster always in order.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use millstream_state::{LogPosition, LogRecord, LogStore, wait_durable};
use millstream_types::{ChangeBatch, Clock, Epoch, Error, HoldId, JobId, RelationId, Result};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use super::core::{Action, EpochCore, ReadMode, ReadRequest};
use super::job::Phase;
use super::{JobRegistration, ReadLease};
use crate::checkpoint::CheckpointClient;
use crate::gateway::{FencingToken, JobMasterGateway, TickJob};
use crate::spawn::{Actor, TaskTracker};

/// How fresh a read is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Isolation {
    /// Sees every acknowledged change, and nothing older than anybody saw before.
    #[default]
    StrictSerializable,
    /// The newest epoch that all relations have, without waiting.
    Latest,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// All input was read.
    Finished,
    /// With this cause.
    Failed(Error),
    /// By a user.
    Canceled,
}

/// Hands out epochs, ticks and leases. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EpochService {
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    state: Mutex<State>,
    clock: Arc<dyn Clock>,
    log: Arc<dyn LogStore>,
    token: FencingToken,
    checkpoints: Option<CheckpointClient>,
}

struct State {
    core: EpochCore,
    job_masters: BTreeMap<JobId, Arc<dyn JobMasterGateway>>,
    waiting: HashMap<HoldId, oneshot::Sender<Result<Epoch>>>,
    ticks_sent: u64,
}

impl EpochService {
    /// `first` is the first epoch; `checkpoints` is told of those that begin, if there are any.
    pub(crate) fn new(
        clock: Arc<dyn Clock>,
        log: Arc<dyn LogStore>,
        token: FencingToken,
        max_hold_age: Duration,
        first: Epoch,
        checkpoints: Option<CheckpointClient>,
    ) -> Self {
        let core = EpochCore::new(first, checkpoints.is_some(), max_hold_age);
        let state = State { core, job_masters: BTreeMap::new(), waiting: HashMap::new(), ticks_sent: 0 };
        EpochService { shared: Arc::new(Shared { state: Mutex::new(state), clock, log, token, checkpoints }) }
    }

    /// The newest closed epoch: none served to anybody is newer.
    pub fn current(&self) -> Epoch {
        self.shared.state.lock().core.closed()
    }

    /// The epoch that changes go into now.
    pub fn open_epoch(&self) -> Epoch {
        self.shared.state.lock().core.open()
    }

    /// Ticks sent to jobs since the start, for tests and metrics.
    pub fn ticks_sent(&self) -> u64 {
        self.shared.state.lock().ticks_sent
    }

    /// Readers that wait, and readers that hold an epoch.
    pub fn readers(&self) -> (usize, usize) {
        self.shared.state.lock().core.readers()
    }

    /// A hold on an epoch at which all relations of `jobs` are readable. Waits for a tick if one is needed. Dropping the future leaves
    /// nothing behind.
    ///
    /// # Errors
    /// 55000 if a needed job, or one that it reads from, is not running, is paused or is still being filled.
    pub async fn read(&self, jobs: &[JobId], isolation: Isolation) -> Result<ReadLease> {
        let mode = match isolation {
            Isolation::StrictSerializable => ReadMode::Strict,
            Isolation::Latest => ReadMode::Latest,
        };
        self.wait(jobs, mode).await
    }

    /// A strictly serializable read that also cuts all other relations where it can, so that later statements of the same transaction
    /// can read those at the same epoch with [`EpochService::read_at`].
    ///
    /// # Errors
    /// As [`EpochService::read`].
    pub async fn read_snapshot(&self, jobs: &[JobId]) -> Result<ReadLease> {
        self.wait(jobs, ReadMode::Snapshot).await
    }

    /// A hold on an epoch that the caller already holds, once the relations of `jobs` have it.
    ///
    /// # Errors
    /// As [`EpochService::read`]; 40001 if one of them was not cut at that epoch and has changed since.
    pub async fn read_at(&self, jobs: &[JobId], held: &ReadLease) -> Result<ReadLease> {
        self.wait(jobs, ReadMode::At(held.epoch())).await
    }

    /// Waits until a job is readable for the first time.
    ///
    /// # Errors
    /// 55000 if it, or a job that it reads from, cannot go on.
    pub async fn wait_filled(&self, job: JobId) -> Result<()> {
        let (answer, lease) = self.shared.ask(|core, out| core.wait_filled(job, out));
        let result = answer.await.map_err(|_| crate::job::shutting_down());
        drop(lease);
        result?.map(|_| ())
    }

    async fn wait(&self, jobs: &[JobId], mode: ReadMode) -> Result<ReadLease> {
        let request = ReadRequest { jobs: jobs.to_vec(), mode };
        let (answer, lease) = self.shared.ask(|core, out| core.read(request, out));
        let epoch = answer.await.map_err(|_| crate::job::shutting_down())??;
        Ok(lease.at(epoch))
    }

    /// The newest readable epoch of one job, held, without waiting.
    pub(crate) fn hold_newest(&self, job: JobId) -> Result<ReadLease> {
        let (hold, epoch) = self.shared.state.lock().core.hold_newest(job)?;
        Ok(ReadLease::new(Arc::clone(&self.shared), hold).at(epoch))
    }

    /// The oldest epoch that a reader or transaction holds; the open one if there is none.
    pub(crate) fn oldest_hold(&self) -> Epoch {
        self.shared.state.lock().core.oldest_hold()
    }

    /// Appends one transaction in the open epoch. The lock makes the epoch of a record and the close of an epoch one order.
    /// Its position says when it is durable.
    pub(crate) fn append(&self, jobs: &[JobId], changes: Vec<(RelationId, ChangeBatch)>) -> Result<(Epoch, LogPosition)> {
        let mut state = self.shared.state.lock();
        for job in jobs {
            state.core.accepts_changes(*job)?;
        }
        let epoch = state.core.open();
        let position = self.shared.log.append(LogRecord { epoch, changes })?;
        for job in jobs {
            state.core.appended(*job);
        }
        Ok((epoch, position))
    }

    /// Waits until a record is durable.
    pub(crate) async fn wait_durable(&self, position: LogPosition) -> Result<()> {
        wait_durable(self.shared.log.as_ref(), position).await
    }

    /// The tick interval is over.
    pub(crate) fn interval(&self) {
        self.shared.event(|core, out| core.interval(out));
    }

    pub(crate) fn register(&self, registration: JobRegistration, job_master: Arc<dyn JobMasterGateway>) -> Result<()> {
        let mut state = self.shared.state.lock();
        let job = registration.job;
        state.core.register(registration)?;
        state.job_masters.insert(job, job_master);
        Ok(())
    }

    /// The checkpoint interval is over.
    pub(crate) fn checkpoint(&self) {
        self.shared.event(|core, out| core.checkpoint(out));
    }

    /// A checkpoint of these jobs is durable.
    pub(crate) fn saved(&self, jobs: &[JobId], epoch: Epoch) {
        self.shared.event(|core, out| core.saved(jobs, epoch, out));
    }

    /// A checkpoint of these jobs was given up.
    pub(crate) fn not_saved(&self, jobs: &[JobId], epoch: Epoch) {
        self.shared.event(|core, out| core.not_saved(jobs, epoch, out));
    }

    /// The job runs again from its newest checkpoint, or `from_scratch`.
    pub(crate) fn restarting(&self, job: JobId, from_scratch: bool) {
        self.shared.event(|core, out| core.restarting(job, from_scratch, out));
    }

    pub(crate) fn started(&self, job: JobId) {
        self.shared.event(|core, out| core.started(job, out));
    }

    pub(crate) fn backfilled(&self, job: JobId) {
        self.shared.event(|core, out| core.backfilled(job, out));
    }

    pub(crate) fn want_tick(&self, job: JobId) {
        self.shared.event(|core, out| core.want_tick(job, out));
    }

    pub(crate) fn completed(&self, job: JobId, epoch: Epoch) {
        self.shared.event(|core, out| core.completed(job, epoch, out));
    }

    pub(crate) fn set_paused(&self, job: JobId, paused: bool) {
        self.shared.event(|core, out| core.set_paused(job, paused, out));
    }

    pub(crate) fn ended(&self, job: JobId, end: JobEnd) {
        let phase = match end {
            JobEnd::Finished => Phase::Finished,
            JobEnd::Failed(cause) => Phase::Failed(cause),
            JobEnd::Canceled => Phase::Canceled,
        };
        self.shared.event(|core, out| core.ended(job, phase, out));
    }

    pub(crate) fn remove(&self, job: JobId) {
        self.shared.event(|core, out| core.remove(job, out));
        self.shared.state.lock().job_masters.remove(&job);
    }

    /// Refuses all that waits: the cluster ends.
    pub(crate) fn close(&self) {
        self.shared.state.lock().waiting.clear();
    }
}

impl Shared {
    /// Lets a reader in: where its answer will arrive, and the guard that takes it out again.
    fn ask(
        self: &Arc<Self>,
        event: impl FnOnce(&mut EpochCore, &mut Vec<Action>) -> HoldId,
    ) -> (oneshot::Receiver<Result<Epoch>>, ReadLease) {
        let mut state = self.state.lock();
        state.core.set_now(self.clock.monotonic());
        let mut actions = vec![];
        let hold = event(&mut state.core, &mut actions);
        let (tell, answer) = oneshot::channel();
        state.waiting.insert(hold, tell);
        self.perform(&mut state, actions);
        (answer, ReadLease::new(Arc::clone(self), hold))
    }

    fn event(&self, event: impl FnOnce(&mut EpochCore, &mut Vec<Action>)) {
        let mut state = self.state.lock();
        state.core.set_now(self.clock.monotonic());
        let mut actions = vec![];
        event(&mut state.core, &mut actions);
        self.perform(&mut state, actions);
    }

    fn perform(&self, state: &mut State, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Tick { job, barrier } => {
                    state.ticks_sent += 1;
                    if let Some(job_master) = state.job_masters.get(&job) {
                        job_master.tick(TickJob { token: self.token, job, barrier });
                    }
                }
                Action::Ready { hold, epoch } => answer(state, hold, Ok(epoch)),
                Action::Refuse { hold, error } => answer(state, hold, Err(error)),
                Action::Checkpoint { epoch, jobs } => {
                    if let Some(checkpoints) = &self.checkpoints {
                        checkpoints.triggered(epoch, jobs);
                    }
                }
            }
        }
    }

    pub(super) fn release(&self, hold: HoldId) {
        let mut state = self.state.lock();
        state.core.release(hold);
        state.waiting.remove(&hold);
    }
}

fn answer(state: &mut State, hold: HoldId, result: Result<Epoch>) {
    if let Some(reader) = state.waiting.remove(&hold) {
        // A reader that has gone releases its hold itself.
        let _ = reader.send(result);
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EpochService").finish_non_exhaustive()
    }
}

/// Ticks all jobs that have something to do, at a fixed interval.
pub(crate) struct EpochTimer {
    epochs: EpochService,
    /// Ticks between two checkpoints, and since the last one.
    checkpoint_every: Option<u32>,
    since_checkpoint: u32,
    /// Keeps its mailbox open, which nobody writes to.
    _mailbox: mpsc::Sender<Infallible>,
}

impl EpochTimer {
    /// `checkpoint_every` is in ticks.
    pub(crate) fn start(epochs: &EpochService, interval: Duration, checkpoint_every: Option<u32>, tracker: &TaskTracker) -> Result<()> {
        let (mailbox, messages) = mpsc::channel(1);
        let actor = EpochTimer { epochs: epochs.clone(), checkpoint_every, since_checkpoint: 0, _mailbox: mailbox };
        tracker.actor("epoch timer", actor, messages, Some(interval))
    }
}

impl Actor for EpochTimer {
    type Message = Infallible;

    async fn handle(&mut self, message: Infallible) -> Result<bool> {
        match message {}
    }

    async fn on_timer(&mut self) -> Result<()> {
        self.since_checkpoint += 1;
        if self.checkpoint_every.is_some_and(|every| self.since_checkpoint >= every) {
            self.since_checkpoint = 0;
            self.epochs.checkpoint();
        }
        self.epochs.interval();
        Ok(())
    }
}
