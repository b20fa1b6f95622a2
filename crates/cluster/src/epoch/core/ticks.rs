//! Which jobs a tick goes to, and which readers it lets go.

use std::collections::BTreeSet;

use millstream_types::{Barrier, CheckpointMark, Epoch, HoldId, JobId, Result, limits};

use super::{Action, EpochCore, Hold, Waiter};
use crate::epoch::job::Phase;

impl EpochCore {
    /// The jobs and everything they read from, without what has finished.
    pub(super) fn closure(&self, jobs: &[JobId]) -> BTreeSet<JobId> {
        let mut closure = BTreeSet::new();
        let mut next = jobs.to_vec();
        while let Some(id) = next.pop() {
            if let Some(job) = self.jobs.get(&id)
                && job.phase != Phase::Finished
                && closure.insert(id)
            {
                next.extend(&job.upstream);
            }
        }
        closure
    }

    /// The closure of these jobs if a tick can go to all of it now.
    pub(super) fn room(&self, jobs: &[JobId], reserved: &BTreeSet<JobId>) -> Result<BTreeSet<JobId>, BTreeSet<JobId>> {
        let closure = self.closure(jobs);
        let free = closure.iter().all(|id| {
            let job = self.jobs.get(id).filter(|j| j.phase == Phase::Running && !j.paused);
            !reserved.contains(id) && job.is_some_and(|j| j.in_flight.len() < limits::MAX_IN_FLIGHT_TICKS)
        });
        if free { Ok(closure) } else { Err(closure) }
    }

    /// Everything that may have become possible: refusals, then ticks, then readers that can go on.
    pub(super) fn advance(&mut self, out: &mut Vec<Action>) {
        self.refuse(out);
        self.issue(out);
        self.settle(out);
    }

    fn refuse(&mut self, out: &mut Vec<Action>) {
        let failed = self.waiters.iter().filter_map(|(hold, w)| Some((*hold, self.check(&w.jobs).err()?)));
        for (hold, error) in failed.collect::<Vec<_>>() {
            self.waiters.remove(&hold);
            out.push(Action::Refuse { hold, error });
        }
        let starting = |job: &JobId| self.jobs.get(job).is_some_and(|j| j.phase == Phase::Starting);
        let stuck =
            self.fills.iter().filter(|(_, job)| !starting(job)).filter_map(|(hold, job)| Some((*hold, self.check_alive(*job).err()?)));
        for (hold, error) in stuck.collect::<Vec<_>>() {
            self.fills.remove(&hold);
            out.push(Action::Refuse { hold, error });
        }
    }

    fn is_dirty(&self, id: JobId) -> bool {
        self.jobs.get(&id).is_some_and(|j| j.dirty_from.is_some())
    }

    /// Sends one tick to everything that is wanted and has room. A reader's jobs are ticked together or not at all; those of a reader
    /// that has to wait are reserved for it, so that it gets its turn.
    fn issue(&mut self, out: &mut Vec<Action>) {
        let (mut set, mut reserved, mut granted) = (BTreeSet::new(), BTreeSet::new(), vec![]);
        let mut clean = vec![];
        let checkpoints = self.checkpoints();
        set.extend(checkpoints.iter().flatten());
        for (hold, waiter) in self.waiters.iter().filter(|(_, w)| w.epoch.is_none()) {
            let dirty: Vec<JobId> = waiter.jobs.iter().copied().filter(|j| self.is_dirty(*j)).collect();
            if dirty.is_empty() && !waiter.snapshot {
                clean.push(*hold);
                continue;
            }
            match self.room(&dirty, &reserved) {
                Ok(closure) => {
                    set.extend(closure);
                    granted.push(*hold);
                    if waiter.snapshot {
                        let others: Vec<JobId> = self.jobs.keys().copied().filter(|j| self.is_dirty(*j)).collect();
                        others.iter().filter_map(|j| self.room(&[*j], &reserved).ok()).for_each(|c| set.extend(c));
                    }
                }
                Err(closure) => reserved.extend(closure),
            }
        }
        for job in &self.wanted {
            if self.is_dirty(*job)
                && let Ok(closure) = self.room(&[*job], &reserved)
            {
                set.extend(closure);
            }
        }
        if !set.is_empty() {
            self.tick(&set, &checkpoints, out);
        }
        let closed = self.closed();
        for hold in clean.into_iter().chain(granted) {
            if let Some(waiter) = self.waiters.get_mut(&hold) {
                waiter.epoch = Some(closed);
            }
        }
    }

