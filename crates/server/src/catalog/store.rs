//! Where versions of the catalog are kept: the seam under which they become durable.

use std::fmt;
use std::sync::Arc;

use millstream_types::Result;
use parking_lot::RwLock;

use super::CatalogState;

/// Keeps the newest version of the catalog.
pub trait CatalogStore: fmt::Debug + Send + Sync {
    /// The newest version.
    fn load(&self) -> Arc<CatalogState>;

    /// Makes `next` the newest version if `current` still is; says whether it did.
    ///
    /// # Errors
    /// What the store says when it cannot be written.
    fn compare_and_set(&self, current: &Arc<CatalogState>, next: CatalogState) -> Result<bool>;
}

/// Keeps it in memory.
#[derive(Debug)]
pub struct MemoryStore {
    newest: RwLock<Arc<CatalogState>>,
}

impl MemoryStore {
    /// A store with this version.
    pub fn new(state: CatalogState) -> Self {
        MemoryStore { newest: RwLock::new(Arc::new(state)) }
    }
}

impl CatalogStore for MemoryStore {
    fn load(&self) -> Arc<CatalogState> {
        Arc::clone(&self.newest.read())
    }

    fn compare_and_set(&self, current: &Arc<CatalogState>, next: CatalogState) -> Result<bool> {
        let mut newest = self.newest.write();
        let unchanged = Arc::ptr_eq(&newest, current);
        if unchanged {
            *newest = Arc::new(next);
        }
        Ok(unchanged)
    }
}
