//! Starts, tells and reaps tasks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use millstream_runtime::task::{ExecutionState, FrozenTask, Task, TaskEvent, TaskHandle, TaskListener, TaskMetricsSnapshot, TaskServices};
use millstream_state::CheckpointStorage;
use millstream_types::faults::{Bug, crash_point, has_bug};
use millstream_types::{Error, ExecutionAttemptId, Result, SqlState, TaskManagerId};
use parking_lot::Mutex;

use super::TaskSlots;
use crate::gateway::{
    AllocateSlot, CommitSink, FencingToken, ForgetJob, FreeSlot, JobMasterLocator, PersistCheckpoint, PersistedTask, SubmitTask,
    TaskCommand, TaskExecutorGateway, TaskReport, TellTasks, UpdateTask,
};
use crate::job::SlotDetails;
use crate::spawn::TaskTracker;

/// One TaskManager's tasks.
pub(crate) struct TaskExecutor {
    token: FencingToken,
    services: TaskServices,
    job_masters: Arc<dyn JobMasterLocator>,
    tracker: Arc<TaskTracker>,
    /// Where checkpoints are written; `None` without.
    storage: Option<CheckpointStorage>,
    state: Mutex<State>,
    /// Itself, for the listeners of its tasks.
    this: Weak<TaskExecutor>,
}

struct State {
    slots: TaskSlots,
    tasks: BTreeMap<ExecutionAttemptId, RunningTask>,
    /// State that tasks have handed over and that was not written yet.
    frozen: BTreeMap<ExecutionAttemptId, FrozenTask>,
    /// Counters of tasks that have ended, until their job is forgotten.
    last_metrics: BTreeMap<ExecutionAttemptId, TaskMetricsSnapshot>,
}

/// A task; `handle` is absent for the moment between its admission and the return of its start.
#[derive(Default)]
struct RunningTask {
    handle: Option<Arc<TaskHandle>>,
    progress: Option<(u64, u64)>,
    /// It ended before its start returned.
    ended: bool,
    /// Commands that came before its start returned.
    early: Vec<TaskCommand>,
}

impl TaskExecutor {
    pub(crate) fn new(
        task_manager: TaskManagerId,
        slots: u32,
        token: FencingToken,
        services: TaskServices,
        storage: Option<CheckpointStorage>,
        job_masters: Arc<dyn JobMasterLocator>,
        tracker: Arc<TaskTracker>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this| TaskExecutor {
            token,
            services,
            storage,
            job_masters,
            tracker,
            state: Mutex::new(State {
                slots: TaskSlots::new(task_manager, slots),
                tasks: BTreeMap::new(),
                frozen: BTreeMap::new(),
                last_metrics: BTreeMap::new(),
            }),
            this: this.clone(),
        })
    }

    /// The slots with what is in them.
    pub(crate) fn slots(&self) -> Vec<SlotDetails> {
        self.state.lock().slots.details()
    }

    /// Cancels what still runs; the tracker waits for the threads.
    pub(crate) fn shutdown(&self) {
        let tasks = std::mem::take(&mut self.state.lock().tasks);
        for handle in tasks.into_values().filter_map(|t| t.handle) {
            handle.cancel();
            self.reap(handle);
        }
    }

    /// A thread is joined by one that may wait for it.
    fn reap(&self, handle: Arc<TaskHandle>) {
        self.tracker.blocking(move || handle.join());
    }

    fn report(&self, attempt: ExecutionAttemptId, report: TaskReport) {
        if let Some(job_master) = self.job_masters.job_master(attempt.vertex.job) {
            job_master.update_task(UpdateTask { token: self.token, attempt, report });
        }
    }

    /// Forgets a task that has ended.
    fn ended(&self, attempt: ExecutionAttemptId, with: ExecutionState) {
        let mut state = self.state.lock();
        state.slots.remove(attempt);
        if with != ExecutionState::Finished {
            state.frozen.remove(&attempt);
        }
        let Some(task) = state.tasks.get_mut(&attempt) else { return };
        task.ended = true;
        if let Some(handle) = task.handle.take() {
            state.tasks.remove(&attempt);
            state.last_metrics.insert(attempt, handle.metrics());
            if !state.tasks.keys().any(|a| a.vertex.job == attempt.vertex.job) {
                self.services.partitions.release_job(attempt.vertex.job);
            }
            drop(state);
            self.reap(handle);
        }
    }

    /// Remembers progress; `true` the first time that everything is out.
    fn progress(&self, attempt: ExecutionAttemptId, done: u64, total: u64) -> bool {
        let mut state = self.state.lock();
        let Some(task) = state.tasks.get_mut(&attempt) else { return false };
        let complete = |p: Option<(u64, u64)>| p.is_some_and(|(done, total)| done >= total);
        let before = task.progress.replace((done, total));
        complete(task.progress) && !complete(before)
    }

    /// The start returned: what happened meanwhile is made up for.
    fn started(&self, attempt: ExecutionAttemptId, handle: Arc<TaskHandle>) {
        let mut state = self.state.lock();
        let Some(task) = state.tasks.get_mut(&attempt) else {
            drop(state);
            handle.cancel();
            return self.reap(handle);
        };
        if task.ended {
            state.tasks.remove(&attempt);
            state.last_metrics.insert(attempt, handle.metrics());
            drop(state);
            return self.reap(handle);
        }
        for command in std::mem::take(&mut task.early) {
            tell(&handle, command);
        }
        task.handle = Some(handle);
    }
}

