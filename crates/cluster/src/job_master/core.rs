//! A job as a state machine: events in, actions out.

mod checkpoints;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use millstream_graph::OperatorSpec;
use millstream_runtime::task::{ExecutionState, TaskConfig, TaskDeploymentDescriptor};
use millstream_types::{Barrier, Epoch, Error, ExecutionAttemptId, Result};

use self::checkpoints::Checkpoints;
use super::execution_graph::{ExecutionGraph, StartFrom};
use super::restart::{RestartStrategy, Restarts};
use crate::checkpoint::JobCheckpoint;
use crate::gateway::{JobControl, SlotGrant, SlotRequirement, TaskCommand, TaskReport};
use crate::job::JobStatus;

/// What happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// Go.
    Start,
    /// The ResourceManager's answer.
    Slots(Result<Vec<SlotGrant>>),
    /// A task could not be handed to its TaskExecutor.
    DeployFailed { attempt: ExecutionAttemptId, error: Error },
    /// A task says something.
    Task { attempt: ExecutionAttemptId, report: TaskReport },
    /// The clock ticks.
    Tick(Barrier),
    /// Somebody wants something.
    Control(JobControl),
    /// A checkpoint is durable.
    Checkpointed(Arc<JobCheckpoint>),
    /// A checkpoint was given up.
    CheckpointAborted(Epoch),
    /// The delay before a restart is over; the job's newest checkpoint, if there is one.
    Restart(Result<Option<Arc<JobCheckpoint>>>),
}

/// What is to be done, in this order.
#[derive(Debug)]
pub(super) enum Action {
    /// Ask for slots; the answer is [`Event::Slots`].
    RequestSlots(Vec<SlotRequirement>),
    /// Hand a task to its TaskExecutor.
    Deploy(Box<TaskDeploymentDescriptor>),
    /// Tell tasks.
    Tell { attempts: Vec<ExecutionAttemptId>, command: TaskCommand },
    /// The job is in another state.
    Status(JobStatus),
    /// All tasks run: ticks may come.
    Started,
    /// The tick of this epoch is done.
    Completed(Epoch),
    /// A source wants a tick.
    WantTick,
    /// All subscriptions have handed out their first snapshots.
    Backfilled,
    /// Sources rest or go on.
    Paused(bool),
    /// All tasks have handed over their state for a checkpoint.
    Frozen { epoch: Epoch, attempts: Vec<ExecutionAttemptId>, backfilled: bool },
    /// What was under way is lost; new attempts follow.
    Restarting { from_scratch: bool },
    /// After this delay, [`Event::Restart`].
    RestartAfter(Duration),
}

/// Where a restart is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Restart {
    /// Tasks stop; then this delay.
    Stopping(Duration),
    /// The delay.
    Waiting,
    /// New attempts start.
    Deploying,
}

/// A tick under way and the tasks whose acknowledgement it lacks.
#[derive(Debug)]
struct PendingTick {
    epoch: Epoch,
    missing: BTreeSet<ExecutionAttemptId>,
}

/// A job.
#[derive(Debug)]
pub(super) struct JobMasterCore {
    config: TaskConfig,
    status: JobStatus,
    paused: bool,
    cause: Option<Error>,
    pending: VecDeque<PendingTick>,
    /// Subscription tasks whose first snapshot is not out yet.
    backfilling: BTreeSet<ExecutionAttemptId>,
    told_backfilled: bool,
    restarts: Restarts,
    restart: Option<Restart>,
    start_from: StartFrom,
    /// `None` where state is not made durable.
    checkpoints: Option<Checkpoints>,
    /// Reports of attempts that are not current, refused.
    pub(super) refused: u64,
}

impl JobMasterCore {
    pub(super) fn new(graph: &ExecutionGraph, config: TaskConfig, strategy: RestartStrategy) -> Self {
        let backfilling = subscriptions(graph);
        let checkpoints = config.checkpoints.then(Checkpoints::default);
        JobMasterCore {
            restarts: Restarts::new(strategy),
            restart: None,
            start_from: StartFrom::Nothing,
            checkpoints,
            config,
            status: JobStatus::Created,
            paused: false,
            cause: None,
            pending: VecDeque::new(),
            backfilling,
            told_backfilled: false,
            refused: 0,
        }
    }

    /// A job of an earlier process, which continues from its newest checkpoint.
    pub(super) fn recovered(
        graph: &ExecutionGraph,
        config: TaskConfig,
        strategy: RestartStrategy,
        newest: Option<Arc<JobCheckpoint>>,
        paused: bool,
    ) -> Self {
        let mut core = JobMasterCore::new(graph, config, strategy);
        core.status = JobStatus::Restarting;
        core.restart = Some(Restart::Deploying);
        core.paused = paused;
        core.start_again(graph, newest);
        core
    }

