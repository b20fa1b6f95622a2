//! The clock as a state machine: events in, actions out. No locks, no channels, no time of its own.

mod checkpoints;
mod ticks;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use millstream_types::{Barrier, Epoch, Error, HoldId, JobId, Result, SqlState};

use super::job::{EpochJob, JobRegistration, Phase};

/// What is to be done after an event, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Tell a job's JobMaster.
    Tick { job: JobId, barrier: Barrier },
    /// A reader may go on: its hold is on this epoch.
    Ready { hold: HoldId, epoch: Epoch },
    /// A reader cannot be served. Its hold is gone.
    Refuse { hold: HoldId, error: Error },
    /// The ticks of this epoch that follow are a checkpoint of these jobs, which commit together.
    Checkpoint { epoch: Epoch, jobs: Vec<JobId> },
}

/// What a reader asks for.
#[derive(Clone, Debug)]
pub(super) struct ReadRequest {
    /// Jobs whose relations it reads.
    pub(super) jobs: Vec<JobId>,
    pub(super) mode: ReadMode,
}

/// At which epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadMode {
    /// At or after everything that was acknowledged or served.
    Strict,
    /// The same, and all other relations are cut there too as far as they can be.
    Snapshot,
    /// The newest that needs no waiting.
    Latest,
    /// This one, which the reader already holds.
    At(Epoch),
}

#[derive(Debug)]
struct Waiter {
    jobs: Vec<JobId>,
    /// Cut the other jobs too.
    snapshot: bool,
    /// `None` until a tick can be sent to all jobs it needs.
    epoch: Option<Epoch>,
}

#[derive(Debug)]
struct Hold {
    epoch: Epoch,
    taken_at: Duration,
}

/// All jobs, readers and ticks.
#[derive(Debug)]
pub(super) struct EpochCore {
    /// The epoch that changes go into now.
    open: Epoch,
    jobs: BTreeMap<JobId, EpochJob>,
    waiters: BTreeMap<HoldId, Waiter>,
    /// Who waits for a job to become readable.
    fills: BTreeMap<HoldId, JobId>,
    holds: BTreeMap<HoldId, Hold>,
    next_hold: u64,
    /// Jobs to tick as soon as their closure has room.
    wanted: BTreeSet<JobId>,
    /// Jobs whose group is to have a checkpoint as soon as all of it has room.
    checkpoint_wanted: BTreeSet<JobId>,
    /// State is made durable: what ends, ends with a checkpoint.
    durable: bool,
    /// The newest `since` that was sent: older versions may be gone.
    since: Epoch,
    now: Duration,
    max_hold_age: Duration,
}

impl EpochCore {
    /// `first` is the first epoch, newer than any of an earlier process.
    pub(super) fn new(first: Epoch, durable: bool, max_hold_age: Duration) -> Self {
        EpochCore {
            open: first,
            jobs: BTreeMap::new(),
            waiters: BTreeMap::new(),
            fills: BTreeMap::new(),
            max_hold_age,
            holds: BTreeMap::new(),
            next_hold: 0,
            wanted: BTreeSet::new(),
            checkpoint_wanted: BTreeSet::new(),
            durable,
            since: 0,
            now: Duration::ZERO,
        }
    }

    pub(super) fn open(&self) -> Epoch {
        self.open
    }

    /// The newest closed epoch.
    pub(super) fn closed(&self) -> Epoch {
        self.open - 1
    }

    /// Moves time on, which ages holds.
    pub(super) fn set_now(&mut self, now: Duration) {
        self.now = self.now.max(now);
    }

