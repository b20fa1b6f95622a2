//! What the clock knows of one job: who feeds it, what it has not seen yet, which ticks are under way.

use std::collections::VecDeque;

use millstream_types::{Epoch, Error, JobId, SqlState};

/// A job as it introduces itself to the clock.
#[derive(Clone, Debug)]
pub struct JobRegistration {
    /// The job.
    pub job: JobId,
    /// Its name, for messages.
    pub name: String,
    /// Jobs whose relations it subscribes to.
    pub upstream: Vec<JobId>,
    /// True if it reads an external source: it may have something new at any time.
    pub external: bool,
    /// True for a table: readable from the start.
    pub table: bool,
    /// The checkpoint that its state comes from.
    pub restored: Option<Restored>,
}

/// Where a job that is restored stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The cut of its checkpoint.
    pub epoch: Epoch,
    /// All rows of its subscriptions' first snapshots were in.
    pub backfilled: bool,
}

/// Whether ticks can reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Tasks are being deployed.
    Starting,
    /// All tasks run.
    Running,
    /// A task failed; new attempts are on their way. Readers wait.
    Restarting,
    /// Complete: readable at every later epoch.
    Finished,
    /// Stopped by an error.
    Failed(Error),
    /// Stopped by a user.
    Canceled,
}

/// One job.
///
/// Invariant: if `dirty_from` is set, it is set in every running downstream job too, and there not later: what a job has not seen, its
/// consumers have not seen either.
#[derive(Debug)]
pub(super) struct EpochJob {
    pub(super) name: String,
    pub(super) upstream: Vec<JobId>,
    pub(super) downstream: Vec<JobId>,
    pub(super) external: bool,
    pub(super) phase: Phase,
    pub(super) paused: bool,
    /// All rows of its subscriptions' first snapshots are in; the next tick makes it readable.
    pub(super) backfilled: bool,
    /// The tick that makes it readable.
    pub(super) ready_tick: Option<Epoch>,
    /// Readable from this epoch on.
    pub(super) ready_from: Option<Epoch>,
    /// The oldest epoch with a change that no tick has covered yet.
    pub(super) dirty_from: Option<Epoch>,
    /// Epochs `from..to` at which it was behind: a change of `from` was only covered by tick `to`.
    pub(super) stale: Vec<(Epoch, Epoch)>,
    /// Ticks sent and not completed, in order.
    pub(super) in_flight: VecDeque<Epoch>,
    /// The newest tick sent; 0 before the first.
    pub(super) last_tick: Epoch,
    /// The cut of its newest durable checkpoint.
    pub(super) saved: Option<Epoch>,
    /// The cut of the checkpoint under way.
    pub(super) checkpointing: Option<Epoch>,
}

impl EpochJob {
    pub(super) fn new(registration: JobRegistration) -> Self {
        let restored = registration.restored;
        EpochJob {
            name: registration.name,
            upstream: registration.upstream,
            downstream: vec![],
            external: registration.external,
            phase: Phase::Starting,
            paused: false,
            backfilled: restored.is_some_and(|r| r.backfilled),
            ready_tick: None,
            ready_from: restored.filter(|r| r.backfilled).map(|r| r.epoch),
            dirty_from: restored.map(|r| r.epoch + 1),
            stale: vec![],
            in_flight: VecDeque::new(),
            last_tick: 0,
            saved: restored.map(|r| r.epoch),
            checkpointing: None,
        }
    }

    /// True if it will take ticks, now or after RESUME.
    pub(super) fn is_alive(&self) -> bool {
        matches!(self.phase, Phase::Starting | Phase::Running | Phase::Restarting)
    }

    /// True if a tick has changed it since its newest durable checkpoint.
    pub(super) fn is_unsaved(&self) -> bool {
        self.last_tick > self.saved.unwrap_or(0)
    }

    /// Covers its changes by tick `epoch`.
    pub(super) fn address(&mut self, epoch: Epoch) {
        if let Some(from) = self.dirty_from.take()
            && from < epoch
            && self.ready_from.is_some()
        {
            self.stale.push((from, epoch));
        }
        if self.backfilled && self.ready_tick.is_none() {
            self.ready_tick = Some(epoch);
        }
        self.in_flight.push_back(epoch);
        self.last_tick = epoch;
    }

    /// All ticks up to `epoch` are done.
    pub(super) fn complete(&mut self, epoch: Epoch) {
        while self.in_flight.front().is_some_and(|e| *e <= epoch) {
            self.in_flight.pop_front();
        }
        if self.ready_from.is_none() {
            self.ready_from = self.ready_tick.filter(|tick| *tick <= epoch);
        }
    }

    /// True if its content at `epoch` is or will be its content as of that epoch (once the ticks up to it are done).
    pub(super) fn is_cut_at(&self, epoch: Epoch) -> bool {
        self.ready_from.is_some_and(|from| from <= epoch)
            && self.dirty_from.is_none_or(|from| from > epoch)
            && !self.stale.iter().any(|(from, to)| (*from..*to).contains(&epoch))
    }

    /// The newest epoch up to `limit` that is readable without waiting.
    pub(super) fn newest_readable(&self, limit: Epoch) -> Option<Epoch> {
        let mut epoch = limit;
        if let Some(first) = self.in_flight.front() {
            epoch = epoch.min(first.saturating_sub(1));
        }
        if let Some(from) = self.dirty_from {
            epoch = epoch.min(from.saturating_sub(1));
        }
        for (from, to) in self.stale.iter().rev() {
            if (*from..*to).contains(&epoch) {
                epoch = from.saturating_sub(1);
            }
        }
        self.ready_from.is_some_and(|from| from <= epoch).then_some(epoch)
    }

    /// Why it cannot advance, if it cannot by its own fault.
    pub(super) fn trouble(&self) -> Option<Error> {
        let state = SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE;
        let name = &self.name;
        match &self.phase {
            Phase::Running if self.paused => {
                Some(Error::new(state, format!("job \"{name}\" is paused")).with_hint(format!("RESUME STREAMING JOB {name} lets it go on")))
            }
            Phase::Running | Phase::Restarting | Phase::Finished => None,
            Phase::Starting => Some(Error::new(state, format!("job \"{name}\" is not running yet"))),
            Phase::Canceled => Some(Error::new(state, format!("job \"{name}\" is not running: it was cancelled"))),
            Phase::Failed(cause) => {
                let error = Error::new(state, format!("job \"{name}\" is not running: {}", cause.message()));
                let detail = cause.detail().map_or_else(String::new, |d| format!("{d} "));
                let error = error.with_detail(format!("{detail}It failed with SQLSTATE {}.", cause.state()));
                Some(match cause.hint() {
                    Some(hint) => error.with_hint(hint),
                    None => error,
                })
            }
        }
    }
}
