//! The writer locks that a transaction holds, taken in one order so that nobody waits in a circle.

use std::sync::Arc;

use millstream_types::{Error, RelationId, Result};
use tokio::sync::OwnedMutexGuard;

use super::table::Table;

/// Locks on tables; they end when this is dropped.
#[derive(Debug)]
pub struct TableLocks {
    held: Vec<(Arc<Table>, OwnedMutexGuard<()>)>,
}

impl TableLocks {
    pub(super) async fn take(mut tables: Vec<Arc<Table>>) -> Self {
        tables.sort_by_key(|t| t.info.table);
        tables.dedup_by_key(|t| t.info.table);
        let mut held = Vec::with_capacity(tables.len());
        for table in tables {
            let guard = Arc::clone(&table.lock).lock_owned().await;
            held.push((table, guard));
        }
        TableLocks { held }
    }

    /// The locked tables, in order.
    pub fn tables(&self) -> impl Iterator<Item = RelationId> + '_ {
        self.held.iter().map(|(t, _)| t.info.table)
    }

    pub(super) fn get(&self, table: RelationId) -> Result<&Arc<Table>> {
        let found = self.held.iter().find(|(t, _)| t.info.table == table);
        found.map(|(t, _)| t).ok_or_else(|| Error::internal(format!("table {table} is written without its lock")))
    }
}
