//! Slots and attempts as a state machine: which task may run where.

use std::collections::{BTreeMap, BTreeSet};

use millstream_types::{AllocationId, Error, ExecutionAttemptId, ExecutionVertexId, JobId, Result, SlotId, SqlState, TaskManagerId};

/// What a slot holds.
#[derive(Debug, Default)]
struct TaskSlot {
    allocation: Option<(AllocationId, String)>,
    tasks: BTreeSet<ExecutionAttemptId>,
}

/// The slots of one TaskManager.
#[derive(Debug)]
pub struct TaskSlots {
    task_manager: TaskManagerId,
    slots: Vec<TaskSlot>,
    /// The newest attempt of each subtask that was here while its job was.
    newest: BTreeMap<ExecutionVertexId, u32>,
}

fn refused(message: impl Into<String>) -> Error {
    Error::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}

impl TaskSlots {
    /// `slots` free slots.
    pub fn new(task_manager: TaskManagerId, slots: u32) -> Self {
        TaskSlots { task_manager, slots: (0..slots).map(|_| TaskSlot::default()).collect(), newest: BTreeMap::new() }
    }

    fn slot_mut(&mut self, slot: SlotId) -> Result<&mut TaskSlot> {
        let own = slot.task_manager == self.task_manager;
        self.slots.get_mut(slot.index as usize).filter(|_| own).ok_or_else(|| refused(format!("there is no slot {slot} here")))
    }

    /// Gives a slot to a group.
    ///
    /// # Errors
    /// 55000 if another allocation has it.
    pub fn allocate(&mut self, slot: SlotId, allocation: AllocationId, group: String) -> Result<()> {
        let found = self.slot_mut(slot)?;
        match &found.allocation {
            Some((held, _)) if *held != allocation => Err(refused(format!("slot {slot} is held by {held}"))),
            _ => {
                found.allocation = Some((allocation, group));
                Ok(())
            }
        }
    }

    /// Frees a slot; the tasks that were still in it come back.
    pub fn free(&mut self, allocation: AllocationId) -> Vec<ExecutionAttemptId> {
        let held = self.slots.iter_mut().find(|s| s.allocation.as_ref().is_some_and(|(a, _)| *a == allocation));
        held.map_or_else(Vec::new, |slot| {
            slot.allocation = None;
            std::mem::take(&mut slot.tasks).into_iter().collect()
        })
    }

    /// Takes a task in.
    ///
    /// # Errors
    /// 55000 if the slot is not held under this allocation, or a newer attempt, or this one, has been here.
    pub fn admit(&mut self, attempt: ExecutionAttemptId, slot: SlotId, allocation: AllocationId) -> Result<()> {
        if self.newest.get(&attempt.vertex).is_some_and(|newest| *newest >= attempt.attempt) {
            return Err(refused(format!("attempt {attempt} was refused: it, or a newer one, has been here")));
        }
        let found = self.slot_mut(slot)?;
        if found.allocation.as_ref().is_none_or(|(held, _)| *held != allocation) {
            return Err(refused(format!("attempt {attempt} was refused: slot {slot} is not allocated by {allocation}")));
        }
        found.tasks.insert(attempt);
        self.newest.insert(attempt.vertex, attempt.attempt);
        Ok(())
    }

    /// A task has ended.
    pub fn remove(&mut self, attempt: ExecutionAttemptId) {
        self.slots.iter_mut().for_each(|slot| {
            slot.tasks.remove(&attempt);
        });
    }

    /// A job will not come back.
    pub fn forget(&mut self, job: JobId) {
        self.newest.retain(|vertex, _| vertex.job != job);
    }

    /// Slots with their group and number of tasks.
    pub fn details(&self) -> Vec<crate::job::SlotDetails> {
        let all = (0u32..).zip(&self.slots);
        all.map(|(index, slot)| crate::job::SlotDetails {
            slot: SlotId { task_manager: self.task_manager, index },
            group: slot.allocation.as_ref().map(|(_, group)| group.clone()),
            tasks: u32::try_from(slot.tasks.len()).unwrap_or(u32::MAX),
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use millstream_types::JobVertexId;

    use super::*;

    const TM: TaskManagerId = TaskManagerId(1);

    fn slot(index: u32) -> SlotId {
        SlotId { task_manager: TM, index }
    }

    fn attempt(job: u64, subtask: u32, attempt: u32) -> ExecutionAttemptId {
        ExecutionAttemptId { vertex: ExecutionVertexId { job: JobId(job), vertex: JobVertexId(1), subtask }, attempt }
    }

    #[test]
    fn stale_attempts_and_allocations_are_refused() {
        let mut slots = TaskSlots::new(TM, 1);
        let (old, new) = (AllocationId(1), AllocationId(2));
        slots.allocate(slot(0), old, "default".into()).unwrap();
        slots.admit(attempt(1, 0, 1), slot(0), old).unwrap();
        assert!(slots.admit(attempt(1, 0, 1), slot(0), old).is_err(), "the same attempt twice");
        assert!(slots.admit(attempt(1, 0, 0), slot(0), old).is_err(), "an older attempt");
        assert!(slots.allocate(slot(0), new, "heavy".into()).is_err(), "a slot that is held");
        assert_eq!(slots.free(old), [attempt(1, 0, 1)]);
        slots.allocate(slot(0), new, "heavy".into()).unwrap();
        let error = slots.admit(attempt(2, 0, 0), slot(0), old).unwrap_err();
        assert_eq!(error.state(), SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE);
        assert!(slots.free(old).is_empty(), "an allocation that has ended frees nothing");
        slots.admit(attempt(2, 0, 0), slot(0), new).unwrap();
        assert!(slots.allocate(slot(9), new, "heavy".into()).is_err(), "no such slot");
    }

    #[test]
    fn tasks_of_many_jobs_share_a_slot() {
        let mut slots = TaskSlots::new(TM, 2);
        slots.allocate(slot(0), AllocationId(1), "default".into()).unwrap();
        for job in 0..100 {
            slots.admit(attempt(job, 0, 0), slot(0), AllocationId(1)).unwrap();
        }
        let details = slots.details();
        assert_eq!((details[0].tasks, details[0].group.as_deref()), (100, Some("default")));
        assert_eq!((details[1].tasks, details[1].group.as_deref()), (0, None));
        slots.remove(attempt(5, 0, 0));
        assert_eq!(slots.details()[0].tasks, 99);
    }
}
