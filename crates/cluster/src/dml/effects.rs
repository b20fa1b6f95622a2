//! What a transaction does to each key of a table: the sum over its rows, for only the end counts.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use millstream_state::RelationStore;
use millstream_types::{ChangeBatch, Epoch, Result};

use super::memory::Key;
use super::table::{Past, Table};

/// Rows added minus rows taken away, and one of the rows, for messages and look-ups.
#[derive(Debug, Clone, Copy)]
struct Effect {
    net: i64,
    batch: usize,
    row: usize,
}

/// All keys that a transaction touches in one table.
pub(super) struct Effects<'a> {
    table: &'a Table,
    batches: Vec<&'a ChangeBatch>,
    keys: HashMap<Key, Effect>,
}

impl<'a> Effects<'a> {
    pub(super) fn new(table: &'a Table, batches: Vec<&'a ChangeBatch>) -> Result<Self> {
        let mut keys: HashMap<Key, Effect> = HashMap::new();
        // Fresh row ids are new by construction: a pure INSERT needs no look at any of them.
        let fresh = table.info.hidden_row_id && batches.iter().all(|b| b.kinds().is_none());
        for (batch, changes) in batches.iter().enumerate().filter(|_| !fresh) {
            let encoded = table.keys(changes.rows())?;
            for (row, key) in encoded.iter().enumerate() {
                let sign = changes.kind(row).sign();
                match keys.get_mut(key.as_ref()) {
                    Some(effect) => effect.net += sign,
                    None => {
                        keys.insert(Arc::from(key.as_ref()), Effect { net: sign, batch, row });
                    }
                }
            }
        }
        Ok(Effects { table, batches, keys })
    }

    fn rows(&self, effect: Effect) -> &RecordBatch {
        self.batches[effect.batch].rows()
    }

    /// First committer wins.
    ///
    /// # Errors
    /// 40001 if a key has changed since the transaction's snapshot, or that can no longer be told.
    pub(super) fn check_conflicts(&self, past: &Past, snapshot: Epoch) -> Result<()> {
        for (key, effect) in &self.keys {
            let changed = past.recent.get(key).is_some_and(|(epoch, ())| *epoch > snapshot);
            if changed || past.forgotten > snapshot {
                return Err(self.table.conflict(self.rows(*effect), effect.row));
            }
        }
        Ok(())
    }

    /// One row per key, before and after.
    ///
    /// # Errors
    /// 23505 if a key would have two rows, 40001 if a row that is taken away is not there.
    pub(super) fn check_keys(&self, past: &Past, relations: &RelationStore, visible: Epoch) -> Result<()> {
        let changed: Vec<(&Key, Effect)> = self.keys.iter().filter(|(_, e)| e.net != 0).map(|(k, e)| (k, *e)).collect();
        let unknown: Vec<Effect> = changed.iter().filter(|(k, _)| past.overlay.get(k).is_none()).map(|(_, e)| *e).collect();
        let visible = self.visible_keys(&unknown, relations, visible)?;
        for (key, effect) in changed {
            let there = past.overlay.get(key).map_or_else(|| visible.contains(key.as_ref()), |(_, there)| *there);
            match i64::from(there) + effect.net {
                0 | 1 => (),
                2.. => return Err(self.table.duplicate(self.rows(effect), effect.row)),
                _ => return Err(self.table.conflict(self.rows(effect), effect.row)),
            }
        }
        Ok(())
    }

    /// Which of these keys have a row in the published version.
    fn visible_keys(&self, effects: &[Effect], relations: &RelationStore, epoch: Epoch) -> Result<HashSet<Vec<u8>>> {
        let mut lookups = vec![];
        for (batch, changes) in self.batches.iter().enumerate() {
            let rows = effects.iter().filter(|e| e.batch == batch).map(|e| u32::try_from(e.row).unwrap_or(u32::MAX));
            let rows: UInt32Array = rows.collect::<Vec<_>>().into();
            if !rows.is_empty() {
                lookups.push(take_record_batch(&self.table.project_key(changes.rows())?, &rows)?);
            }
        }
        let Some(first) = lookups.first() else { return Ok(HashSet::new()) };
        let keys = concat_batches(&first.schema(), &lookups)?;
        let found = relations.get(self.table.info.table, &keys, epoch)?;
        let encoded = self.table.keys(&found)?;
        Ok(encoded.iter().map(|k| k.as_ref().to_vec()).collect())
    }

    /// The transaction is in the log. `snapshots` is false if nobody holds an older snapshot than its epoch.
    pub(super) fn remember(self, past: &mut Past, epoch: Epoch, snapshots: bool) {
        if !snapshots && !self.keys.is_empty() {
            past.forgotten = past.forgotten.max(epoch);
        }
        for (key, effect) in self.keys {
            if snapshots {
                past.recent.insert(Arc::clone(&key), epoch, ());
            }
            match effect.net {
                0 => (),
                net => past.overlay.insert(key, epoch, net > 0),
            }
        }
    }
}
