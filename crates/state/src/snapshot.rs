//! State on its way from one attempt of an operator to the next: entries with their key group, so that a new parallelism can split them.

use millstream_types::{Error, KeyGroup, KeyGroupRange, Result, SqlState};

use crate::{StateTableId, StateValue};

/// One entry of keyed state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateEntry {
    /// The key group of its key.
    pub key_group: KeyGroup,
    /// The state table within the operator.
    pub table: StateTableId,
    /// Key bytes.
    pub key: Vec<u8>,
    /// Version byte, then the value's own encoding.
    pub value: Vec<u8>,
}

impl StateEntry {
    /// An entry of a versioned value.
    pub fn new<V: StateValue>(key_group: KeyGroup, table: StateTableId, key: &[u8], value: &V) -> Self {
        let mut bytes = vec![V::VERSION];
        value.encode(&mut bytes);
        StateEntry { key_group, table, key: key.to_vec(), value: bytes }
    }

    /// The value.
    ///
    /// # Errors
    /// XX001 if it is none of this type, or was written by a newer version.
    pub fn decode<V: StateValue>(&self) -> Result<V> {
        match self.value.split_first() {
            Some((version, bytes)) if *version <= V::VERSION => V::decode(*version, bytes),
            Some((version, _)) => Err(Error::new(SqlState::DATA_CORRUPTED, "state was written by a newer version")
                .with_detail(format!("The value has version {version}, this binary knows up to {}.", V::VERSION))),
            None => Err(Error::new(SqlState::DATA_CORRUPTED, "state entry without a version")),
        }
    }
}

/// Takes the entries of a snapshot.
pub trait SnapshotWriter {
    /// Takes one entry.
    ///
    /// # Errors
    /// Whatever the storage says.
    fn put(&mut self, entry: StateEntry) -> Result<()>;
}

/// Gives the entries of a snapshot back.
pub trait SnapshotReader {
    /// The next entry whose key group is in the range; `None` at the end.
    ///
    /// # Errors
    /// Whatever the storage says.
    fn next(&mut self, range: KeyGroupRange) -> Result<Option<StateEntry>>;
}

/// A snapshot in memory.
#[derive(Clone, Debug, Default)]
pub struct MemorySnapshot {
    entries: Vec<StateEntry>,
    read: usize,
}

impl MemorySnapshot {
    /// How many entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True without entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries of both, to be read from the start: what several subtasks wrote.
    #[must_use]
    pub fn merged(mut self, other: MemorySnapshot) -> Self {
        self.entries.extend(other.entries);
        self.read = 0;
        self
    }
}

impl SnapshotWriter for MemorySnapshot {
    fn put(&mut self, entry: StateEntry) -> Result<()> {
        self.entries.push(entry);
        Ok(())
    }
}

impl SnapshotReader for MemorySnapshot {
    fn next(&mut self, range: KeyGroupRange) -> Result<Option<StateEntry>> {
        while let Some(entry) = self.entries.get(self.read) {
            self.read += 1;
            if range.contains(entry.key_group) {
                return Ok(Some(entry.clone()));
            }
        }
        Ok(None)
    }
}
