//! The groups that changed since the last emission, with the rows they showed then.

use arrow::array::{Array, ArrayRef};
use arrow::compute::concat;
use millstream_types::Result;

/// Groups in the order of their first change.
#[derive(Debug, Default)]
pub(super) struct Pending {
    marked: Vec<bool>,
    slots: Vec<u32>,
    /// By position in `slots`: the row in `rows`, if the group showed one.
    places: Vec<Option<u32>>,
    /// Old aggregate columns, in pieces.
    rows: Vec<Vec<ArrayRef>>,
    count: u32,
}

/// The old rows of all pending groups.
pub(super) struct OldRows {
    pub(super) places: Vec<Option<u32>>,
    /// Empty if no group had one.
    pub(super) columns: Vec<ArrayRef>,
}

impl Pending {
    pub(super) fn resize(&mut self, slots: usize) {
        self.marked.resize(slots, false);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Marks groups as changed; returns those that were not.
    pub(super) fn mark(&mut self, slots: &[u32]) -> Vec<u32> {
        let mut fresh = vec![];
        for slot in slots {
            if !std::mem::replace(&mut self.marked[*slot as usize], true) {
                fresh.push(*slot);
            }
        }
        fresh
    }

    /// Takes the old rows of freshly marked groups: one per group that is shown.
    pub(super) fn push(&mut self, fresh: &[u32], shown: &[bool], rows: Vec<ArrayRef>) {
        self.slots.extend_from_slice(fresh);
        for shown in shown {
            self.places.push(shown.then_some(self.count));
            self.count += u32::from(*shown);
        }
        if !rows.is_empty() {
            self.rows.push(rows);
        }
    }

    pub(super) fn slots(&self) -> Vec<u32> {
        self.slots.clone()
    }

    /// Everything, which is forgotten here.
    pub(super) fn take_rows(&mut self, columns: usize) -> Result<OldRows> {
        self.slots.drain(..).for_each(|s| self.marked[s as usize] = false);
        self.count = 0;
        let pieces = std::mem::take(&mut self.rows);
        let column = |i: usize| {
            let parts: Vec<&dyn Array> = pieces.iter().map(|p| p[i].as_ref()).collect();
            Ok(concat(&parts)?)
        };
        let columns = if pieces.is_empty() { vec![] } else { (0..columns).map(column).collect::<Result<_>>()? };
        Ok(OldRows { places: std::mem::take(&mut self.places), columns })
    }

    pub(super) fn bytes(&self) -> usize {
        let rows: usize = self.rows.iter().flatten().map(|a| a.get_array_memory_size()).sum();
        self.marked.capacity() + self.slots.capacity() * size_of::<u32>() + self.places.capacity() * size_of::<Option<u32>>() + rows
    }
}
