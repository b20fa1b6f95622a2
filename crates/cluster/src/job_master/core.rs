//! A job as a state machine: events in, actions out.

use std::collections::{BTreeSet, VecDeque};

use millstream_graph::OperatorSpec;
use millstream_runtime::task::{ExecutionState, TaskConfig, TaskDeploymentDescriptor};
use millstream_types::{Barrier, Epoch, Error, ExecutionAttemptId, Result};

use super::execution_graph::ExecutionGraph;
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
    /// Reports of attempts that are not current, refused.
    pub(super) refused: u64,
}

impl JobMasterCore {
    pub(super) fn new(graph: &ExecutionGraph, config: TaskConfig) -> Self {
        let subscribes = |s: &OperatorSpec| matches!(s, OperatorSpec::Subscription(_));
        let vertices = graph.vertices.iter().filter(|v| v.job_vertex.operators.iter().any(|o| subscribes(&o.node.spec)));
        let backfilling = vertices.flat_map(|v| &v.subtasks).map(|s| s.current.attempt).collect();
        JobMasterCore {
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
        }
        out
    }

    fn slots(&mut self, graph: &mut ExecutionGraph, answer: Result<Vec<SlotGrant>>, out: &mut Vec<Action>) {
        if self.status != JobStatus::Created {
            return;
        }
        let deployments = answer.and_then(|grants| graph.assign_slots(&grants)).and_then(|()| graph.deployments(&self.config));
        match deployments {
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
            JobStatus::Created | JobStatus::Running => {
                let runs = |s| matches!(s, ExecutionState::Running | ExecutionState::Finished);
                if self.status == JobStatus::Created && graph.executions().all(|e| runs(e.state)) {
                    // The clock knows before anybody is told.
                    out.push(Action::Started);
                    if self.backfilling.is_empty() {
                        self.told_backfilled = true;
                        out.push(Action::Backfilled);
                    }
                    self.become_status(JobStatus::Running, out);
                }
                if graph.executions().all(|e| e.state == ExecutionState::Finished) {
                    self.become_status(JobStatus::Finished, out);
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

    /// The first failure is the cause; the other tasks are cancelled.
    fn fail(&mut self, graph: &mut ExecutionGraph, cause: Error, out: &mut Vec<Action>) {
        if !matches!(self.status, JobStatus::Created | JobStatus::Running) {
            return;
        }
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
            JobControl::Cancel if matches!(self.status, JobStatus::Created | JobStatus::Running) => {
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

    fn tick(&mut self, graph: &ExecutionGraph, barrier: Barrier, out: &mut Vec<Action>) {
        if self.status != JobStatus::Running {
            return;
        }
        let missing: BTreeSet<_> = graph.leaves().filter(|e| !e.is_terminal()).map(|e| e.attempt).collect();
        self.pending.push_back(PendingTick { epoch: barrier.epoch, missing });
        let attempts: Vec<_> = graph.sources().filter(|e| e.state == ExecutionState::Running).map(|e| e.attempt).collect();
        if !attempts.is_empty() {
            out.push(Action::Tell { attempts, command: TaskCommand::Tick(barrier) });
        }
        self.complete_ticks(out);
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