    fn job(&self, job: JobId) -> Result<&EpochJob> {
        self.jobs.get(&job).ok_or_else(|| {
            Error::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, format!("{job} is not running")).with_detail("It was dropped.")
        })
    }

    // ---- life of a job ----

    pub(super) fn register(&mut self, registration: JobRegistration) -> Result<()> {
        let id = registration.job;
        if self.jobs.contains_key(&id) {
            return Err(Error::new(SqlState::DUPLICATE_OBJECT, format!("job \"{}\" already exists", registration.name)));
        }
        for upstream in &registration.upstream {
            self.job(*upstream)?;
        }
        for upstream in &registration.upstream {
            if let Some(job) = self.jobs.get_mut(upstream) {
                job.downstream.push(id);
            }
        }
        let mut job = EpochJob::new(registration.clone());
        job.backfilled |= registration.upstream.is_empty();
        if registration.table && job.ready_from.is_none() {
            job.ready_from = Some(self.closed());
        }
        self.jobs.insert(id, job);
        Ok(())
    }

    /// All tasks run. Anything but an empty table has something to say at its first tick.
    pub(super) fn started(&mut self, id: JobId, out: &mut Vec<Action>) {
        let open = self.open;
        let starts = |j: &&mut EpochJob| matches!(j.phase, Phase::Starting | Phase::Restarting);
        let Some(job) = self.jobs.get_mut(&id).filter(starts) else { return };
        job.phase = Phase::Running;
        if job.ready_from.is_none() || job.external || job.dirty_from.is_some() {
            self.mark_dirty(id, open);
            self.wanted.insert(id);
        }
        self.advance(out);
    }

    /// Its subscriptions have handed out their first snapshots.
    pub(super) fn backfilled(&mut self, id: JobId, out: &mut Vec<Action>) {
        let Some(job) = self.jobs.get_mut(&id).filter(|j| !j.backfilled) else { return };
        job.backfilled = true;
        self.want_tick(id, out);
    }

    /// A job asks for a tick: one of its sources has ended. What ends, ends at a checkpoint if there are any.
    pub(super) fn want_tick(&mut self, id: JobId, out: &mut Vec<Action>) {
        self.mark_dirty(id, self.open);
        self.wanted.insert(id);
        if self.durable {
            self.checkpoint_wanted.insert(id);
        }
        self.advance(out);
    }

    /// A task of the job failed and the job will run again, from its newest checkpoint. What it has cut stays readable; of the ticks that
    /// were under way, neither it nor the jobs behind it will show a cut, so readers that wait for one get a later one.
    /// Without a checkpoint it is filled again before it can be read.
    pub(super) fn restarting(&mut self, id: JobId, from_scratch: bool, out: &mut Vec<Action>) {
        let open = self.open;
        let Some(job) = self.jobs.get_mut(&id).filter(|j| matches!(j.phase, Phase::Starting | Phase::Running)) else { return };
        job.phase = Phase::Restarting;
        let undone = job.in_flight.front().copied().unwrap_or(open);
        job.in_flight.clear();
        job.checkpointing = None;
        if from_scratch && !job.upstream.is_empty() {
            (job.backfilled, job.ready_tick, job.ready_from) = (false, None, None);
        }
        self.abandon(id, undone);
        self.mark_dirty(id, undone);
        let behind = self.downstream(id);
        for waiter in self.waiters.values_mut() {
            if waiter.epoch.is_some_and(|e| e >= undone) && waiter.jobs.iter().any(|j| behind.contains(j)) {
                waiter.epoch = None;
            }
        }
        self.wanted.insert(id);
        self.advance(out);
    }

    /// The job and all that reads from it, directly or not.
    fn downstream(&self, id: JobId) -> BTreeSet<JobId> {
        let (mut found, mut next) = (BTreeSet::new(), vec![id]);
        while let Some(id) = next.pop() {
            if found.insert(id) {
                next.extend(self.jobs.get(&id).into_iter().flat_map(|j| &j.downstream));
            }
        }
        found
    }

    /// The job has ended, well or not.
    pub(super) fn ended(&mut self, id: JobId, phase: Phase, out: &mut Vec<Action>) {
        let open = self.open;
        let Some(job) = self.jobs.get_mut(&id).filter(|j| j.is_alive()) else { return };
        let finished = phase == Phase::Finished;
        job.phase = phase;
        let undone = job.in_flight.front().copied();
        job.in_flight.clear();
        job.dirty_from = None;
        if finished && job.ready_from.is_none() {
            job.ready_from = job.ready_tick.or(Some(open - 1));
        }
        if finished {
            // Its last rows are still to be taken by its consumers.
            let downstream = job.downstream.clone();
            downstream.into_iter().for_each(|d| self.mark_dirty(d, open));
        }
        if let (false, Some(undone)) = (finished, undone) {
            self.abandon(id, undone);
        }
        if let Some(job) = self.jobs.get_mut(&id) {
            job.checkpointing = None;
        }
        self.wanted.remove(&id);
        self.checkpoint_wanted.remove(&id);
        self.advance(out);
    }

    /// What a stopped job has not cut, the jobs behind it never will.
    fn abandon(&mut self, id: JobId, undone: Epoch) {
        let mut next = self.jobs.get(&id).map_or_else(Vec::new, |j| j.downstream.clone());
        while let Some(id) = next.pop() {
            if let Some(job) = self.jobs.get_mut(&id) {
                job.in_flight.retain(|epoch| *epoch < undone);
                next.extend(&job.downstream);
            }
        }
    }

    pub(super) fn set_paused(&mut self, id: JobId, paused: bool, out: &mut Vec<Action>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.paused = paused;
        if !paused {
            self.want_tick(id, out);
        }
        self.advance(out);
    }

    pub(super) fn remove(&mut self, id: JobId, out: &mut Vec<Action>) {
        if let Some(job) = self.jobs.remove(&id) {
            for upstream in job.upstream {
                if let Some(job) = self.jobs.get_mut(&upstream) {
                    job.downstream.retain(|d| *d != id);
                }
            }
        }
        self.wanted.remove(&id);
        self.checkpoint_wanted.remove(&id);
        self.advance(out);
    }

    /// The job has done every tick up to `epoch`.
    pub(super) fn completed(&mut self, id: JobId, epoch: Epoch, out: &mut Vec<Action>) {
        let Some(job) = self.jobs.get_mut(&id).filter(|j| j.is_alive()) else { return };
        job.complete(epoch);
        self.advance(out);
    }

    // ---- changes ----

    /// Whether changes of a table may go into its log.
    pub(super) fn accepts_changes(&self, id: JobId) -> Result<()> {
        let job = self.job(id)?;
        job.trouble().map_or(Ok(()), Err)
    }

    /// A change of the open epoch entered the log of this job's table.
    pub(super) fn appended(&mut self, id: JobId) {
        self.mark_dirty(id, self.open);
    }

    fn mark_dirty(&mut self, id: JobId, from: Epoch) {
        let mut next = vec![id];
        while let Some(id) = next.pop() {
            let Some(job) = self.jobs.get_mut(&id).filter(|j| j.is_alive()) else { continue };
            if job.dirty_from.is_some_and(|known| known <= from) {
                continue;
            }
            job.dirty_from = Some(from);
            next.extend(&job.downstream);
        }
    }

    /// The interval is over: every job with something to do is to be ticked; old holds end.
    pub(super) fn interval(&mut self, out: &mut Vec<Action>) {
        let (now, max_age) = (self.now, self.max_hold_age);
        self.holds.retain(|_, hold| now.saturating_sub(hold.taken_at) <= max_age);
        let dirty = self.jobs.iter().filter(|(_, j)| j.phase == Phase::Running && j.dirty_from.is_some());
        let dirty: Vec<JobId> = dirty.map(|(id, _)| *id).collect();
        self.wanted.extend(dirty);
        self.advance(out);
    }

    // ---- readers ----

    /// A reader arrives. Its hold exists from now on, until [`EpochCore::release`] or a refusal.
    pub(super) fn read(&mut self, request: ReadRequest, out: &mut Vec<Action>) -> HoldId {
        self.next_hold += 1;
        let hold = HoldId(self.next_hold);
        let ReadRequest { jobs, mode } = request;
        if let Err(error) = self.check(&jobs) {
            out.push(Action::Refuse { hold, error });
            return hold;
        }
        let latest = match mode {
            ReadMode::Latest => self.common_readable(&jobs).filter(|e| *e >= self.since),
            _ => None,
        };
        let epoch = match mode {
            ReadMode::Latest => latest,
            ReadMode::At(epoch) => {
                if epoch < self.since || epoch > self.closed() || !jobs.iter().all(|j| self.jobs.get(j).is_some_and(|j| j.is_cut_at(epoch)))
                {
                    out.push(Action::Refuse { hold, error: not_in_snapshot(epoch) });
                    return hold;
                }
                Some(epoch)
            }
            ReadMode::Strict | ReadMode::Snapshot => None,
        };
        self.waiters.insert(hold, Waiter { jobs, snapshot: mode == ReadMode::Snapshot, epoch });
        self.advance(out);
        hold
    }

    /// Waits until a job is readable: the answer is the epoch from which on it is. Nothing is held.
    pub(super) fn wait_filled(&mut self, job: JobId, out: &mut Vec<Action>) -> HoldId {
        self.next_hold += 1;
        let hold = HoldId(self.next_hold);
        self.fills.insert(hold, job);
        self.advance(out);
        hold
    }

    /// The newest readable epoch of one job, held; never waits.
    pub(super) fn hold_newest(&mut self, id: JobId) -> Result<(HoldId, Epoch)> {
        let job = self.job(id)?;
        let newest = job.newest_readable(self.closed());
        let epoch = newest.ok_or_else(|| Error::internal(format!("job \"{}\" has no readable epoch", job.name)))?;
        self.next_hold += 1;
        let hold = HoldId(self.next_hold);
        self.holds.insert(hold, Hold { epoch, taken_at: self.now });
        Ok((hold, epoch))
    }

    /// The reader is done or gone.
    pub(super) fn release(&mut self, hold: HoldId) {
        self.waiters.remove(&hold);
        self.fills.remove(&hold);
        self.holds.remove(&hold);
    }

    /// The oldest epoch that a reader holds; the open epoch if none does.
    pub(super) fn oldest_hold(&self) -> Epoch {
        self.holds.values().map(|h| h.epoch).min().unwrap_or(self.open)
    }

    /// Whether all jobs can be read, now or soon.
    pub(super) fn check(&self, jobs: &[JobId]) -> Result<()> {
        for id in jobs {
            let job = self.check_alive(*id)?;
            if job.ready_from.is_none() {
                return Err(Error::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, format!("\"{}\" is still being filled", job.name))
                    .with_hint("SHOW JOBS shows how far it is: try again when it is done"));
            }
        }
        Ok(())
    }

    /// The job, if it and all it reads from can go on or are complete.
    fn check_alive(&self, id: JobId) -> Result<&EpochJob> {
        let job = self.job(id)?;
        if let Some(error) = job.trouble() {
            return Err(error);
        }
        if job.phase != Phase::Finished {
            self.check_upstream(job)?;
        }
        Ok(job)
    }

    fn check_upstream(&self, job: &EpochJob) -> Result<()> {
        for id in self.closure(&job.upstream) {
            if let Some(error) = self.job(id)?.trouble() {
                return Err(error.context(format!("job \"{}\" cannot go on, for its upstream stands still", job.name)));
            }
        }
        Ok(())
    }

    /// The newest epoch at which all these jobs are readable without waiting.
    fn common_readable(&self, jobs: &[JobId]) -> Option<Epoch> {
        let mut epoch = self.closed();
        loop {
            let mut lowest = epoch;
            for id in jobs {
                lowest = lowest.min(self.jobs.get(id)?.newest_readable(epoch)?);
            }
            if lowest == epoch {
                return Some(epoch);
            }
            epoch = lowest;
        }
    }

    /// Ticks a job has under way.
    #[cfg(test)]
    pub(super) fn in_flight(&self, id: JobId) -> usize {
        self.jobs.get(&id).map_or(0, |j| j.in_flight.len())
    }

    /// Readers that wait, and holds.
    pub(super) fn readers(&self) -> (usize, usize) {
        (self.waiters.len(), self.holds.len())
    }
}

fn not_in_snapshot(epoch: Epoch) -> Error {
    Error::new(SqlState::SERIALIZATION_FAILURE, "could not serialize access: a relation was not cut at this transaction's snapshot")
        .with_detail(format!("The snapshot is epoch {epoch}."))
        .with_hint("run the transaction again")
}
