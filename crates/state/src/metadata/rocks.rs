//! Metadata in a RocksDB in the data directory: its write batches are atomic, its log is synced with every commit, its checksums find
//! flipped bits, its lock file keeps a second server out.
//!
//! A stored value is its revision (u64, little endian) and the value. The number of the last commit is a value of its own, as is the
//! version of this layout, which is read before anything else.

use std::path::{Path, PathBuf};

use millstream_types::{Error, Result, SqlState};
use parking_lot::Mutex;
use rocksdb::{DB, DBRecoveryMode, Direction, IteratorMode, Options, WriteBatch, WriteOptions};

use super::{Expected, Metadata, MetadataStore, MetadataWrite, Revision, conflict};

/// Version of the layout that this binary writes.
const LAYOUT: u32 = 1;
/// Keys of the store's own; no other key starts with a zero byte.
const LAYOUT_KEY: &[u8] = b"\0layout";
const REVISION_KEY: &[u8] = b"\0revision";
/// Values between the keys of two flushes stay small: a write buffer of this size is enough.
const WRITE_BUFFER_BYTES: usize = 1 << 20;

/// The embedded metadata store.
pub struct RocksMetadata {
    db: DB,
    path: PathBuf,
    /// Number of the last commit; held while one is written.
    last: Mutex<Revision>,
}

impl RocksMetadata {
    /// Opens the store in a directory of its own, or makes it.
    ///
    /// # Errors
    /// 55006 if another process has it open; XX001 if it is damaged or was written by a newer version, with both versions named; 58030.
    pub fn open(path: &Path) -> Result<Self> {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_paranoid_checks(true);
        // A record that was torn by a crash was never acknowledged; anything else that cannot be read is damage.
        options.set_wal_recovery_mode(DBRecoveryMode::TolerateCorruptedTailRecords);
        options.set_write_buffer_size(WRITE_BUFFER_BYTES);
        options.set_keep_log_file_num(1);
        options.set_max_log_file_size(1 << 20);
        let db = DB::open(&options, path).map_err(|e| failed(path, &e))?;
        let store = RocksMetadata { db, path: path.to_owned(), last: Mutex::new(0) };
        match store.raw(LAYOUT_KEY)? {
            None => store.write(|batch| batch.put(LAYOUT_KEY, LAYOUT.to_le_bytes()))?,
            Some(bytes) => {
                let found = bytes.try_into().map(u32::from_le_bytes).map_err(|_| store.damaged("the version cannot be read"))?;
                if found > LAYOUT {
                    return Err(Error::new(SqlState::DATA_CORRUPTED, "the data directory was written by a newer version of Millstream")
                        .with_detail(format!("{} has layout {found}, this binary knows up to {LAYOUT}.", path.display()))
                        .with_hint("start it with the newer version"));
                }
            }
        }
        if let Some(bytes) = store.raw(REVISION_KEY)? {
            *store.last.lock() = bytes.try_into().map(u64::from_le_bytes).map_err(|_| store.damaged("the last revision cannot be read"))?;
        }
        Ok(store)
    }

    fn raw(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.db.get(key).map_err(|e| failed(&self.path, &e))
    }

    fn write(&self, fill: impl FnOnce(&mut WriteBatch)) -> Result<()> {
        let mut batch = WriteBatch::default();
        fill(&mut batch);
        let mut options = WriteOptions::default();
        options.set_sync(true);
        self.db.write_opt(batch, &options).map_err(|e| failed(&self.path, &e))
    }

    fn damaged(&self, what: &str) -> Error {
        Error::new(SqlState::DATA_CORRUPTED, "metadata is damaged").with_detail(format!("{}: {what}.", self.path.display()))
    }

    fn decode(&self, key: &str, bytes: &[u8]) -> Result<Metadata> {
        let (revision, value) = bytes.split_first_chunk().ok_or_else(|| self.damaged(&format!("value \"{key}\" is too short")))?;
        Ok(Metadata { revision: u64::from_le_bytes(*revision), value: value.to_vec() })
    }
}

impl MetadataStore for RocksMetadata {
    fn get(&self, key: &str) -> Result<Option<Metadata>> {
        self.raw(key.as_bytes())?.map(|bytes| self.decode(key, &bytes)).transpose()
    }

    fn scan(&self, prefix: &str) -> Result<Vec<(String, Metadata)>> {
        let mut found = vec![];
        for entry in self.db.iterator(IteratorMode::From(prefix.as_bytes(), Direction::Forward)) {
            let (key, value) = entry.map_err(|e| failed(&self.path, &e))?;
            if !key.starts_with(prefix.as_bytes()) {
                break;
            }
            if key.first() == Some(&0) {
                continue;
            }
            let key = String::from_utf8(key.into_vec()).map_err(|_| self.damaged("a key is no text"))?;
            let value = self.decode(&key, &value)?;
            found.push((key, value));
        }
        Ok(found)
    }

    fn commit(&self, expected: &[Expected], writes: Vec<MetadataWrite>) -> Result<Revision> {
        let mut last = self.last.lock();
        for e in expected {
            if self.get(&e.key)?.map(|m| m.revision) != e.revision {
                return Err(conflict(&e.key));
            }
        }
        let revision = *last + 1;
        self.write(|batch| {
            for write in writes {
                match write {
                    MetadataWrite::Put(key, value) => batch.put(key, [&revision.to_le_bytes()[..], &value].concat()),
                    MetadataWrite::Delete(key) => batch.delete(key),
                }
            }
            batch.put(REVISION_KEY, revision.to_le_bytes());
        })?;
        *last = revision;
        Ok(revision)
    }
}

fn failed(path: &Path, error: &rocksdb::Error) -> Error {
    let text = error.to_string();
    let path = path.display();
    if text.contains("lock") && text.contains("LOCK") {
        return Error::new(SqlState::OBJECT_IN_USE, format!("the data directory is in use by another server: {path}"))
            .with_hint("stop the other server or choose another directory with --data-dir");
    }
    let state = match error.kind() {
        rocksdb::ErrorKind::Corruption => SqlState::DATA_CORRUPTED,
        _ if text.contains("No space left on device") => SqlState::DISK_FULL,
        _ => SqlState::IO_ERROR,
    };
    Error::new(state, format!("metadata in {path} cannot be used")).with_detail(text)
}

impl std::fmt::Debug for RocksMetadata {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RocksMetadata").field("path", &self.path).finish_non_exhaustive()
    }
}
