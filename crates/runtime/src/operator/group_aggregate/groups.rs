//! The keys of the groups and their slots.

use arrow::array::ArrayRef;
use arrow::util::display::array_value_to_string;
use millstream_state::{KeyCodec, KeyedTable};
use millstream_types::{ChangeBatch, KeyGroup, KeyHasher, Result, Schema};

use super::GROUPS;

/// Keys to slots. A slot is the index of the columns of state; it stays the same until the group is removed.
pub(super) struct Groups {
    keys: Vec<usize>,
    /// `None` without keys: one group, slot 0.
    table: Option<(KeyCodec, KeyedTable<()>)>,
    hasher: KeyHasher,
    /// The key group of the empty key.
    global_group: KeyGroup,
    /// One more than the largest slot ever used.
    slots: usize,
    /// The buffer of the last `find`.
    found: Vec<u32>,
}

impl Groups {
    pub(super) fn new(keys: &[usize], input: &Schema, max_parallelism: u32) -> Result<Self> {
        let global = keys.is_empty();
        let types = input.project(keys).columns.into_iter().map(|c| c.sql_type.to_arrow());
        let table = if global { None } else { Some((KeyCodec::new(types)?, KeyedTable::new(GROUPS))) };
        let mut hasher = KeyHasher::new(max_parallelism);
        let global_group = hasher.key_groups(&[], 1)?.first().copied().unwrap_or(0);
        Ok(Groups { keys: keys.to_vec(), table, hasher, global_group, slots: usize::from(global), found: vec![] })
    }

    pub(super) fn is_global(&self) -> bool {
        self.table.is_none()
    }

    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    pub(super) fn len(&self) -> usize {
        self.table.as_ref().map_or(1, |(_, table)| table.len())
    }

    /// The slot of every row; new groups get one. Give the vector back with [`Groups::put_back`].
    pub(super) fn find(&mut self, batch: &ChangeBatch) -> Result<Vec<u32>> {
        let mut found = std::mem::take(&mut self.found);
        let Some((codec, table)) = &mut self.table else {
            found.clear();
            found.resize(batch.num_rows(), 0);
            return Ok(found);
        };
        let columns: Vec<ArrayRef> = self.keys.iter().map(|k| ArrayRef::clone(batch.column(*k))).collect();
        let key_groups = self.hasher.key_groups(&columns, batch.num_rows())?;
        let keys = codec.encode(&columns)?;
        table.get_or_insert_batch(&keys, &key_groups, &mut found, || ());
        let largest = found.iter().max().map_or(0, |s| *s as usize + 1);
        self.slots = self.slots.max(largest);
        Ok(found)
    }

    pub(super) fn put_back(&mut self, found: Vec<u32>) {
        self.found = found;
    }

    /// The slot of a key from a snapshot.
    pub(super) fn insert(&mut self, key: &[u8], key_group: KeyGroup) -> u32 {
        let Some((_, table)) = &mut self.table else { return 0 };
        let slot = table.get_or_insert(key, key_group, || ());
        self.slots = self.slots.max(slot as usize + 1);
        slot
    }

    /// Key and key group of a slot in use.
    pub(super) fn entry(&self, slot: u32) -> Option<(&[u8], KeyGroup)> {
        match &self.table {
            Some((_, table)) => table.key(slot).zip(table.key_group(slot)),
            None => Some((&[], self.global_group)),
        }
    }

    pub(super) fn remove(&mut self, slot: u32) {
        if let Some((_, table)) = &mut self.table {
            table.remove(slot);
        }
    }

    /// The key columns of these slots, which may repeat.
    pub(super) fn columns(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        match &self.table {
            Some((codec, table)) => codec.decode(slots.iter().filter_map(|s| table.key(*s))),
            None => Ok(vec![]),
        }
    }

    /// The key of a slot for people.
    pub(super) fn describe(&self, slot: u32) -> Result<String> {
        let texts = self.columns(&[slot])?.iter().map(|c| Ok(array_value_to_string(c, 0)?)).collect::<Result<Vec<_>>>()?;
        Ok(texts.join(", "))
    }

    pub(super) fn bytes(&self) -> usize {
        self.table.as_ref().map_or(0, |(_, table)| table.bytes())
    }
}