fn tell(handle: &TaskHandle, command: TaskCommand) {
    match command {
        TaskCommand::Tick(barrier) => handle.tick(barrier),
        TaskCommand::Cancel => handle.cancel(),
        TaskCommand::Pause => handle.set_paused(true),
        TaskCommand::Resume => handle.set_paused(false),
    }
}

impl TaskListener for TaskExecutor {
    fn event(&self, attempt: ExecutionAttemptId, event: TaskEvent) {
        match event {
            TaskEvent::StateChanged(state, failure) => {
                // The slot is free before the job can end for this.
                if state.is_terminal() {
                    self.ended(attempt, state);
                }
                self.report(attempt, TaskReport::StateChanged(state, failure));
            }
            TaskEvent::BarrierPassed(epoch) => self.report(attempt, TaskReport::BarrierPassed(epoch)),
            TaskEvent::TickWanted => self.report(attempt, TaskReport::TickWanted),
            TaskEvent::BackfillProgress { done, total } => {
                if self.progress(attempt, done, total) {
                    self.report(attempt, TaskReport::Backfilled);
                }
            }
        }
    }

    fn frozen(&self, attempt: ExecutionAttemptId, frozen: FrozenTask) {
        let epoch = frozen.epoch;
        self.state.lock().frozen.insert(attempt, frozen);
        self.report(attempt, TaskReport::Frozen(epoch));
    }
}

#[async_trait]
impl TaskExecutorGateway for TaskExecutor {
    async fn allocate_slot(&self, message: AllocateSlot) -> Result<()> {
        self.token.check(message.token)?;
        self.state.lock().slots.allocate(message.slot, message.allocation, message.group)
    }

    async fn free_slot(&self, message: FreeSlot) -> Result<()> {
        self.token.check(message.token)?;
        let mut state = self.state.lock();
        for attempt in state.slots.free(message.allocation) {
            if let Some(handle) = state.tasks.get(&attempt).and_then(|t| t.handle.as_ref()) {
                handle.cancel();
            }
        }
        Ok(())
    }

