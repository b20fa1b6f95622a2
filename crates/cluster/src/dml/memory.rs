//! Keys with the epoch of their last change, trimmed from the oldest on.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use millstream_types::Epoch;

/// Key bytes.
pub(super) type Key = Arc<[u8]>;

/// A bounded past: values by key, forgotten epoch by epoch.
#[derive(Debug)]
pub(super) struct KeyMemory<V> {
    keys: HashMap<Key, (Epoch, V)>,
    /// In order of epochs; a key that changed again is in it more than once.
    order: VecDeque<(Epoch, Key)>,
}

impl<V> Default for KeyMemory<V> {
    fn default() -> Self {
        KeyMemory { keys: HashMap::new(), order: VecDeque::new() }
    }
}

impl<V> KeyMemory<V> {
    /// Epochs never go down.
    pub(super) fn insert(&mut self, key: Key, epoch: Epoch, value: V) {
        self.order.push_back((epoch, Arc::clone(&key)));
        self.keys.insert(key, (epoch, value));
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<&(Epoch, V)> {
        self.keys.get(key)
    }

    /// Forgets what is not newer than `up_to`; the newest epoch that was forgotten.
    pub(super) fn trim(&mut self, up_to: Epoch) -> Option<Epoch> {
        let mut newest = None;
        while let Some((epoch, key)) = self.order.pop_front_if(|(epoch, _)| *epoch <= up_to) {
            newest = Some(epoch);
            if self.keys.get(&key).is_some_and(|(last, _)| *last <= up_to) {
                self.keys.remove(&key);
            }
        }
        newest
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_changed_again_stays() {
        let mut memory = KeyMemory::default();
        let (a, b): (Key, Key) = (Arc::from([1]), Arc::from([2]));
        memory.insert(Arc::clone(&a), 1, "first");
        memory.insert(b, 1, "other");
        memory.insert(Arc::clone(&a), 3, "again");
        assert_eq!(memory.trim(2), Some(1));
        assert_eq!(memory.get(&a), Some(&(3, "again")));
        assert_eq!(memory.len(), 1);
        assert_eq!(memory.trim(2), None);
        assert_eq!((memory.trim(3), memory.len()), (Some(3), 0));
    }
}
