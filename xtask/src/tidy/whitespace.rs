//! Text files have no tabs where spaces indent, no trailing blanks, and end in a newline.

use crate::{Finding, Tree};

const ENDINGS: &[&str] = &[".rs", ".toml", ".md", ".sh", "Makefile", ".ci/run"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree.texts_ending(ENDINGS) {
        let mut report = |line: usize, message: &str, way_out| found.push(Finding::error(path, line, "whitespace", message, way_out));
        for (number, line) in text.split('\n').enumerate() {
            if line.contains('\t') && !path.ends_with("Makefile") {
                report(number + 1, "a tab", "indent with spaces; write `\\t` inside a string");
            }
            if line.ends_with([' ', '\t', '\r']) {
                report(number + 1, "blanks or a carriage return at the end of the line", "remove them");
            }
        }
        if !text.is_empty() && !text.ends_with('\n') {
            report(text.lines().count(), "no newline at the end of the file", "add one");
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_found() {
        let lines = |path: &str, text: &str| check(&Tree::of(path, text)).iter().map(|f| f.line).collect::<Vec<_>>();
        assert_eq!(lines("a.rs", "//! x\n\tfn a() {}\n"), [2]);
        assert_eq!(lines("a.md", "x \ny\n"), [1]);
        assert_eq!(lines("a.toml", "x\r\n"), [1]);
        assert_eq!(lines("a.rs", "//! x"), [1]);
        assert_eq!(lines("Makefile", "a:\n\tb\n"), []);
        assert_eq!(lines("a.slt", "1\t2 \n"), []);
    }
}
