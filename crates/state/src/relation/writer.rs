//! The writing end: nets an epoch's changes and publishes them as a version.

use std::collections::HashMap;
use std::sync::Arc;

use millstream_types::{Barrier, ChangeBatch, Epoch, Error, Result, RowKind};

use super::codec::{Entry, RelationCodec, RowMap};
use super::partition::Partition;

/// Writes one partition.
#[derive(Debug)]
pub struct RelationWriter {
    pub(super) partition: Arc<Partition>,
    fence: u64,
    codec: RelationCodec,
    pub(super) map: RowMap,
    pub(super) bytes: usize,
    /// Net count per full row of the open epoch, with its key (the row itself for a multiset).
    pub(super) pending: HashMap<Arc<[u8]>, Pending>,
    /// The version that was handed over to a checkpoint last.
    pub(super) frozen: Option<(Epoch, RowMap)>,
    /// The rows come from a checkpoint and were not published since.
    pub(super) restored: bool,
}

#[derive(Debug)]
pub(super) struct Pending {
    key: Option<Arc<[u8]>>,
    net: i64,
}

impl RelationWriter {
    pub(super) fn new(partition: Arc<Partition>) -> Result<Self> {
        let codec = RelationCodec::new(&partition.spec.schema, partition.spec.key.as_deref())?;
        let fence = partition.new_writer();
        let (_, map) = partition.newest();
        let bytes = map.iter().map(|(k, e)| k.len() + e.row.len()).sum();
        Ok(RelationWriter { partition, fence, codec, map, bytes, pending: HashMap::new(), frozen: None, restored: false })
    }

    /// Collects changes of the open epoch.
    ///
    /// # Errors
    /// XX000 if the batch has other columns.
    pub fn apply(&mut self, batch: &ChangeBatch) -> Result<()> {
        let rows = self.codec.encode_rows(batch.rows())?;
        let keys = self.codec.encode_keys(batch.rows())?;
        for (i, row) in rows.iter().enumerate() {
            let sign = batch.kind(i).sign();
            if let Some(pending) = self.pending.get_mut(row.as_ref()) {
                pending.net += sign;
                continue;
            }
            let key = keys.as_ref().map(|k| Arc::from(k.row(i).as_ref()));
            self.pending.insert(Arc::from(row.as_ref()), Pending { key, net: sign });
        }
        Ok(())
    }

    /// Publishes the open epoch: its net changes become the version of `barrier.epoch`. Returns whether anything changed.
    ///
    /// # Errors
    /// XX000 if rows are taken back that are not there, or a key would have two rows: the input is inconsistent, judged only here.
    pub fn publish(&mut self, barrier: Barrier) -> Result<bool> {
        let netted = !self.pending.is_empty() && self.apply_net()?;
        let changed = std::mem::take(&mut self.restored) || netted;
        let map = changed.then(|| self.map.clone());
        self.partition.publish(self.fence, barrier.epoch, barrier.since, map, self.bytes)?;
        Ok(changed)
    }

    /// Nothing follows.
    pub fn finish(&mut self) {
        self.partition.finish();
    }

    fn apply_net(&mut self) -> Result<bool> {
        let mut changes: Vec<_> = self.pending.drain().filter(|(_, p)| p.net != 0).collect();
        // Old values of a key go before its new one.
        changes.sort_unstable_by(|(a, p), (b, q)| p.net.cmp(&q.net).then_with(|| a.cmp(b)));
        for (row, pending) in &changes {
            let keyed = pending.key.is_some();
            let key = pending.key.as_ref().unwrap_or(row);
            match (keyed, pending.net) {
                (true, -1) => self.remove(key, row)?,
                (true, 1) => self.insert(key, row)?,
                (true, net) => return Err(self.inconsistent(key, &format!("a row changed its count by {net}"))),
                (false, net) => self.count(row, net)?,
            }
        }
        Ok(!changes.is_empty())
    }

    fn remove(&mut self, key: &Arc<[u8]>, row: &Arc<[u8]>) -> Result<()> {
        match self.map.get(key) {
            Some(entry) if entry.row == *row => {
                self.bytes = self.bytes.saturating_sub(key.len() + row.len());
                self.map.remove(key);
                Ok(())
            }
            Some(_) => Err(self.inconsistent(key, "a retraction names another row than the one that is there")),
            None => Err(self.inconsistent(key, "a row was retracted that was never there")),
        }
    }

    fn insert(&mut self, key: &Arc<[u8]>, row: &Arc<[u8]>) -> Result<()> {
        self.bytes += key.len() + row.len();
        match self.map.insert(Arc::clone(key), Entry { row: Arc::clone(row), count: 1 }) {
            None => Ok(()),
            Some(_) => Err(self.inconsistent(key, "two rows for one key")),
        }
    }

    fn count(&mut self, row: &Arc<[u8]>, net: i64) -> Result<()> {
        let old = self.map.get(row).map_or(0, |e| e.count);
        let Some(new) = old.checked_add_signed(net) else {
            return Err(self.inconsistent(row, "a row was retracted more often than it was there"));
        };
        if new == 0 {
            self.bytes = self.bytes.saturating_sub(row.len());
            self.map.remove(row);
        } else {
            self.bytes += if old == 0 { row.len() } else { 0 };
            self.map.insert(Arc::clone(row), Entry { row: Arc::clone(row), count: new });
        }
        Ok(())
    }

    fn inconsistent(&self, key: &[u8], what: &str) -> Error {
        let name = &self.partition.spec.name;
        Error::internal(format!("inconsistent changes for relation \"{name}\": {what}"))
            .with_detail(format!("Key {}.", self.codec.describe_key(key)))
    }
}

/// The kinds of an update, for subscribers: -U before +U.
pub(super) const UPDATE: [RowKind; 2] = [RowKind::UpdateBefore, RowKind::UpdateAfter];
