//! The workspace's text files, read once and handed to every rule.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Folders that hold no source of ours.
const SKIPPED: [&str; 4] = ["target", ".git", "node_modules", "millstream-data"];

/// Files by path from the root, with `/`; binary files are known by name only.
#[derive(Debug, Default)]
pub struct Tree {
    texts: BTreeMap<String, String>,
    paths: BTreeSet<String>,
}

impl Tree {
    /// Reads a folder. Symbolic links are listed, not followed.
    pub fn read(root: &Path) -> std::io::Result<Self> {
        let mut tree = Tree::default();
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> std::io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type()?;
            if kind.is_dir() {
                if !SKIPPED.contains(&name.as_str()) {
                    self.read_folder(&entry.path(), &format!("{path}/"))?;
                }
            } else if kind.is_file() && name != ".git" {
                match String::from_utf8(std::fs::read(entry.path())?) {
                    Ok(text) => self.insert(&path, text),
                    Err(_) => self.insert_path(&path),
                }
            } else if kind.is_symlink() {
                self.insert_path(&path);
            }
        }
        Ok(())
    }

    /// Adds a text file.
    pub fn insert(&mut self, path: &str, text: impl Into<String>) {
        self.insert_path(path);
        self.texts.insert(path.to_owned(), text.into());
    }

    fn insert_path(&mut self, path: &str) {
        let ends = path.match_indices('/').map(|(at, _)| at);
        self.paths.extend(ends.map(|at| path[..at].to_owned()));
        self.paths.insert(path.to_owned());
    }

    /// The text files, by path.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The text files whose name ends in one of these endings.
    pub fn texts_ending(&self, endings: &'static [&'static str]) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(move |(path, _)| endings.iter().any(|ending| path.ends_with(ending)))
    }

    /// One text file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Whether a file or folder of this path exists.
    pub fn exists(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path)
    }

    /// Files and folders, by path.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// How many text files there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is no text file.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

#[cfg(test)]
impl Tree {
    /// A tree of one file.
    pub(crate) fn of(path: &str, text: impl Into<String>) -> Self {
        let mut tree = Tree::default();
        tree.insert(path, text);
        tree
    }
}