    fn start_again(&mut self, graph: &ExecutionGraph, newest: Option<Arc<JobCheckpoint>>) {
        self.backfilling = subscriptions(graph);
        self.told_backfilled = newest.as_ref().is_some_and(|c| c.backfilled);
        self.start_from = newest.clone().map_or(StartFrom::Beginning, StartFrom::Checkpoint);
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.newest = newest;
            checkpoints.freezing = None;
        }
    }

    pub(super) fn status(&self) -> JobStatus {
        self.status
    }

    pub(super) fn cause(&self) -> Option<&Error> {
        self.cause.as_ref()
    }

    /// Takes an event. The graph is shared with readers of the job's details, so it is lent for the call.
    pub(super) fn on(&mut self, graph: &mut ExecutionGraph, event: Event) -> Vec<Action> {
        let mut out = vec![];
        match event {
            Event::Start => out.push(Action::RequestSlots(graph.slot_requirements())),
            Event::Slots(answer) => self.slots(graph, answer, &mut out),
            Event::DeployFailed { attempt, error } => self.task_state(graph, attempt, ExecutionState::Failed, Some(error), &mut out),
            Event::Task { attempt, report } => self.report(graph, attempt, report, &mut out),
            Event::Tick(barrier) => self.tick(graph, barrier, &mut out),
            Event::Control(control) => self.control(graph, control, &mut out),
            Event::Checkpointed(checkpoint) => self.checkpointed(graph, checkpoint, &mut out),
            Event::CheckpointAborted(epoch) => self.checkpoint_aborted(graph, epoch, &mut out),
            Event::Restart(newest) => self.start_attempts(graph, newest, &mut out),
        }
        out
    }

    fn slots(&mut self, graph: &mut ExecutionGraph, answer: Result<Vec<SlotGrant>>, out: &mut Vec<Action>) {
        if self.status != JobStatus::Created && self.restart != Some(Restart::Deploying) {
            return;
        }
        if let Err(error) = answer.and_then(|grants| graph.assign_slots(&grants)) {
            return self.fail(graph, error, out);
        }
        self.deploy(graph, out);
    }

    /// The delay is over.
    fn start_attempts(&mut self, graph: &mut ExecutionGraph, newest: Result<Option<Arc<JobCheckpoint>>>, out: &mut Vec<Action>) {
        if self.restart != Some(Restart::Waiting) {
            return;
        }
        self.restart = Some(Restart::Deploying);
        match newest {
            Ok(newest) => {
                graph.restart();
                self.start_again(graph, newest);
                if graph.executions().any(|e| e.slot.is_none()) {
                    out.push(Action::RequestSlots(graph.slot_requirements()));
                } else {
                    self.deploy(graph, out);
                }
            }
            Err(error) => self.fail(graph, error, out),
        }
    }

    fn deploy(&mut self, graph: &mut ExecutionGraph, out: &mut Vec<Action>) {
        match graph.deployments(&self.config, &self.start_from) {
            Ok(deployments) => {
                for descriptor in deployments {
                    self.enter(graph, descriptor.attempt, ExecutionState::Scheduled);
                    self.enter(graph, descriptor.attempt, ExecutionState::Deploying);
                    out.push(Action::Deploy(Box::new(descriptor)));
                }
            }
            Err(error) => self.fail(graph, error, out),
        }
    }

    /// A transition that the JobMaster makes itself.
    fn enter(&mut self, graph: &mut ExecutionGraph, attempt: ExecutionAttemptId, state: ExecutionState) {
        if let Some(execution) = graph.execution_mut(attempt)
            && let Err(error) = execution.transition(state, None)
        {
            tracing::error!(%error, "transition refused");
        }
    }

    fn report(&mut self, graph: &mut ExecutionGraph, attempt: ExecutionAttemptId, report: TaskReport, out: &mut Vec<Action>) {
        if graph.execution_mut(attempt).is_none() {
            self.refused += 1;
            tracing::warn!(%attempt, "report of a replaced attempt dropped");
            return;
        }
        match report {
            TaskReport::StateChanged(state, failure) => self.task_state(graph, attempt, state, failure, out),
            TaskReport::BarrierPassed(epoch) => {
                for tick in self.pending.iter_mut().filter(|t| t.epoch <= epoch) {
                    tick.missing.remove(&attempt);
                }
                self.complete_ticks(out);
            }
            TaskReport::Frozen(epoch) => self.frozen(epoch, attempt, out),
            TaskReport::TickWanted => out.push(Action::WantTick),
            TaskReport::Backfilled => self.backfilled(attempt, out),
        }
    }

    fn backfilled(&mut self, attempt: ExecutionAttemptId, out: &mut Vec<Action>) {
        self.backfilling.remove(&attempt);
        if self.backfilling.is_empty() && self.status == JobStatus::Running && !self.told_backfilled {
            self.told_backfilled = true;
            out.push(Action::Backfilled);
        }
    }

    fn task_state(
        &mut self,
        graph: &mut ExecutionGraph,
        attempt: ExecutionAttemptId,
        state: ExecutionState,
        failure: Option<Error>,
        out: &mut Vec<Action>,
    ) {
        let Some(execution) = graph.execution_mut(attempt) else { return };
        match execution.transition(state, failure.clone()) {
            Ok(false) => return,
            Ok(true) => (),
            Err(error) => return self.fail(graph, error, out),
        }
        match state {
            ExecutionState::Failed => {
                let cause = failure.unwrap_or_else(|| Error::internal("a task failed without a cause"));
                let place = graph.describe(attempt.vertex);
                let detail = cause.detail().map_or_else(|| format!("In {place}."), |d| format!("{d} In {place}."));
                self.fail(graph, cause.with_detail(detail), out);
            }
            ExecutionState::Finished => {
                self.pending.iter_mut().for_each(|tick| {
                    tick.missing.remove(&attempt);
                });
                self.backfilled(attempt, out);
                self.complete_ticks(out);
            }
            _ => (),
        }
        self.settle(graph, out);
    }

    /// What follows from the states of all tasks together.
    fn settle(&mut self, graph: &ExecutionGraph, out: &mut Vec<Action>) {
        let all_ended = graph.executions().all(|e| e.is_terminal());
        match self.status {
            JobStatus::Restarting if matches!(self.restart, Some(Restart::Stopping(_))) => {
                if let (true, Some(Restart::Stopping(delay))) = (all_ended, self.restart) {
                    self.restart = Some(Restart::Waiting);
                    out.push(Action::RestartAfter(delay));
                }
            }
            JobStatus::Restarting if self.restart == Some(Restart::Waiting) => (),
            JobStatus::Created | JobStatus::Running | JobStatus::Restarting => {
                let runs = |s| matches!(s, ExecutionState::Running | ExecutionState::Finished);
                if (self.status == JobStatus::Created || self.restart == Some(Restart::Deploying))
                    && graph.executions().all(|e| runs(e.state))
                {
                    self.restart = None;
                    // The clock knows before anybody is told.
                    out.push(Action::Started);
                    if self.backfilling.is_empty() {
                        self.told_backfilled = true;
                        out.push(Action::Backfilled);
                    }
                    self.become_status(JobStatus::Running, out);
                    if self.paused {
                        let attempts = graph.sources().filter(|e| !e.is_terminal()).map(|e| e.attempt).collect();
                        out.push(Action::Tell { attempts, command: TaskCommand::Pause });
                        out.push(Action::Paused(true));
                    }
                }
                if graph.executions().all(|e| e.state == ExecutionState::Finished) {
                    // The end counts when it is durable.
                    if self.checkpoints.as_ref().is_none_or(Checkpoints::are_done) {
                        self.become_status(JobStatus::Finished, out);
                    }
                } else if all_ended {
                    self.become_status(JobStatus::Canceled, out);
                }
            }
            JobStatus::Failing if all_ended => self.become_status(JobStatus::Failed, out),
            JobStatus::Cancelling if all_ended => self.become_status(JobStatus::Canceled, out),
            _ => (),
        }
    }

    fn become_status(&mut self, status: JobStatus, out: &mut Vec<Action>) {
        if !self.status.may_become(status) {
            tracing::error!(from = %self.status, to = %status, "job status transition refused");
            return;
        }
        self.status = status;
        if status.is_terminal() {
            self.pending.clear();
        }
        out.push(Action::Status(status));
    }

    /// The first failure is the cause; the other tasks are cancelled. What runs, and can be continued from a checkpoint, is tried again.
    fn fail(&mut self, graph: &mut ExecutionGraph, cause: Error, out: &mut Vec<Action>) {
        let starts = matches!(self.restart, None | Some(Restart::Deploying));
        if !matches!(self.status, JobStatus::Created | JobStatus::Running | JobStatus::Restarting) || !starts {
            return;
        }
        let again = self.checkpoints.is_some() && self.status != JobStatus::Created;
        let delay = if again { self.restarts.after(&cause) } else { None };
        self.pending.clear();
        if let Some(delay) = delay {
            tracing::warn!(job = %graph.job, error = %cause, ?delay, "a task failed: the job will run again");
            self.cause = Some(cause);
            self.restart = Some(Restart::Stopping(delay));
            let from_scratch = self.checkpoints.as_ref().and_then(|c| c.newest.as_ref()).is_none_or(|c| !c.backfilled);
            if let Some(checkpoints) = &mut self.checkpoints {
                checkpoints.freezing = None;
            }
            out.push(Action::Restarting { from_scratch });
            if self.status == JobStatus::Running {
                self.become_status(JobStatus::Restarting, out);
            }
            self.cancel_tasks(graph, out);
            return self.settle(graph, out);
        }
        self.restart = None;
        self.cause = Some(cause);
        self.become_status(JobStatus::Failing, out);
        self.cancel_tasks(graph, out);
        self.settle(graph, out);
    }

    fn cancel_tasks(&mut self, graph: &mut ExecutionGraph, out: &mut Vec<Action>) {
        let alive: Vec<_> = graph.executions().filter(|e| !e.is_terminal()).map(|e| (e.attempt, e.state)).collect();
        let (unborn, deployed): (Vec<_>, Vec<_>) =
            alive.into_iter().partition(|(_, s)| matches!(s, ExecutionState::Created | ExecutionState::Scheduled));
        for (attempt, _) in unborn {
            self.enter(graph, attempt, ExecutionState::Canceled);
        }
        let attempts: Vec<_> = deployed.into_iter().map(|(attempt, _)| attempt).collect();
        for attempt in &attempts {
            self.enter(graph, *attempt, ExecutionState::Canceling);
        }
        if !attempts.is_empty() {
            out.push(Action::Tell { attempts, command: TaskCommand::Cancel });
        }
    }

    fn control(&mut self, graph: &mut ExecutionGraph, control: JobControl, out: &mut Vec<Action>) {
        match control {
            JobControl::Cancel if matches!(self.status, JobStatus::Created | JobStatus::Running | JobStatus::Restarting) => {
                self.restart = None;
                self.become_status(JobStatus::Cancelling, out);
                self.cancel_tasks(graph, out);
                self.settle(graph, out);
            }
            JobControl::Pause | JobControl::Resume if self.status == JobStatus::Running => {
                let pause = control == JobControl::Pause;
                if self.paused != pause {
                    self.paused = pause;
                    let command = if pause { TaskCommand::Pause } else { TaskCommand::Resume };
                    let attempts = graph.sources().filter(|e| !e.is_terminal()).map(|e| e.attempt).collect();
                    out.push(Action::Tell { attempts, command });
                    out.push(Action::Paused(pause));
                }
            }
            JobControl::Cancel | JobControl::Pause | JobControl::Resume => (),
        }
    }

    fn tick(&mut self, graph: &ExecutionGraph, mut barrier: Barrier, out: &mut Vec<Action>) {
        if self.status != JobStatus::Running {
            return;
        }
        if let (Some(mark), Some(checkpoints)) = (&mut barrier.checkpoint, &mut self.checkpoints) {
            *mark = checkpoints.begin(graph, barrier.epoch);
        }
        let missing: BTreeSet<_> = graph.leaves().filter(|e| !e.is_terminal()).map(|e| e.attempt).collect();
        self.pending.push_back(PendingTick { epoch: barrier.epoch, missing });
        let attempts: Vec<_> = graph.sources().filter(|e| e.state == ExecutionState::Running).map(|e| e.attempt).collect();
        if !attempts.is_empty() {
            out.push(Action::Tell { attempts, command: TaskCommand::Tick(barrier) });
        }
        self.complete_ticks(out);
        self.all_frozen(out);
    }

    /// Ticks are done in order.
    fn complete_ticks(&mut self, out: &mut Vec<Action>) {
        let mut done = None;
        while self.pending.front().is_some_and(|t| t.missing.is_empty()) {
            done = self.pending.pop_front().map(|t| t.epoch);
        }
        out.extend(done.map(Action::Completed));
    }
}

/// Tasks that subscribe to relations.
fn subscriptions(graph: &ExecutionGraph) -> BTreeSet<ExecutionAttemptId> {
    let subscribes = |s: &OperatorSpec| matches!(s, OperatorSpec::Subscription(_));
    let vertices = graph.vertices.iter().filter(|v| v.job_vertex.operators.iter().any(|o| subscribes(&o.node.spec)));
    vertices.flat_map(|v| &v.subtasks).map(|s| s.current.attempt).collect()
}
