//! The hash table.

use std::hash::BuildHasher;

use arrow::row::Rows;
use hashbrown::{DefaultHashBuilder, HashTable};
use millstream_types::KeyGroup;

use super::StateTableId;

/// Entries by key bytes, addressed by an index that is stable until the entry is removed. The hasher `S` is only for this process's
/// memory: routing and stored keys use the pinned hash.
#[derive(Debug)]
pub struct KeyedTable<V, S = DefaultHashBuilder> {
    id: StateTableId,
    hasher: S,
    /// Indices into `entries`.
    index: HashTable<u32>,
    entries: Vec<Option<Entry<V>>>,
    free: Vec<u32>,
    key_bytes: usize,
}

#[derive(Debug)]
struct Entry<V> {
    hash: u64,
    key_group: KeyGroup,
    key: Box<[u8]>,
    value: V,
}

impl<V> KeyedTable<V> {
    /// An empty table.
    pub fn new(id: StateTableId) -> Self {
        Self::with_hasher(id, DefaultHashBuilder::default())
    }
}

impl<V, S: BuildHasher> KeyedTable<V, S> {
    /// An empty table with its own hasher (tests force collisions).
    pub fn with_hasher(id: StateTableId, hasher: S) -> Self {
        KeyedTable { id, hasher, index: HashTable::new(), entries: vec![], free: vec![], key_bytes: 0 }
    }

    /// Its number within the operator.
    pub fn id(&self) -> StateTableId {
        self.id
    }

    /// The entry of every row of a batch, in row order, into `indices` (cleared first); a key that is not there gets `new_value()`.
    /// Keys are borrowed for the look-up and copied only when they are new.
    pub fn get_or_insert_batch(&mut self, keys: &Rows, key_groups: &[KeyGroup], indices: &mut Vec<u32>, mut new_value: impl FnMut() -> V) {
        indices.clear();
        for (key, group) in keys.iter().zip(key_groups) {
            indices.push(self.get_or_insert(key.as_ref(), *group, &mut new_value));
        }
    }

    /// The entry of one key, made if it is not there.
    pub fn get_or_insert(&mut self, key: &[u8], key_group: KeyGroup, new_value: impl FnOnce() -> V) -> u32 {
        let hash = self.hasher.hash_one(key);
        let entries = &self.entries;
        let same = |&i: &u32| entries[i as usize].as_ref().is_some_and(|e| e.hash == hash && *e.key == *key);
        if let Some(&found) = self.index.find(hash, same) {
            return found;
        }
        self.key_bytes += key.len();
        let entry = Some(Entry { hash, key_group, key: key.into(), value: new_value() });
        let new = match self.free.pop() {
            Some(i) => {
                self.entries[i as usize] = entry;
                i
            }
            None => {
                self.entries.push(entry);
                (self.entries.len() - 1) as u32
            }
        };
        let entries = &self.entries;
        self.index.insert_unique(hash, new, |&i| entries[i as usize].as_ref().map_or(0, |e| e.hash));
        new
    }

    /// The entry of one key.
    pub fn get(&self, key: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(key);
        let same = |&i: &u32| self.entries[i as usize].as_ref().is_some_and(|e| e.hash == hash && *e.key == *key);
        self.index.find(hash, same).copied()
    }

    fn entry(&self, index: u32) -> Option<&Entry<V>> {
        self.entries.get(index as usize).and_then(Option::as_ref)
    }

    /// The value at an index; `None` if it was removed.
    pub fn value(&self, index: u32) -> Option<&V> {
        self.entry(index).map(|e| &e.value)
    }

    /// The value at an index, to change.
    pub fn value_mut(&mut self, index: u32) -> Option<&mut V> {
        self.entries.get_mut(index as usize).and_then(Option::as_mut).map(|e| &mut e.value)
    }

    /// The key bytes at an index.
    pub fn key(&self, index: u32) -> Option<&[u8]> {
        self.entry(index).map(|e| e.key.as_ref())
    }

    /// The key group at an index.
    pub fn key_group(&self, index: u32) -> Option<KeyGroup> {
        self.entry(index).map(|e| e.key_group)
    }

    /// Removes the entry at an index, which may be given to another key later.
    pub fn remove(&mut self, index: u32) -> Option<V> {
        let entry = self.entries.get_mut(index as usize)?.take()?;
        if let Ok(found) = self.index.find_entry(entry.hash, |&i| i == index) {
            found.remove();
        }
        self.free.push(index);
        self.key_bytes -= entry.key.len();
        Some(entry.value)
    }

    /// All entries: key group, key, value.
    pub fn iter(&self) -> impl Iterator<Item = (KeyGroup, &[u8], &V)> {
        self.entries.iter().flatten().map(|e| (e.key_group, e.key.as_ref(), &e.value))
    }

    /// How many entries.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// True without entries.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Bytes of the keys and the table itself, without what values own elsewhere.
    pub fn bytes(&self) -> usize {
        self.key_bytes + self.entries.capacity() * size_of::<Option<Entry<V>>>() + self.index.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeMap;
    use std::hash::{BuildHasherDefault, Hasher};

    use proptest::prelude::*;

    use super::*;

    /// Every key collides with every other.
    #[derive(Default)]
    struct Constant;

    impl Hasher for Constant {
        fn finish(&self) -> u64 {
            7
        }
        fn write(&mut self, _: &[u8]) {}
    }

    proptest! {
        #[test]
        fn behaves_like_a_map_even_when_all_hashes_are_equal(steps in prop::collection::vec((0u8..20, any::<bool>()), 0..200)) {
            let mut table = KeyedTable::with_hasher(StateTableId(0), BuildHasherDefault::<Constant>::default());
            let mut model = BTreeMap::new();
            for (key, insert) in steps {
                if insert {
                    let i = table.get_or_insert(&[key], 3, || 0u32);
                    *table.value_mut(i).unwrap() += 1;
                    *model.entry(key).or_insert(0u32) += 1;
                } else if let Some(i) = table.get(&[key]) {
                    prop_assert_eq!(table.remove(i), model.remove(&key));
                } else {
                    prop_assert!(!model.contains_key(&key));
                }
                prop_assert_eq!(table.len(), model.len());
            }
            let seen: BTreeMap<u8, u32> = table.iter().map(|(_, k, v)| (k[0], *v)).collect();
            prop_assert_eq!(seen, model);
        }
    }
}
