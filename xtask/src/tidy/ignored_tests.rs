//! A test that is not run says nothing: none is ignored.

use crate::{Finding, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree.texts_ending(&[".rs"]) {
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_start();
            if line.starts_with("#[ignore") || (line.starts_with("#[cfg_attr(") && line.contains("ignore")) {
                let way_out = "make the test pass, or delete it and refuse what it asked for";
                found.push(Finding::error(path, number + 1, "ignored-test", "the test is never run", way_out));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_ignore_is_found() {
        for attribute in ["#[ignore]", "#[ignore = \"slow\"]", "#[cfg_attr(debug_assertions, ignore)]"] {
            assert_eq!(check(&Tree::of("a.rs", format!("//! x\n    {attribute}\n    fn t() {{}}\n"))).len(), 1, "{attribute}");
        }
        assert_eq!(check(&Tree::of("a.rs", "//! x\n// `#[ignore]` is not allowed\n")), []);
    }
}
