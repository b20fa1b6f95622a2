//! The few things the log asks of a file system, so that a test can put one under it that forgets what was not synced.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use millstream_types::faults::{self, Bug};
use rustix::fs::FallocateFlags;

/// Bytes that a file grows by before they are written: a sync of data in them need not sync the file's size.
const GROW_BYTES: u64 = 1 << 20;

/// A directory of log files.
pub trait LogFiles: Send + Sync + std::fmt::Debug {
    /// Makes a file that is not there yet; its name is durable when this returns.
    ///
    /// # Errors
    /// What the system says.
    fn create(&self, name: &str) -> io::Result<Box<dyn LogFile>>;

    /// Names of all files.
    ///
    /// # Errors
    /// What the system says.
    fn list(&self) -> io::Result<Vec<String>>;

    /// A file's bytes; behind the last one written there may be zeros.
    ///
    /// # Errors
    /// What the system says.
    fn read(&self, name: &str) -> io::Result<Vec<u8>>;

    /// Removes a file.
    ///
    /// # Errors
    /// What the system says.
    fn remove(&self, name: &str) -> io::Result<()>;
}

/// A file that grows.
pub trait LogFile: Send {
    /// Writes behind what was written.
    ///
    /// # Errors
    /// What the system says.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes everything written durable.
    ///
    /// # Errors
    /// What the system says. Nobody knows then what is durable: the file must not be written any more.
    fn sync(&mut self) -> io::Result<()>;
}

/// A directory of the operating system's.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
}

/// Keeps bytes to itself until they are synced, so that a killed process loses them.
struct UntilSynced {
    file: OpenFile,
    unsynced: Vec<u8>,
}

struct OpenFile {
    file: File,
    written: u64,
    allocated: u64,
}

impl Directory {
    /// Opens a directory, which is made if it is not there.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        Ok(Directory { path: path.to_owned() })
    }
}

impl LogFiles for Directory {
    fn create(&self, name: &str) -> io::Result<Box<dyn LogFile>> {
        let file = OpenOptions::new().write(true).create_new(true).open(self.path.join(name))?;
        File::open(&self.path)?.sync_all()?;
        let file = OpenFile { file, written: 0, allocated: 0 };
        Ok(if faults::loses_unsynced() { Box::new(UntilSynced { file, unsynced: vec![] }) } else { Box::new(file) })
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let names = std::fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        names.collect()
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        std::fs::read(self.path.join(name))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.path.join(name))
    }
}

impl LogFile for OpenFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let end = self.written + bytes.len() as u64;
        if end > self.allocated {
            let wanted = end.next_multiple_of(GROW_BYTES);
            match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), self.allocated, wanted - self.allocated) {
                // A file system that cannot do it only makes syncs slower.
                Ok(()) | Err(rustix::io::Errno::OPNOTSUPP) => self.allocated = wanted,
                Err(e) => return Err(e.into()),
            }
        }
        self.file.write_all(bytes)?;
        self.written = end;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
}

impl LogFile for UntilSynced {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.unsynced.extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        if faults::has_bug(Bug::SkipFsync) {
            return Ok(());
        }
        self.file.append(&self.unsynced)?;
        self.unsynced.clear();
        self.file.sync()
    }
}
