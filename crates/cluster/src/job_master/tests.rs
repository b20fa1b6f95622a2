//! The job as a state machine, without tasks.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Duration;

use millstream_graph::Partitioner;
use millstream_runtime::task::{ExecutionState, TaskConfig};
use millstream_types::{Barrier, Error, ExecutionAttemptId, SqlState};

use super::core::{Action, Event, JobMasterCore};
use super::execution_graph::ExecutionGraph;
use super::execution_graph::tests::{grants, line, node};
use super::gateway::JobMasterClient;
use super::restart::RestartStrategy;
use crate::gateway::{FencingToken, JobControl, JobMasterGateway, TaskCommand, TaskReport, TickJob, UpdateTask};
use crate::job::JobStatus;

struct Job {
    core: JobMasterCore,
    graph: ExecutionGraph,
}

impl Job {
    /// Two sources, two leaves.
    fn new() -> Self {
        let partitioners = vec![Partitioner::Hash { columns: vec![0] }];
        let graph = line(vec![node(1, 2, "default"), node(2, 2, "default")], partitioners);
        Job { core: JobMasterCore::new(&graph, TaskConfig::default(), RestartStrategy::default()), graph }
    }

    fn on(&mut self, event: Event) -> Vec<Action> {
        self.core.on(&mut self.graph, event)
    }

    fn attempts(&self) -> Vec<ExecutionAttemptId> {
        self.graph.executions().map(|e| e.attempt).collect()
    }

    fn state(&mut self, attempt: ExecutionAttemptId, state: ExecutionState, failure: Option<Error>) -> Vec<Action> {
        self.on(Event::Task { attempt, report: TaskReport::StateChanged(state, failure) })
    }

    fn running() -> Self {
        let mut job = Job::new();
        job.on(Event::Start);
        let deployed = job.on(Event::Slots(Ok(grants(&job.graph))));
        assert_eq!(deployed.iter().filter(|a| matches!(a, Action::Deploy(_))).count(), 4);
        let mut out = vec![];
        for attempt in job.attempts() {
            job.state(attempt, ExecutionState::Initializing, None);
            out = job.state(attempt, ExecutionState::Running, None);
        }
        assert!(matches!(out[..], [Action::Started, Action::Backfilled, Action::Status(JobStatus::Running)]), "{out:?}");
        job
    }

    fn tick(&mut self, epoch: u64) -> Vec<Action> {
        self.on(Event::Tick(Barrier { epoch, since: 0, checkpoint: None }))
    }

    fn passed(&mut self, attempt: ExecutionAttemptId, epoch: u64) -> Vec<Action> {
        self.on(Event::Task { attempt, report: TaskReport::BarrierPassed(epoch) })
    }
}

#[test]
fn a_tick_goes_to_the_sources_and_is_done_when_all_leaves_passed_it() {
    let mut job = Job::running();
    let all = job.attempts();
    let out = job.tick(5);
    assert!(matches!(&out[..], [Action::Tell { attempts, command: TaskCommand::Tick(_) }] if attempts[..] == all[..2]), "{out:?}");
    job.tick(6);
    assert!(job.passed(all[2], 5).is_empty());
    assert!(job.passed(all[2], 6).is_empty());
    assert!(matches!(job.passed(all[3], 5)[..], [Action::Completed(5)]));
    assert!(matches!(job.passed(all[3], 6)[..], [Action::Completed(6)]));
}

#[test]
fn a_finished_leaf_has_passed_everything() {
    let mut job = Job::running();
    let all = job.attempts();
    job.tick(5);
    job.passed(all[2], 5);
    assert!(matches!(job.state(all[3], ExecutionState::Finished, None)[..], [Action::Completed(5)]));
    for attempt in [all[0], all[1]] {
        assert!(job.state(attempt, ExecutionState::Finished, None).is_empty());
    }
    assert!(matches!(job.state(all[2], ExecutionState::Finished, None)[..], [Action::Status(JobStatus::Finished)]));
}

#[test]
fn the_first_failure_is_the_cause_and_the_others_are_cancelled() {
    let mut job = Job::running();
    let all = job.attempts();
    let error = Error::new(SqlState::DIVISION_BY_ZERO, "division by zero");
    let out = job.state(all[2], ExecutionState::Failed, Some(error));
    assert!(
        matches!(&out[..], [Action::Status(JobStatus::Failing), Action::Tell { attempts, command: TaskCommand::Cancel }] if attempts.len() == 3)
    );
    let late = job.state(all[3], ExecutionState::Failed, Some(Error::internal("second")));
    assert!(late.is_empty());
    job.state(all[0], ExecutionState::Canceled, None);
    assert!(job.tick(9).is_empty(), "a failing job is not ticked");
    assert!(matches!(job.state(all[1], ExecutionState::Canceled, None)[..], [Action::Status(JobStatus::Failed)]));
    let cause = job.core.cause().unwrap();
    assert_eq!(cause.message(), "division by zero");
    assert_eq!(cause.detail(), Some("In task \"Calc\" (1/2)."));
}

#[test]
fn no_slots_is_a_failure_with_that_cause() {
    let mut job = Job::new();
    job.on(Event::Start);
    let out = job.on(Event::Slots(Err(Error::internal("not enough task slots"))));
    assert!(matches!(out[..], [Action::Status(JobStatus::Failing), Action::Status(JobStatus::Failed)]), "{out:?}");
}

#[test]
fn a_job_that_is_still_starting_can_be_cancelled() {
    let mut job = Job::new();
    job.on(Event::Start);
    let out = job.on(Event::Control(JobControl::Cancel));
    assert!(matches!(out[..], [Action::Status(JobStatus::Cancelling), Action::Status(JobStatus::Canceled)]), "{out:?}");
    assert!(job.on(Event::Slots(Ok(grants(&job.graph)))).is_empty(), "slots that come late deploy nothing");
}

#[test]
fn pause_and_resume_reach_the_sources_once() {
    let mut job = Job::running();
    let out = job.on(Event::Control(JobControl::Pause));
    assert!(matches!(&out[..], [Action::Tell { attempts, command: TaskCommand::Pause }, Action::Paused(true)] if attempts.len() == 2));
    assert!(job.on(Event::Control(JobControl::Pause)).is_empty());
    assert!(matches!(job.on(Event::Control(JobControl::Resume))[..], [Action::Tell { .. }, Action::Paused(false)]));
}

#[test]
fn reports_of_a_replaced_attempt_are_refused() {
    let mut job = Job::running();
    let stale = ExecutionAttemptId { attempt: 7, ..job.attempts()[0] };
    assert!(job.state(stale, ExecutionState::Failed, Some(Error::internal("zombie"))).is_empty());
    assert_eq!((job.core.refused, job.core.status()), (1, JobStatus::Running));
}

#[tokio::test]
async fn messages_of_a_former_leader_are_dropped() {
    let (client, mut events) = JobMasterClient::new(FencingToken(2), 1);
    let attempt = Job::new().attempts()[0];
    let barrier = Barrier { epoch: 1, since: 0, checkpoint: None };
    for (token, expected) in [(FencingToken(1), 0), (FencingToken(2), 2)] {
        client.tick(TickJob { token, job: attempt.vertex.job, barrier });
        client.update_task(UpdateTask { token, attempt, report: TaskReport::TickWanted });
        let mut seen = 0;
        while let Ok(Some(_)) = tokio::time::timeout(Duration::from_millis(1), events.recv()).await {
            seen += 1;
        }
        assert_eq!(seen, expected);
    }
}
