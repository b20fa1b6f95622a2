//! The bytes of a segment.
//!
//! `MSSG`, version (u16), then entries: key group (u16), state table (u16), key length (u32), key, value length (u32; `u32::MAX` for a key
//! that is gone), value. All numbers little endian. The checksum (xxh3 of all of it) is in the handle, where metadata keeps it.

use millstream_types::{Error, KeyGroupRange, Result, SqlState, limits};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use bytes::{Buf, Bytes};

use crate::{SnapshotReader, SnapshotWriter, StateEntry, StateTableId};

const MAGIC: &[u8; 4] = b"MSSG";
const VERSION: u16 = 1;
const GONE: u32 = u32::MAX;

/// Where a segment is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentHandle {
    /// Name of the file in the checkpoint storage.
    pub file: String,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// xxh3 of the bytes.
    pub checksum: u64,
}

/// A segment being written.
#[derive(Debug)]
pub struct SegmentWriter {
    bytes: Vec<u8>,
    entries: u64,
}

impl Default for SegmentWriter {
    fn default() -> Self {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        SegmentWriter { bytes, entries: 0 }
    }
}

impl SegmentWriter {
    /// Entries so far.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The handle of a segment with these bytes.
    pub fn handle(file: &str, offset: u64, bytes: &[u8]) -> SegmentHandle {
        SegmentHandle { file: file.into(), offset, len: bytes.len() as u64, checksum: xxh3_64(bytes) }
    }
}

fn length(bytes: &[u8]) -> Result<u32> {
    u32::try_from(bytes.len()).ok().filter(|l| *l < GONE).ok_or_else(|| {
        Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "a key or value of state is too long")
            .with_detail(format!("It has {} bytes.", bytes.len()))
    })
}

impl SnapshotWriter for SegmentWriter {
    fn put(&mut self, entry: StateEntry) -> Result<()> {
        let (key, value) = (length(&entry.key)?, entry.value.as_deref().map_or(Ok(GONE), length)?);
        self.bytes.extend_from_slice(&entry.key_group.to_le_bytes());
        self.bytes.extend_from_slice(&entry.table.0.to_le_bytes());
        self.bytes.extend_from_slice(&key.to_le_bytes());
        self.bytes.extend_from_slice(&entry.key);
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self.bytes.extend_from_slice(entry.value.as_deref().unwrap_or_default());
        self.entries += 1;
        Ok(())
    }
}

impl SegmentHandle {
    /// Refuses bytes that are not those of this segment.
    ///
    /// # Errors
    /// XX001, naming file and place.
    pub fn check(&self, bytes: &[u8]) -> Result<()> {
        if bytes.len() as u64 == self.len && xxh3_64(bytes) == self.checksum {
            return Ok(());
        }
        Err(self.damaged("Its checksum is wrong."))
    }

    fn damaged(&self, what: &str) -> Error {
        Error::new(SqlState::DATA_CORRUPTED, format!("checkpoint file \"{}\" is damaged", self.file))
            .with_detail(format!("{what} Bytes {} to {}.", self.offset, self.offset + self.len))
            .with_hint("restore the file from a backup of the data directory")
    }
}

/// The merged entries of several segments: of a key that is in more than one, the last counts.
#[derive(Debug, Default)]
pub struct SegmentSnapshot {
    entries: hashbrown::HashMap<(u16, Bytes), Option<(u16, Bytes)>>,
    ready: Option<Vec<StateEntry>>,
}

impl SegmentSnapshot {
    /// Takes the entries of a segment; those of key groups outside the range are left out.
    ///
    /// # Errors
    /// XX001 for bytes that are no segment, or one of a newer version.
    pub fn add(&mut self, handle: &SegmentHandle, mut bytes: Bytes, range: KeyGroupRange) -> Result<()> {
        let short = || handle.damaged("It ends early.");
        if bytes.len() < 6 || &bytes[..4] != MAGIC {
            return Err(handle.damaged("It is no segment."));
        }
        bytes.advance(4);
        let version = bytes.get_u16_le();
        if version > VERSION {
            return Err(Error::new(SqlState::DATA_CORRUPTED, "state was written by a newer version of Millstream")
                .with_detail(format!("Segments have version {version}, this binary knows up to {VERSION}.")));
        }
        while bytes.has_remaining() {
            if bytes.remaining() < 8 {
                return Err(short());
            }
            let (key_group, table, key) = (bytes.get_u16_le(), bytes.get_u16_le(), bytes.get_u32_le() as usize);
            if bytes.remaining() < key.saturating_add(4) {
                return Err(short());
            }
            let key = bytes.split_to(key);
            let value = match bytes.get_u32_le() {
                GONE => None,
                len if bytes.remaining() < len as usize => return Err(short()),
                len => Some((key_group, bytes.split_to(len as usize))),
            };
            if range.contains(key_group) || key_group == limits::ANY_KEY_GROUP {
                self.entries.insert((table, key), value);
            }
        }
        Ok(())
    }
}

impl SnapshotReader for SegmentSnapshot {
    fn next(&mut self, range: KeyGroupRange) -> Result<Option<StateEntry>> {
        let entries = &mut self.entries;
        let ready = self.ready.get_or_insert_with(|| {
            let live = entries.drain().filter_map(|((table, key), value)| {
                let (key_group, value) = value?;
                Some(StateEntry { key_group, table: StateTableId(table), key: key.to_vec(), value: Some(value.to_vec()) })
            });
            let mut live: Vec<StateEntry> = live.collect();
            // In an order that does not depend on this process's hasher; read from the end.
            live.sort_unstable_by(|a, b| (b.table, &b.key).cmp(&(a.table, &a.key)));
            live
        });
        while let Some(entry) = ready.pop() {
            if range.contains(entry.key_group) || entry.key_group == limits::ANY_KEY_GROUP {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }
}