    /// Closes the open epoch and addresses the set, which is closed under upstream. `checkpoints` are parts of it.
    fn tick(&mut self, set: &BTreeSet<JobId>, checkpoints: &[BTreeSet<JobId>], out: &mut Vec<Action>) {
        let epoch = self.open;
        let since = self.next_since();
        self.open += 1;
        self.wanted.retain(|j| !set.contains(j));
        let mut still_dirty = vec![];
        for jobs in checkpoints {
            for id in jobs {
                if let Some(job) = self.jobs.get_mut(id) {
                    job.checkpointing = Some(epoch);
                }
            }
            out.push(Action::Checkpoint { epoch, jobs: jobs.iter().copied().collect() });
        }
        for id in set {
            let Some(job) = self.jobs.get_mut(id) else { continue };
            job.stale.retain(|(_, to)| *to > since);
            job.address(epoch);
            if job.external || !job.backfilled {
                still_dirty.push(*id);
            }
            // The JobMaster knows what there is to build on.
            let checkpoint = (job.checkpointing == Some(epoch)).then_some(CheckpointMark { base: 0 });
            out.push(Action::Tick { job: *id, barrier: Barrier { epoch, since, checkpoint } });
        }
        still_dirty.into_iter().for_each(|id| self.mark_dirty(id, epoch + 1));
    }

    /// The oldest epoch that a reader or a tick under way may still ask for. Never goes back.
    fn next_since(&mut self) -> Epoch {
        let mut since = self.closed();
        for hold in self.holds.values() {
            since = since.min(hold.epoch);
        }
        for waiter in self.waiters.values() {
            since = since.min(waiter.epoch.unwrap_or(since));
        }
        // A job that restarts finds its upstreams as they were at its checkpoint.
        for (id, job) in self.jobs.iter().filter(|(_, j)| j.is_alive() && (j.is_unsaved() || j.dirty_from.is_some())) {
            if let Some(saved) = job.saved.filter(|s| *s < since && !self.is_dead(*id)) {
                since = saved;
            }
        }
        for job in self.jobs.values().filter(|j| j.phase == Phase::Running) {
            since = since.min(job.in_flight.front().copied().unwrap_or(since));
            if !job.paused && job.ready_from.is_some() && self.check_upstream(job).is_ok() {
                since = since.min(job.newest_readable(since).unwrap_or(since));
            }
        }
        self.since = self.since.max(since);
        self.since
    }

    /// Lets readers go whose jobs have done every tick up to their epoch.
    fn settle(&mut self, out: &mut Vec<Action>) {
        let jobs = &self.jobs;
        let done = |w: &Waiter| {
            let epoch = w.epoch?;
            let waits = |id: &JobId| jobs.get(id).is_some_and(|j| j.in_flight.front().is_some_and(|first| *first <= epoch));
            (!w.jobs.iter().any(waits)).then_some(epoch)
        };
        let ready: Vec<(HoldId, Epoch)> = self.waiters.iter().filter_map(|(hold, w)| Some((*hold, done(w)?))).collect();
        for (hold, epoch) in ready {
            self.waiters.remove(&hold);
            self.holds.insert(hold, Hold { epoch, taken_at: self.now });
            out.push(Action::Ready { hold, epoch });
        }
        let filled = self.fills.iter().filter_map(|(hold, job)| Some((*hold, jobs.get(job)?.ready_from?)));
        for (hold, epoch) in filled.collect::<Vec<_>>() {
            self.fills.remove(&hold);
            out.push(Action::Ready { hold, epoch });
        }
    }
}
