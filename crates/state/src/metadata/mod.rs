//! The metadata store: what must survive whole. Catalog objects, jobs, checkpoint pointers and epoch blocks are values by key; a commit
//! writes several of them, all or none, and is durable when it returns.
//!
//! Every value has a *revision*, the number of the commit that wrote it. A commit may name the revisions it was decided on and is refused
//! when one of them is another by now: that is how a replaced leader is kept from writing.

mod memory;
mod rocks;
#[cfg(test)]
mod tests;

use millstream_types::{Error, Result, SqlState};

pub use memory::MemoryMetadata;
pub use rocks::RocksMetadata;

/// Number of the commit that wrote a value; counts from 1.
pub type Revision = u64;

/// A value as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The commit that wrote it.
    pub revision: Revision,
    /// The value.
    pub value: Vec<u8>,
}

/// One write of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataWrite {
    /// Sets a value.
    Put(String, Vec<u8>),
    /// Removes a value; one that is not there is fine.
    Delete(String),
}

/// What a commit relies on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The key.
    pub key: String,
    /// Its revision; `None`: it is not there.
    pub revision: Option<Revision>,
}

/// Values by key, changed by atomic commits.
pub trait MetadataStore: Send + Sync + std::fmt::Debug {
    /// One value.
    ///
    /// # Errors
    /// XX001 if it cannot be trusted, 58030 if the store cannot be read.
    fn get(&self, key: &str) -> Result<Option<Metadata>>;

    /// All values whose keys start with `prefix`, in key order.
    ///
    /// # Errors
    /// As [`MetadataStore::get`].
    fn scan(&self, prefix: &str) -> Result<Vec<(String, Metadata)>>;

    /// Writes all or none; durable when it returns. The revision of the commit.
    ///
    /// # Errors
    /// 40001 if a value has another revision than expected; 53100 or 58030 if the store cannot be written.
    fn commit(&self, expected: &[Expected], writes: Vec<MetadataWrite>) -> Result<Revision>;
}

fn conflict(key: &str) -> Error {
    Error::new(SqlState::SERIALIZATION_FAILURE, format!("metadata \"{key}\" was changed meanwhile"))
}
