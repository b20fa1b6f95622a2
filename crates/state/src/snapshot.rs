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
    /// Version byte, then the value's own encoding; `None` if the key is gone.
    pub value: Option<Vec<u8>>,
}

impl StateEntry {
    /// An entry of a versioned value.
    pub fn new<V: StateValue>(key_group: KeyGroup, table: StateTableId, key: &[u8], value: &V) -> Self {
        let mut bytes = vec![V::VERSION];
        value.encode(&mut bytes);
        StateEntry { key_group, table, key: key.to_vec(), value: Some(bytes) }
    }

    /// An entry that says that a key is gone.
    pub fn gone(key_group: KeyGroup, table: StateTableId, key: &[u8]) -> Self {
        StateEntry { key_group, table, key: key.to_vec(), value: None }
    }

    /// The value.
    ///
    /// # Errors
    /// XX001 if it is none of this type, or was written by a newer version.
    pub fn decode<V: StateValue>(&self) -> Result<V> {
        match self.value.as_deref().unwrap_or_default().split_first() {
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
