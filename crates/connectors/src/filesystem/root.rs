//! The sandbox: every name is resolved by the kernel beneath an allowed root, and only regular files are opened.

use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use glob::{MatchOptions, Pattern};
use millstream_types::{Error, Result, SqlState};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Directories below each other that a pattern may reach.
const MAX_DEPTH: usize = 16;
/// Files of one source.
const MAX_FILES: usize = 100_000;

/// A path option, beneath a root.
#[derive(Debug)]
pub(super) struct Location {
    root: PathBuf,
    /// Relative to the root; may be a pattern.
    path: String,
}

/// Bytes at the start of a file by which it is known again.
const HEAD_BYTES: u64 = 4_096;

/// An open file and what it was when it was opened.
pub(super) struct OpenFile {
    pub(super) file: std::fs::File,
    pub(super) inode: u64,
    pub(super) size: u64,
}

/// The first bytes of a file, as much of them as there were: a file with other ones is another file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    bytes: u64,
    hash: u64,
}

impl OpenFile {
    /// The head as it is now, of at most `bytes` bytes. Where the file is read from stays as it is.
    ///
    /// # Errors
    /// 58030.
    pub(super) fn head(&self, name: &str, bytes: u64) -> Result<Head> {
        let mut head = vec![0; usize::try_from(bytes.min(HEAD_BYTES).min(self.size)).unwrap_or(0)];
        self.file.read_exact_at(&mut head, 0).map_err(|e| failed(name, e))?;
        Ok(Head { bytes: head.len() as u64, hash: xxh3_64(&head) })
    }

    /// True if the file starts as it did when `head` was taken.
    ///
    /// # Errors
    /// 58030.
    pub(super) fn starts_with(&self, name: &str, head: Head) -> Result<bool> {
        Ok(self.size >= head.bytes && self.head(name, head.bytes)? == head)
    }
}

fn refused(path: &str, why: &str) -> Error {
    Error::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("path \"{path}\" is not allowed")).with_detail(why).with_hint(
        "Files are read and written only below the server's file roots (<data-dir>/files, and `file_roots` of its configuration).",
    )
}

/// An error of the system for `path`. Leaving the root shows as a refused permission.
pub(super) fn failed(path: &str, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::PermissionDenied => refused(path, &error.to_string()),
        io::ErrorKind::NotFound => Error::new(SqlState::UNDEFINED_FILE, format!("file \"{path}\" does not exist")),
        _ => Error::from(error).context(format!("file \"{path}\"")),
    }
}

impl Location {
    /// Relative paths start at the first root; absolute ones must be below one.
    ///
    /// # Errors
    /// 42501 for a path that could leave its root, or without roots.
    pub(super) fn parse(path: &str, roots: &[PathBuf]) -> Result<Location> {
        if path.contains("://") || path.starts_with('~') {
            return Err(refused(path, "It must be a plain path, without scheme or home directory."));
        }
        if path.contains('\0') || path.trim().is_empty() {
            return Err(refused(path, "It is no path."));
        }
        let given = Path::new(path);
        if given.components().any(|c| c == Component::ParentDir) {
            return Err(refused(path, "It contains \"..\"."));
        }
        let below = |root: &PathBuf| -> Option<(PathBuf, PathBuf)> {
            if given.is_relative() {
                return Some((root.clone(), given.to_path_buf()));
            }
            let real = root.canonicalize().unwrap_or_else(|_| root.clone());
            let rest = given.strip_prefix(root).or_else(|_| given.strip_prefix(&real)).ok()?;
            Some((root.clone(), rest.to_path_buf()))
        };
        let Some((root, rest)) = roots.iter().find_map(below) else {
            return Err(refused(path, "It is not below a file root."));
        };
        let rest: PathBuf = rest.components().filter(|c| *c != Component::CurDir).collect();
        let path = rest.to_str().ok_or_else(|| refused(path, "It is not UTF-8."))?.to_string();
        Ok(Location { root, path })
    }

