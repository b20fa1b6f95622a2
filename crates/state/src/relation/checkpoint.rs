//! A partition's rows on their way to a checkpoint and back.
//!
//! State table 0: key = the key bytes of the map, value = version 1, how often the row is there (u64), the row (nothing for a multiset, whose
//! key is the row). A version of the rows is a persistent map, so handing one over costs nothing, and what has changed since the one
//! handed over before is their difference, found later and elsewhere.

use std::sync::Arc;

use arrow::array::ArrayRef;
use imbl::ordmap::DiffItem;
use millstream_types::{CheckpointMark, Epoch, Error, KeyGroup, KeyGroupRange, KeyHasher, Result, SqlState, limits};

use super::codec::{Entry, RelationCodec, RowMap};
use super::{RelationSpec, RelationWriter};
use crate::{FrozenState, SnapshotKind, SnapshotReader, SnapshotWriter, StateEntry, StateTableId};

const ROWS: StateTableId = StateTableId(0);
const VERSION: u8 = 1;

impl RelationWriter {
    /// Hands over the rows as they were published last.
    pub fn freeze(&mut self, mark: CheckpointMark, epoch: Epoch) -> (SnapshotKind, FrozenState) {
        let before = self.frozen.replace((epoch, self.map.clone()));
        let base = before.filter(|(at, _)| mark.base > 0 && *at == mark.base).map(|(_, map)| map);
        let kind = if base.is_some() { SnapshotKind::Delta } else { SnapshotKind::Full };
        let (spec, map) = (self.partition.spec.clone(), self.map.clone());
        let write = move |out: &mut dyn SnapshotWriter| Encoder::new(&spec)?.write(&base.unwrap_or_default(), &map, out);
        (kind, FrozenState::Lazy(Box::new(write)))
    }

    /// Continues with the rows of a checkpoint. Readers and subscribers of this process keep what they have been shown; in a process
    /// that has shown nothing yet, the rows can be read at the checkpoint's epoch from now on.
    ///
    /// # Errors
    /// XX001 for entries that are no rows.
    pub fn restore(&mut self, from: &mut dyn SnapshotReader, epoch: Epoch) -> Result<()> {
        let spec = &self.partition.spec;
        let range = KeyGroupRange::of_subtask(spec.subtask, spec.parallelism, spec.max_parallelism);
        let mut map = RowMap::new();
        while let Some(entry) = from.next(range)? {
            let (key, row) = decode(entry, spec.key.is_some())?;
            map.insert(key, row);
        }
        self.bytes = map.iter().map(|(k, e)| k.len() + e.row.len()).sum();
        self.frozen = Some((epoch, map.clone()));
        self.partition.restore(epoch, &map, self.bytes);
        self.map = map;
        self.restored = true;
        self.pending.clear();
        Ok(())
    }
}

fn decode(entry: StateEntry, keyed: bool) -> Result<(Arc<[u8]>, Entry)> {
    let wrong = || Error::new(SqlState::DATA_CORRUPTED, "stored rows of a relation cannot be read");
    let (version, value) = entry.value.as_deref().and_then(<[u8]>::split_first).ok_or_else(wrong)?;
    if *version != VERSION {
        return Err(wrong().with_detail(format!("They have version {version}, this binary knows {VERSION}.")));
    }
    let (count, row) = value.split_first_chunk().ok_or_else(wrong)?;
    let key: Arc<[u8]> = entry.key.into();
    let row = if keyed { row.into() } else { Arc::clone(&key) };
    Ok((key, Entry { row, count: u64::from_le_bytes(*count) }))
}

/// Writes differences, with the key group of every key.
struct Encoder {
    codec: RelationCodec,
    keyed: bool,
    /// Columns that say whose row it is.
    key: Vec<usize>,
    hasher: KeyHasher,
    waiting: Vec<(Arc<[u8]>, Entry, bool)>,
}

impl Encoder {
    fn new(spec: &RelationSpec) -> Result<Self> {
        let codec = RelationCodec::new(&spec.schema, spec.key.as_deref())?;
        let key = spec.key.clone().unwrap_or_else(|| (0..spec.schema.len()).collect());
        Ok(Encoder { codec, keyed: spec.key.is_some(), key, hasher: KeyHasher::new(spec.max_parallelism), waiting: vec![] })
    }

    fn write(mut self, base: &RowMap, map: &RowMap, out: &mut dyn SnapshotWriter) -> Result<()> {
        for item in base.diff(map) {
            match item {
                DiffItem::Add(key, entry) | DiffItem::Update { new: (key, entry), .. } => {
                    self.waiting.push((Arc::clone(key), entry.clone(), true));
                }
                DiffItem::Remove(key, entry) => self.waiting.push((Arc::clone(key), entry.clone(), false)),
            }
            if self.waiting.len() >= limits::BATCH_TARGET_ROWS {
                self.flush(out)?;
            }
        }
        self.flush(out)
    }

    fn key_groups(&mut self) -> Result<Vec<KeyGroup>> {
        let rows = self.codec.decode(self.waiting.iter().map(|(_, e, _)| e.row.as_ref()), &self.key)?;
        let columns: Vec<ArrayRef> = rows.columns().to_vec();
        Ok(self.hasher.key_groups(&columns, self.waiting.len())?.to_vec())
    }

    fn flush(&mut self, out: &mut dyn SnapshotWriter) -> Result<()> {
        let groups = self.key_groups()?;
        for ((key, entry, there), group) in self.waiting.drain(..).zip(groups) {
            let value = there.then(|| {
                let mut value = vec![VERSION];
                value.extend_from_slice(&entry.count.to_le_bytes());
                value.extend_from_slice(if self.keyed { &entry.row } else { &[] });
                value
            });
            out.put(StateEntry { key_group: group, table: ROWS, key: key.to_vec(), value })?;
        }
        Ok(())
    }
}
