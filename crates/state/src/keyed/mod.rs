//! Keyed state of operators: a vectorised hash table from key bytes to values.
//!
//! An operator touches its table once per batch and distinct key: it encodes the keys of a batch, asks for the entry of every row in one
//! call, and then works on values by index. Values know how to write themselves with a version, for snapshots and for the disk below.

mod table;

use millstream_types::Result;

pub use table::KeyedTable;

/// Number of a state table within its operator; part of the key on disk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StateTableId(pub u16);

/// A value of a state table.
pub trait StateValue: Sized {
    /// Version of the encoding that [`StateValue::encode`] writes.
    const VERSION: u8;

    /// Appends the value.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads what [`StateValue::encode`] of this or an older `version` wrote.
    ///
    /// # Errors
    /// XX001 for bytes that are no value, or a version from the future.
    fn decode(version: u8, bytes: &[u8]) -> Result<Self>;
}
