//! Checks a file and all it includes before it is parsed: readable, UTF-8, and no file that includes itself.

use std::path::{Path, PathBuf};

/// Says what is wrong with `path` or a file that it includes.
pub(crate) fn check(path: &Path) -> Result<(), String> {
    check_below(path, &mut Vec::new())
}

fn check_below(path: &Path, open: &mut Vec<PathBuf>) -> Result<(), String> {
    if path.to_str().is_none() {
        return Err(format!("the file name {} is not UTF-8", path.display()));
    }
    let unreadable = |e: std::io::Error| format!("cannot read {}: {e}", path.display());
    let identity = path.canonicalize().map_err(unreadable)?;
    if open.contains(&identity) {
        return Err(format!("{} includes itself", path.display()));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    open.push(identity);
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some("include"), Some(pattern), None) = (words.next(), words.next(), words.next()) else { continue };
        let pattern = path.with_file_name(pattern);
        // A pattern that is malformed or finds nothing is reported by the parser, with its line.
        let found = glob::glob(&pattern.to_string_lossy()).into_iter().flatten();
        for included in found.filter_map(Result::ok) {
            check_below(&included, open)?;
        }
    }
    open.pop();
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_file_may_be_included_twice_but_not_by_itself() {
        let root = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &[u8]| {
            let path = root.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        file("part", b"statement ok\nSELECT 1\n");
        assert_eq!(check(&file("twice.slt", b"include part\n\ninclude part\n")), Ok(()));
        assert!(check(&file("self.slt", b"include self.slt\n")).unwrap_err().ends_with("self.slt includes itself"));
        file("binary", b"\xff\xfe");
        assert!(check(&file("bad.slt", b"include binary\n")).unwrap_err().contains("cannot read"));
        assert!(check(&root.path().join("none.slt")).is_err());
    }
}
