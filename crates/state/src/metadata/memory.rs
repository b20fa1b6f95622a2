//! Metadata in memory, for clusters that need not survive their process.

use std::collections::BTreeMap;

use millstream_types::Result;
use parking_lot::Mutex;

use super::{Expected, Metadata, MetadataStore, MetadataWrite, Revision, conflict};

/// Keeps everything in a map.
#[derive(Debug, Default)]
pub struct MemoryMetadata {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    revision: Revision,
    values: BTreeMap<String, Metadata>,
}

impl MetadataStore for MemoryMetadata {
    fn get(&self, key: &str) -> Result<Option<Metadata>> {
        Ok(self.inner.lock().values.get(key).cloned())
    }

    fn scan(&self, prefix: &str) -> Result<Vec<(String, Metadata)>> {
        let inner = self.inner.lock();
        let from = inner.values.range(prefix.to_owned()..).take_while(|(key, _)| key.starts_with(prefix));
        Ok(from.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    fn commit(&self, expected: &[Expected], writes: Vec<MetadataWrite>) -> Result<Revision> {
        let mut inner = self.inner.lock();
        if let Some(e) = expected.iter().find(|e| inner.values.get(&e.key).map(|m| m.revision) != e.revision) {
            return Err(conflict(&e.key));
        }
        inner.revision += 1;
        let revision = inner.revision;
        for write in writes {
            match write {
                MetadataWrite::Put(key, value) => {
                    inner.values.insert(key, Metadata { revision, value });
                }
                MetadataWrite::Delete(key) => {
                    inner.values.remove(&key);
                }
            }
        }
        Ok(revision)
    }
}
