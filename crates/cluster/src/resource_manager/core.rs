//! Slots, groups and leases as a state machine.
//!
//! A group has as many slots as the largest lease on it. Slot i of a group holds subtask i of every vertex in the group, whatever the
//! job; so the slots that are needed in all are the sum over the groups, and the hundredth view in `default` needs no new one.

use std::collections::BTreeMap;

use millstream_types::{AllocationId, Error, JobId, Result, SlotId, SqlState, TaskManagerId};

use crate::gateway::{AllocatedSlot, SlotGrant, SlotRequirement};

/// What a TaskExecutor is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlotAction {
    /// The slot goes to a group.
    Allocate {
        /// Which, under which allocation.
        slot: AllocatedSlot,
        /// To whom.
        group: String,
    },
    /// The slot is free.
    Free(AllocatedSlot),
}

/// All slots.
#[derive(Debug, Default)]
pub struct SlotManager {
    /// Free slots per TaskManager, the next one last.
    free: BTreeMap<TaskManagerId, Vec<SlotId>>,
    total: u32,
    groups: BTreeMap<String, Vec<AllocatedSlot>>,
    leases: BTreeMap<JobId, Vec<SlotRequirement>>,
    next_allocation: u64,
}

impl SlotManager {
    /// A TaskManager offers its slots.
    pub fn register(&mut self, task_manager: TaskManagerId, slots: u32) {
        let ids = (0..slots).rev().map(|index| SlotId { task_manager, index });
        if self.free.insert(task_manager, ids.collect()).is_none() {
            self.total += slots;
        }
    }

    /// Slots in all, and free ones.
    pub fn counts(&self) -> (u32, u32) {
        (self.total, self.free_slots())
    }

    fn free_slots(&self) -> u32 {
        self.free.values().map(|s| u32::try_from(s.len()).unwrap_or(u32::MAX)).sum()
    }

    fn held(&self, group: &str) -> u32 {
        self.groups.get(group).map_or(0, |s| u32::try_from(s.len()).unwrap_or(u32::MAX))
    }

    /// Leases slots to a job, all or none.
    ///
    /// # Errors
    /// 53000 with what is needed and what is there.
    pub fn request(&mut self, job: JobId, requirements: Vec<SlotRequirement>) -> Result<(Vec<SlotGrant>, Vec<SlotAction>)> {
        let missing: u32 = requirements.iter().map(|r| r.slots.saturating_sub(self.held(&r.group))).sum();
        let free = self.free_slots();
        if missing > free {
            return Err(self.not_enough(&requirements, missing, free));
        }
        let mut actions = vec![];
        let mut grants = vec![];
        for requirement in &requirements {
            while self.held(&requirement.group) < requirement.slots {
                let Some(slot) = self.take_free() else {
                    return Err(Error::internal("a slot that was counted as free is gone"));
                };
                actions.push(SlotAction::Allocate { slot, group: requirement.group.clone() });
                self.groups.entry(requirement.group.clone()).or_default().push(slot);
            }
            let slots = self.groups.get(&requirement.group).map_or(&[][..], Vec::as_slice);
            let slots = slots.iter().take(requirement.slots as usize).copied().collect();
            grants.push(SlotGrant { group: requirement.group.clone(), slots });
        }
        self.leases.insert(job, requirements);
        Ok((grants, actions))
    }

    /// Ends a job's leases. Groups shrink to their largest remaining lease.
    pub fn release(&mut self, job: JobId) -> Vec<SlotAction> {
        let mut actions = vec![];
        for released in self.leases.remove(&job).unwrap_or_default() {
            let others = self.leases.values().flatten().filter(|r| r.group == released.group);
            let needed = others.map(|r| r.slots as usize).max().unwrap_or(0);
            let Some(slots) = self.groups.get_mut(&released.group) else { continue };
            for slot in slots.drain(needed.min(slots.len())..).rev() {
                self.free.entry(slot.slot.task_manager).or_default().push(slot.slot);
                actions.push(SlotAction::Free(slot));
            }
            if slots.is_empty() {
                self.groups.remove(&released.group);
            }
        }
        actions
    }

    /// The group that has each slot.
    pub fn group_of(&self, slot: SlotId) -> Option<&str> {
        self.groups.iter().find(|(_, slots)| slots.iter().any(|s| s.slot == slot)).map(|(group, _)| group.as_str())
    }

