//! Where checkpoint files are: any object store; by default a local directory.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use millstream_types::{Error, Result, SqlState};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use tokio::runtime::Handle;

use super::SegmentHandle;

/// Files deleted at the same time.
const DELETES: usize = 8;

/// Reads segments on a thread that may wait.
pub trait SegmentReader: Send + Sync {
    /// The bytes of a segment, checked.
    ///
    /// # Errors
    /// XX001 for damaged ones, 58P01 if the file is gone, 58030.
    fn read(&self, handle: &SegmentHandle) -> Result<Bytes>;
}

/// The checkpoint files of a cluster.
#[derive(Clone, Debug)]
pub struct CheckpointStorage {
    store: Arc<dyn ObjectStore>,
    /// Of a local directory, which has to be synced.
    root: Option<PathBuf>,
    runtime: Handle,
}

impl CheckpointStorage {
    /// Files in a directory, which is made if it is not there. Must be called in a tokio runtime.
    ///
    /// # Errors
    /// 58030 if it cannot be made.
    pub fn local(root: &FilePath) -> Result<Self> {
        std::fs::create_dir_all(root)?;
        let store = LocalFileSystem::new_with_prefix(root).map_err(|e| failed("the checkpoint directory", e))?;
        Ok(CheckpointStorage { store: Arc::new(store), root: Some(root.to_owned()), runtime: Handle::current() })
    }

    /// Files in memory, for tests.
    pub fn memory() -> Self {
        CheckpointStorage { store: Arc::new(object_store::memory::InMemory::new()), root: None, runtime: Handle::current() }
    }

    /// Writes a file; it is there, whole and durable, when this returns.
    ///
    /// # Errors
    /// 53100, 58030.
    pub async fn write(&self, file: &str, bytes: Bytes) -> Result<()> {
        self.store.put(&Path::from(file), bytes.into()).await.map_err(|e| failed(file, e))?;
        let Some(root) = self.root.clone() else { return Ok(()) };
        let path = root.join(file);
        let synced = tokio::task::spawn_blocking(move || {
            std::fs::File::open(&path)?.sync_all()?;
            // The names on the way are to be durable, too.
            for directory in path.ancestors().skip(1).take_while(|d| d.starts_with(&root)) {
                std::fs::File::open(directory)?.sync_all()?;
            }
            Ok::<_, std::io::Error>(())
        });
        synced.await.map_err(Error::internal)?.map_err(Error::from)
    }

    /// The bytes of a segment, checked.
    ///
    /// # Errors
    /// As [`SegmentReader::read`].
    pub async fn read(&self, handle: &SegmentHandle) -> Result<Bytes> {
        let range = handle.offset..handle.offset.saturating_add(handle.len);
        let bytes = self.store.get_range(&Path::from(handle.file.as_str()), range).await.map_err(|e| failed(&handle.file, e))?;
        handle.check(&bytes)?;
        Ok(bytes)
    }

    /// Names of all files.
    ///
    /// # Errors
    /// 58030.
    pub async fn list(&self) -> Result<Vec<String>> {
        let names = self.store.list(None).map_ok(|meta| meta.location.to_string());
        names.try_collect().await.map_err(|e| failed("the checkpoint directory", e))
    }

    /// Removes files; those that are gone already are fine.
    ///
    /// # Errors
    /// 58030.
    pub async fn delete(&self, files: Vec<String>) -> Result<()> {
        let deletes = files.into_iter().map(|file| async move {
            match self.store.delete(&Path::from(file.as_str())).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
                Err(e) => Err(failed(&file, e)),
            }
        });
        futures::stream::iter(deletes).buffer_unordered(DELETES).try_collect().await
    }
}

impl SegmentReader for CheckpointStorage {
    fn read(&self, handle: &SegmentHandle) -> Result<Bytes> {
        self.runtime.block_on(CheckpointStorage::read(self, handle))
    }
}

fn failed(file: &str, error: object_store::Error) -> Error {
    let text = error.to_string();
    match error {
        object_store::Error::NotFound { .. } => {
            Error::new(SqlState::UNDEFINED_FILE, format!("checkpoint file \"{file}\" does not exist")).with_detail(text)
        }
        _ if text.contains("No space left on device") => {
            Error::new(SqlState::DISK_FULL, format!("checkpoint file \"{file}\" cannot be written: the disk is full"))
        }
        _ => Error::new(SqlState::IO_ERROR, format!("checkpoint file \"{file}\" cannot be used")).with_detail(text),
    }
}
