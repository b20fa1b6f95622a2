//! No file or folder is named after nothing: such a place collects what belongs elsewhere.

use crate::{Finding, Tree};

const EMPTY_NAMES: [&str; 6] = ["utils", "util", "common", "misc", "helpers", "helper"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for path in tree.paths() {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.split('.').next().unwrap_or(name);
        if EMPTY_NAMES.contains(&stem) {
            let way_out = "name it after the one thing it holds, or move each item next to its user";
            found.push(Finding::error(path, 1, "empty-name", format!("`{name}` does not say what it holds"), way_out));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_are_found() {
        assert_eq!(check(&Tree::of("crates/a/src/utils.rs", "//! x\n")).len(), 1);
        assert_eq!(check(&Tree::of("crates/common/src/lib.rs", "//! x\n"))[0].path, "crates/common");
        assert_eq!(check(&Tree::of("crates/a/src/common_table.rs", "//! x\n")), []);
    }
}