    /// A free slot of the TaskManager that has most of them.
    fn take_free(&mut self) -> Option<AllocatedSlot> {
        let slot = self.free.values_mut().max_by_key(|s| s.len())?.pop()?;
        self.next_allocation += 1;
        Some(AllocatedSlot { slot, allocation: AllocationId(self.next_allocation) })
    }

    fn not_enough(&self, requirements: &[SlotRequirement], missing: u32, free: u32) -> Error {
        let state = SqlState::from_code("53000").unwrap_or(SqlState::CONFIGURATION_LIMIT_EXCEEDED);
        let wanted: Vec<String> = requirements.iter().map(|r| format!("{} for group \"{}\"", r.slots, r.group)).collect();
        let held: Vec<String> = self.groups.iter().map(|(g, s)| format!("\"{g}\" has {}", s.len())).collect();
        let held = if held.is_empty() { "no group has any".to_owned() } else { held.join(", ") };
        Error::new(state, "not enough task slots")
            .with_detail(format!(
                "The job needs {}: {missing} more slots than its groups have, and {free} of {} are free ({held}).",
                wanted.join(" and "),
                self.total
            ))
            .with_hint("start the server with more --slots, lower the parallelism, or leave the job in a group that has slots")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn needs(group: &str, slots: u32) -> Vec<SlotRequirement> {
        vec![SlotRequirement { group: group.into(), slots }]
    }

    fn manager(slots: u32) -> SlotManager {
        let mut manager = SlotManager::default();
        manager.register(TaskManagerId(1), slots);
        manager
    }

    #[test]
    fn groups_span_jobs_and_the_hundredth_view_needs_no_new_slot() {
        let mut manager = manager(4);
        let (first, actions) = manager.request(JobId(1), needs("default", 2)).unwrap();
        assert_eq!(actions.len(), 2);
        for job in 2..=100 {
            let (grant, actions) = manager.request(JobId(job), needs("default", 2)).unwrap();
            assert_eq!((grant, actions), (first.clone(), vec![]));
        }
        assert_eq!(manager.counts(), (4, 2));
        let (heavy, _) = manager.request(JobId(200), needs("heavy", 2)).unwrap();
        assert!(heavy[0].slots.iter().all(|s| !first[0].slots.contains(s)));
        assert_eq!(manager.counts(), (4, 0));
        assert_eq!(manager.group_of(heavy[0].slots[0].slot), Some("heavy"));
    }

    #[test]
    fn too_few_slots_name_need_and_have_and_change_nothing() {
        let mut manager = manager(3);
        manager.request(JobId(1), needs("default", 2)).unwrap();
        let wanted = vec![SlotRequirement { group: "default".into(), slots: 2 }, SlotRequirement { group: "heavy".into(), slots: 2 }];
        let error = manager.request(JobId(2), wanted).unwrap_err();
        assert_eq!(error.state().as_str(), "53000");
        assert!(error.detail().unwrap().contains("2 more slots than its groups have, and 1 of 3 are free"), "{error}");
        assert!(error.hint().unwrap().contains("--slots"));
        assert_eq!(manager.counts(), (3, 1));
    }

    #[test]
    fn a_group_shrinks_to_its_largest_lease_and_keeps_the_slots_of_its_low_subtasks() {
        let mut manager = manager(4);
        let (small, _) = manager.request(JobId(1), needs("default", 1)).unwrap();
        manager.request(JobId(2), needs("default", 4)).unwrap();
        assert_eq!(manager.release(JobId(2)).len(), 3);
        assert_eq!(manager.counts(), (4, 3));
        let (again, _) = manager.request(JobId(3), needs("default", 1)).unwrap();
        assert_eq!(again, small);
        assert_eq!(manager.release(JobId(1)), []);
        assert_eq!(manager.release(JobId(3)).len(), 1);
        assert_eq!(manager.release(JobId(3)), [], "a second release is nothing");
        assert_eq!(manager.counts(), (4, 4));
    }

    #[test]
    fn a_slot_that_was_freed_comes_back_under_another_allocation() {
        let mut manager = manager(1);
        let (first, _) = manager.request(JobId(1), needs("default", 1)).unwrap();
        manager.release(JobId(1));
        let (second, _) = manager.request(JobId(2), needs("default", 1)).unwrap();
        assert_eq!(first[0].slots[0].slot, second[0].slots[0].slot);
        assert_ne!(first[0].slots[0].allocation, second[0].slots[0].allocation);
    }
}
