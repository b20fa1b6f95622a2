//! Which files the paths on the command line mean.
//!
//! A directory means every `.slt` file below it, in order of name; hidden directories and links to directories are left out. A
//! `.slt.part` file is there to be included by others and runs only when it is named. A path that is not there and has `*`, `?` or
//! `[` in it is a pattern.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::error::RunnerError;

/// The files to run, each once, in the order of `paths`.
///
/// # Errors
/// A path that is not there, a directory that cannot be read, or one that has nothing to run.
pub fn discover(paths: &[PathBuf]) -> Result<Vec<PathBuf>, RunnerError> {
    let mut files = Vec::new();
    for path in paths {
        let before = files.len();
        if path.is_dir() {
            walk(path, &mut files)?;
        } else if path.exists() {
            files.push(path.clone());
        } else {
            expand(path, &mut files)?;
        }
        if files.len() == before {
            return Err(RunnerError::NothingFound(path.clone()));
        }
    }
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone())));
    Ok(files)
}

fn walk(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), RunnerError> {
    let failed = |source| RunnerError::Read { path: directory.to_path_buf(), source };
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        entries.push(entry.map_err(failed)?);
    }
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type().map_err(failed)?.is_dir() {
            walk(&path, files)?;
        } else if is_suite(&path) && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

fn expand(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), RunnerError> {
    let pattern = path.to_string_lossy();
    if !pattern.contains(['*', '?', '[']) {
        return Err(RunnerError::NotFound(path.to_path_buf()));
    }
    let invalid = |reason| RunnerError::Pattern { pattern: pattern.to_string(), reason };
    let wants_parts = pattern.ends_with(".part");
    for found in glob::glob(&pattern).map_err(|e| invalid(e.to_string()))? {
        let found = found.map_err(|e| invalid(e.to_string()))?;
        if found.is_dir() {
            walk(&found, files)?;
        } else if is_suite(&found) || wants_parts {
            files.push(found);
        }
    }
    Ok(())
}

fn is_suite(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "slt")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in ["b.slt", "a/z.slt", "a/y.slt", "a/setup.slt.part", "a/notes.txt", ".git/x.slt"] {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        root
    }

    fn names(root: &Path, arguments: &[&str]) -> Result<Vec<String>, RunnerError> {
        let paths: Vec<_> = arguments.iter().map(|argument| root.join(argument)).collect();
        let found = discover(&paths)?;
        Ok(found.iter().map(|f| f.strip_prefix(root).unwrap().to_string_lossy().into_owned()).collect())
    }

    #[test]
    fn a_directory_is_walked_in_order_without_parts_and_hidden_files() {
        let root = tree();
        assert_eq!(names(root.path(), &[""]).unwrap(), ["a/y.slt", "a/z.slt", "b.slt"]);
    }

    #[test]
    fn a_file_runs_once_and_a_part_only_when_named() {
        let root = tree();
        assert_eq!(names(root.path(), &["b.slt", "a", "b.slt"]).unwrap(), ["b.slt", "a/y.slt", "a/z.slt"]);
        assert_eq!(names(root.path(), &["a/setup.slt.part"]).unwrap(), ["a/setup.slt.part"]);
    }

    #[test]
    fn patterns_match_suites() {
        let root = tree();
        assert_eq!(names(root.path(), &["*/z*"]).unwrap(), ["a/z.slt"]);
        assert_eq!(names(root.path(), &["a/*"]).unwrap(), ["a/y.slt", "a/z.slt"]);
        assert_eq!(names(root.path(), &["a/*.part"]).unwrap(), ["a/setup.slt.part"]);
    }

    #[test]
    fn nothing_to_run_is_an_error() {
        let root = tree();
        assert!(matches!(names(root.path(), &["none.slt"]), Err(RunnerError::NotFound(_))));
        assert!(matches!(names(root.path(), &["q*.slt"]), Err(RunnerError::NothingFound(_))));
        assert!(matches!(names(root.path(), &["a[.slt"]), Err(RunnerError::Pattern { .. })));
        std::fs::create_dir(root.path().join("empty")).unwrap();
        assert!(matches!(names(root.path(), &["empty"]), Err(RunnerError::NothingFound(_))));
    }
}