    async fn submit_task(&self, message: SubmitTask) -> Result<()> {
        self.token.check(message.token)?;
        let descriptor = message.descriptor;
        let attempt = descriptor.attempt;
        {
            let mut state = self.state.lock();
            state.slots.admit(attempt, descriptor.slot, descriptor.allocation)?;
            state.tasks.insert(attempt, RunningTask::default());
            state.frozen.retain(|a, _| a.vertex != attempt.vertex);
        }
        let listener = self.this.upgrade().ok_or_else(crate::job::shutting_down)?;
        match Task::spawn(descriptor, self.services.clone(), listener) {
            Ok(handle) => {
                self.started(attempt, Arc::new(handle));
                Ok(())
            }
            Err(error) => {
                let mut state = self.state.lock();
                state.slots.remove(attempt);
                state.tasks.remove(&attempt);
                Err(error)
            }
        }
    }

    fn tell_tasks(&self, message: TellTasks) {
        if !self.token.admits(message.token, "tell tasks") {
            return;
        }
        let mut state = self.state.lock();
        for attempt in &message.attempts {
            match state.tasks.get_mut(attempt) {
                Some(RunningTask { handle: Some(handle), .. }) => tell(handle, message.command),
                Some(starting) => starting.early.push(message.command),
                None => (),
            }
        }
    }

    async fn persist_checkpoint(&self, message: PersistCheckpoint) -> Result<Vec<PersistedTask>> {
        self.token.check(message.token)?;
        let storage = self.storage.clone().ok_or_else(|| Error::internal("a checkpoint without checkpoint storage"))?;
        let missing = |attempt| {
            Error::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, format!("attempt {attempt} has not handed over its state"))
                .with_detail(format!("Checkpoint {}.", message.epoch))
        };
        let tasks: Vec<(ExecutionAttemptId, FrozenTask)> = {
            let mut state = self.state.lock();
            let taken = message.attempts.iter().map(|a| {
                let of = state.frozen.remove(a).filter(|f| f.epoch == message.epoch);
                of.map(|f| (*a, f)).ok_or_else(|| missing(*a))
            });
            taken.collect::<Result<_>>()?
        };
        let file = message.file.clone();
        let written = tokio::task::spawn_blocking(move || super::segments::encode(&file, tasks)).await.map_err(Error::internal)??;
        crash_point("checkpoint-before-file");
        if !written.bytes.is_empty() && !has_bug(Bug::AckBeforeUpload) {
            storage.write(&message.file, written.bytes.into()).await?;
        }
        Ok(written.tasks)
    }

    async fn commit_sink(&self, message: CommitSink) -> Result<()> {
        self.token.check(message.token)?;
        let connectors = Arc::clone(&self.services.connectors);
        let commit = move || connectors.commit_sink(&message.sink, &message.committables);
        tokio::task::spawn_blocking(commit).await.map_err(Error::internal)?
    }

    async fn forget_job(&self, message: ForgetJob) -> Result<()> {
        self.token.check(message.token)?;
        let mut state = self.state.lock();
        state.frozen.retain(|attempt, _| attempt.vertex.job != message.job);
        state.slots.forget(message.job);
        state.last_metrics.retain(|attempt, _| attempt.vertex.job != message.job);
        drop(state);
        self.services.partitions.release_job(message.job);
        if let Some(relation) = message.relation {
            self.services.relations.drop_relation(relation);
        }
        Ok(())
    }

    fn metrics(&self, attempts: &[ExecutionAttemptId]) -> Vec<Option<TaskMetricsSnapshot>> {
        let state = self.state.lock();
        let of = |a: &ExecutionAttemptId| {
            let live = state.tasks.get(a).and_then(|t| t.handle.as_ref()).map(|h| h.metrics());
            live.or_else(|| state.last_metrics.get(a).cloned())
        };
        attempts.iter().map(of).collect()
    }

    fn backfill_progress(&self, attempt: ExecutionAttemptId) -> Option<(u64, u64)> {
        self.state.lock().tasks.get(&attempt)?.progress
    }
}

impl fmt::Debug for TaskExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskExecutor").finish_non_exhaustive()
    }
}
