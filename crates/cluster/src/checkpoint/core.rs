//! Checkpoints under way as a state machine: events in, actions out.

use std::collections::BTreeMap;
use std::time::Duration;

use millstream_types::{Epoch, JobId};

/// What happened.
#[derive(Debug)]
pub(crate) enum Event<F> {
    /// The clock has sent a checkpoint's ticks to these jobs.
    Triggered { epoch: Epoch, jobs: Vec<JobId> },
    /// All tasks of a job have handed over their state.
    Frozen { job: JobId, epoch: Epoch, frozen: F },
    /// A job has failed, restarts or was cancelled.
    Gone { job: JobId },
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Action<F> {
    /// Write it, then commit it.
    Persist { epoch: Epoch, started: Duration, jobs: BTreeMap<JobId, F> },
    /// It will never be complete.
    Abort { epoch: Epoch, started: Duration, jobs: Vec<JobId>, cause: AbortCause },
}

/// Why a checkpoint was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AbortCause {
    /// This job has gone.
    Gone(JobId),
    /// It took too long.
    Timeout,
}

#[derive(Debug)]
struct Pending<F> {
    epoch: Epoch,
    started: Duration,
    jobs: BTreeMap<JobId, Option<F>>,
}

/// Checkpoints that lack something. A job is part of at most one.
#[derive(Debug)]
pub(super) struct CheckpointCore<F> {
    timeout: Duration,
    pending: Vec<Pending<F>>,
}

impl<F> CheckpointCore<F> {
    pub(super) fn new(timeout: Duration) -> Self {
        CheckpointCore { timeout, pending: vec![] }
    }

    pub(super) fn on(&mut self, event: Event<F>, now: Duration) -> Vec<Action<F>> {
        match event {
            Event::Triggered { epoch, jobs } => {
                let jobs = jobs.into_iter().map(|job| (job, None)).collect();
                self.pending.push(Pending { epoch, started: now, jobs });
                vec![]
            }
            Event::Frozen { job, epoch, frozen } => {
                let part = self.pending.iter_mut().filter(|p| p.epoch == epoch).find_map(|p| p.jobs.get_mut(&job));
                // Of a checkpoint that was given up.
                let Some(part) = part else { return vec![] };
                *part = Some(frozen);
                self.take(|p| p.jobs.values().all(Option::is_some)).map(Pending::complete).collect()
            }
            Event::Gone { job } => self.take(|p| p.jobs.contains_key(&job)).map(|p| p.abort(AbortCause::Gone(job))).collect(),
        }
    }

    /// Time has passed.
    pub(super) fn on_time(&mut self, now: Duration) -> Vec<Action<F>> {
        let timeout = self.timeout;
        self.take(|p| now.saturating_sub(p.started) > timeout).map(|p| p.abort(AbortCause::Timeout)).collect()
    }

    fn take(&mut self, which: impl FnMut(&mut Pending<F>) -> bool) -> impl Iterator<Item = Pending<F>> {
        self.pending.extract_if(.., which).collect::<Vec<_>>().into_iter()
    }
}

impl<F> Pending<F> {
    fn complete(self) -> Action<F> {
        let jobs = self.jobs.into_iter().filter_map(|(job, frozen)| Some((job, frozen?))).collect();
        Action::Persist { epoch: self.epoch, started: self.started, jobs }
    }

    fn abort(self, cause: AbortCause) -> Action<F> {
        Action::Abort { epoch: self.epoch, started: self.started, jobs: self.jobs.into_keys().collect(), cause }
    }
}
