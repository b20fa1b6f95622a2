//! No note to finish something later: what is not there is refused by name, and what is planned is an issue.

use super::words::has_word;
use crate::{Finding, Tree};

/// Split, so that this file does not break its own rule.
const MARKS: [&str; 5] =
    [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX"), concat!("todo", "!"), concat!("unimplemented", "!")];

const ENDINGS: &[&str] = &[".rs", ".toml", ".sh", ".md", ".sql", ".slt", ".proto", ".js", ".css", ".html", "Makefile", ".ci/run"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree.texts_ending(ENDINGS) {
        for (number, line) in text.lines().enumerate() {
            if let Some(mark) = MARKS.iter().find(|mark| has_word(line, mark)) {
                let way_out = "finish it, or refuse the feature by name with SQLSTATE 0A000 and open an issue";
                found.push(Finding::error(path, number + 1, "unfinished", format!("`{mark}` left in the tree"), way_out));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mark_is_found_with_its_line() {
        for mark in MARKS {
            let found = check(&Tree::of("a.rs", format!("//! x\n    // {mark} later\n")));
            assert_eq!(found.len(), 1, "{mark}");
            assert_eq!(found[0].line, 2);
        }
        assert_eq!(check(&Tree::of("a.rs", "//! A photodometer, methods and XXXL\n")), []);
    }
}