    /// The path below the root.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Opens the root; `create` makes it first.
    pub(super) fn open(&self, create: bool) -> Result<Root> {
        if create {
            std::fs::create_dir_all(&self.root).map_err(|e| failed(&self.root.to_string_lossy(), e))?;
        }
        let dir = Dir::open_ambient_dir(&self.root, ambient_authority());
        Ok(Root { dir: dir.map_err(|e| failed(&self.root.to_string_lossy(), e))? })
    }
}

/// An open root.
pub(super) struct Root {
    dir: Dir,
}

impl Root {
    /// Opens a regular file for reading. Never waits: a FIFO is refused before anything is read.
    ///
    /// # Errors
    /// 42501 for what lies outside or is no regular file, 58P01, 58030.
    pub(super) fn open_file(&self, path: &str) -> Result<OpenFile> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or(0));
        let file = self.dir.open_with(path, &options).map_err(|e| failed(path, e))?.into_std();
        let metadata = file.metadata().map_err(|e| failed(path, e))?;
        if !metadata.is_file() {
            return Err(refused(path, "It is not a regular file."));
        }
        Ok(OpenFile { inode: metadata.ino(), size: metadata.len(), file })
    }

    /// The directory at `path`, made if it is not there.
    pub(super) fn make_dir(&self, path: &str) -> Result<Dir> {
        if path.is_empty() {
            return self.dir.try_clone().map_err(|e| failed(".", e));
        }
        match self.dir.open_dir(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                self.dir.create_dir_all(path).map_err(|e| failed(path, e))?;
                self.dir.open_dir(path).map_err(|e| failed(path, e))
            }
            dir => dir.map_err(|e| failed(path, e)),
        }
    }

    /// The files that `path` means, in order of their names: itself, those of a directory that are not hidden, or those that match.
    ///
    /// # Errors
    /// 42501, 58P01; 22023 for a malformed pattern; 54000 for too many files.
    pub(super) fn list(&self, path: &str) -> Result<Vec<String>> {
        let mut found = vec![];
        if path.contains(['*', '?', '[']) {
            let pattern = Pattern::new(path).map_err(|e| {
                Error::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid pattern \"{path}\"")).with_detail(e.to_string())
            })?;
            let fixed: PathBuf =
                Path::new(path).components().take_while(|c| !c.as_os_str().to_string_lossy().contains(['*', '?', '['])).collect();
            match self.dir_at(&fixed) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                dir => walk(&dir.map_err(|e| failed(path, e))?, &fixed, MAX_DEPTH, &mut found)?,
            }
            let options = MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };
            found.retain(|name| pattern.matches_with(name, options));
        } else {
            // Without following the last name first: a symlink to somewhere else is refused when it is opened.
            match self.dir_at(Path::new(path)) {
                Ok(dir) => walk(&dir, Path::new(path), 0, &mut found)?,
                Err(_) => {
                    self.open_file(path)?;
                    found.push(path.to_string());
                }
            }
        }
        found.sort();
        Ok(found)
    }

    fn dir_at(&self, path: &Path) -> io::Result<Dir> {
        if path.as_os_str().is_empty() { self.dir.try_clone() } else { self.dir.open_dir(path) }
    }
}

/// Files that are not hidden; symlinks only as files (opening decides), directories to a depth.
fn walk(dir: &Dir, at: &Path, depth: usize, found: &mut Vec<String>) -> Result<()> {
    let shown = at.to_string_lossy();
    for entry in dir.entries().map_err(|e| failed(&shown, e))? {
        let entry = entry.map_err(|e| failed(&shown, e))?;
        let kind = entry.file_type().map_err(|e| failed(&shown, e))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with('.') || name.starts_with('_') {
            continue;
        }
        if kind.is_dir() && depth > 0 {
            walk(&entry.open_dir().map_err(|e| failed(&name, e))?, &at.join(&name), depth - 1, found)?;
        } else if kind.is_file() || kind.is_symlink() {
            if found.len() == MAX_FILES {
                return Err(Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("more than {MAX_FILES} files in \"{shown}\"")));
            }
            found.push(at.join(&name).to_string_lossy().into_owned());
        }
    }
    Ok(())
}
