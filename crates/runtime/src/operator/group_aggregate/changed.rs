//! The groups that changed since state was handed over last.

use std::collections::HashMap;

use millstream_types::{Epoch, KeyGroup};

/// The key of a group that went.
pub(super) type Gone = (Box<[u8]>, KeyGroup);

/// Slots of groups that changed, keys of groups that went. Remembers nothing where there are no checkpoints.
#[derive(Debug)]
pub(super) struct Changed {
    enabled: bool,
    marked: Vec<bool>,
    slots: Vec<u32>,
    gone: HashMap<Box<[u8]>, KeyGroup>,
    /// The epoch of the last hand-over.
    pub(super) frozen: Option<Epoch>,
}

impl Changed {
    pub(super) fn new(enabled: bool) -> Self {
        Changed { enabled, marked: vec![], slots: vec![], gone: HashMap::new(), frozen: None }
    }

    pub(super) fn mark(&mut self, slots: &[u32]) {
        if !self.enabled {
            return;
        }
        let largest = slots.iter().max().map_or(0, |s| *s as usize + 1);
        if largest > self.marked.len() {
            self.marked.resize(largest, false);
        }
        for slot in slots {
            if !std::mem::replace(&mut self.marked[*slot as usize], true) {
                self.slots.push(*slot);
            }
        }
    }

    /// A group went; its slot may be another one's by the next hand-over.
    pub(super) fn remove(&mut self, key: &[u8], key_group: KeyGroup) {
        if self.enabled {
            self.gone.insert(key.into(), key_group);
        }
    }

    /// Everything since the last hand-over, which is now: keys that went, to be written before slots that changed.
    pub(super) fn take(&mut self, epoch: Epoch) -> (Vec<Gone>, Vec<u32>) {
        self.frozen = Some(epoch);
        let slots = std::mem::take(&mut self.slots);
        slots.iter().for_each(|s| self.marked[*s as usize] = false);
        (self.gone.drain().collect(), slots)
    }

    pub(super) fn bytes(&self) -> usize {
        let gone: usize = self.gone.keys().map(|k| k.len() + size_of::<(Box<[u8]>, KeyGroup)>()).sum();
        self.marked.capacity() + self.slots.capacity() * size_of::<u32>() + gone
    }
}
