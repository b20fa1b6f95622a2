//! Which jobs are made durable together, and when.
//!
//! A *group* is a set of jobs connected by subscriptions: restored, each must find its upstreams at its own cut, so all of a group are cut
//! and commit at one epoch, those without changes as well, or none does. A job that is paused, starting or restarting cannot be cut: its group waits for it. Jobs that have failed or
//! were cancelled never run again and take no part, nor do those that read from them.

use std::collections::BTreeSet;

use millstream_types::{Epoch, JobId};

use super::{Action, EpochCore};
use crate::epoch::job::Phase;

impl EpochCore {
    /// The checkpoint interval is over: every group with something to save is to have a checkpoint.
    pub(in crate::epoch) fn checkpoint(&mut self, out: &mut Vec<Action>) {
        let unsaved = self.jobs.iter().filter(|(id, j)| j.is_alive() && (j.is_unsaved() || j.dirty_from.is_some()) && !self.is_dead(**id));
        let unsaved: Vec<JobId> = unsaved.map(|(id, _)| *id).collect();
        self.checkpoint_wanted.extend(unsaved);
        self.advance(out);
    }

    /// The checkpoint of these jobs is durable.
    pub(in crate::epoch) fn saved(&mut self, jobs: &[JobId], epoch: Epoch, out: &mut Vec<Action>) {
        for id in jobs {
            if let Some(job) = self.jobs.get_mut(id) {
                job.saved = job.saved.max(Some(epoch));
                job.checkpointing = job.checkpointing.filter(|e| *e != epoch);
            }
        }
        self.advance(out);
    }

    /// The checkpoint of these jobs was given up.
    pub(in crate::epoch) fn not_saved(&mut self, jobs: &[JobId], epoch: Epoch, out: &mut Vec<Action>) {
        for id in jobs {
            if let Some(job) = self.jobs.get_mut(id) {
                job.checkpointing = job.checkpointing.filter(|e| *e != epoch);
            }
        }
        self.advance(out);
    }

    /// The jobs connected with `id` that still run or have finished.
    fn group(&self, id: JobId) -> BTreeSet<JobId> {
        let (mut group, mut next) = (BTreeSet::new(), vec![id]);
        while let Some(id) = next.pop() {
            let Some(job) = self.jobs.get(&id).filter(|_| !self.is_dead(id)) else { continue };
            if group.insert(id) {
                next.extend(job.upstream.iter().chain(&job.downstream));
            }
        }
        group
    }

    /// True if the job, or one that it reads from, will never run again.
    pub(super) fn is_dead(&self, id: JobId) -> bool {
        let dead = |j: &JobId| self.jobs.get(j).is_none_or(|j| matches!(j.phase, Phase::Failed(_) | Phase::Canceled));
        dead(&id) || self.closure(&[id]).iter().any(dead)
    }

    /// Takes the groups that can have a checkpoint now out of those that want one: their jobs to tick, closed under upstream.
    pub(super) fn checkpoints(&mut self) -> Vec<BTreeSet<JobId>> {
        let mut wanted = std::mem::take(&mut self.checkpoint_wanted);
        let mut checkpoints = vec![];
        while let Some(id) = wanted.first().copied() {
            let group = self.group(id);
            let asked: BTreeSet<JobId> = wanted.iter().copied().filter(|j| *j == id || group.contains(j)).collect();
            wanted.retain(|j| !asked.contains(j));
            let alive: Vec<JobId> = group.iter().copied().filter(|j| self.jobs.get(j).is_some_and(super::EpochJob::is_alive)).collect();
            let changed = |j: &JobId| self.jobs.get(j).is_some_and(|job| job.is_unsaved() || job.dirty_from.is_some());
            if !alive.iter().any(changed) {
                continue;
            }
            let idle = alive.iter().all(|j| self.jobs.get(j).is_some_and(|job| job.checkpointing.is_none()));
            match self.room(&alive, &BTreeSet::new()) {
                Ok(closure) if idle => checkpoints.push(closure),
                _ => self.checkpoint_wanted.extend(asked),
            }
        }
        checkpoints
    }
}
