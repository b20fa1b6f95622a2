//! One version of each dependency whose types cross crates: a second arrow has other record batches that fit nowhere.

use std::collections::BTreeMap;

use crate::{Finding, Tree};

const SINGLE: [&str; 6] = ["arrow", "parquet", "datafusion", "object_store", "sqlparser", "pgwire"];
/// Families: the name itself and everything that continues it.
const SINGLE_PREFIXES: [&str; 2] = ["arrow-", "datafusion-"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(lock) = tree.text("Cargo.lock") else {
        return vec![Finding::error("Cargo.lock", 1, "single-version", "missing", "commit Cargo.lock")];
    };
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut found = Vec::new();
    let mut name = None;
    for (number, line) in lock.lines().enumerate() {
        if let Some(package) = quoted(line, "name = ") {
            name = Some(package);
        } else if let (Some(package), Some(version)) = (name, quoted(line, "version = ")) {
            name = None;
            if is_single(package)
                && let Some(other) = first.insert(package, version)
            {
                let way_out = "take the version that DataFusion takes: `cargo tree -i` tells who asks for the other";
                let message = format!("two versions of `{package}`: {other} and {version}");
                found.push(Finding::error("Cargo.lock", number + 1, "single-version", message, way_out));
            }
        }
    }
    found
}

fn is_single(package: &str) -> bool {
    SINGLE.contains(&package) || SINGLE_PREFIXES.iter().any(|prefix| package.starts_with(prefix))
}

/// The text in quotes after a key at the start of a line; cargo writes the lock file with one key a line.
fn quoted<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.strip_prefix('"')?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(packages: &[(&str, &str)]) -> Tree {
        let entry = |(name, version): &(&str, &str)| format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
        Tree::of("Cargo.lock", format!("version = 4\n\n{}", packages.iter().map(entry).collect::<Vec<_>>().join("\n")))
    }

    #[test]
    fn a_second_version_is_found() {
        for name in ["arrow", "arrow-array", "parquet", "datafusion", "datafusion-expr", "object_store", "sqlparser", "pgwire"] {
            let found = check(&lock(&[(name, "1.0.0"), (name, "2.0.0")]));
            assert_eq!(found.iter().map(|f| f.line).collect::<Vec<_>>(), [9], "{name}");
        }
    }

    #[test]
    fn other_duplicates_pass() {
        assert_eq!(check(&lock(&[("rand", "0.8.0"), ("rand", "0.9.0"), ("arrow", "1.0.0"), ("arrow-array", "1.0.0")])), []);
    }

    #[test]
    fn a_missing_lock_file_is_found() {
        assert_eq!(check(&Tree::of("README.md", "x\n")).len(), 1);
    }
}
