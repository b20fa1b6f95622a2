//! Every Rust file opens with a line that says what lives in it.

use crate::{Finding, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let bare = tree.texts_ending(&[".rs"]).filter(|(_, text)| !text.starts_with("//! "));
    bare.map(|(path, _)| {
        let way_out = "write one sentence on what lives in the file, before anything else";
        Finding::error(path, 1, "header", "the file does not open with a `//!` line", way_out)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_header_is_found() {
        assert_eq!(check(&Tree::of("a.rs", "fn main() {}\n")).len(), 1);
        assert_eq!(check(&Tree::of("a.rs", "//!\n")).len(), 1);
        assert_eq!(check(&Tree::of("a.rs", "//! What lives here.\n")), []);
        assert_eq!(check(&Tree::of("a.sql", "select 1;\n")), []);
    }
}
