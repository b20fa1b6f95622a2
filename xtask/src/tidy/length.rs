//! Rust files stay short enough to be read in one go.

use crate::{Finding, Tree};

/// Lines from which a file is warned about.
const SOFT_LIMIT: usize = 500;
/// Lines that no file may pass.
const HARD_LIMIT: usize = 1_000;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree.texts_ending(&[".rs"]) {
        let lines = text.lines().count();
        let way_out = "split it by what its parts do; tests move to `tests.rs` beside it";
        if lines > HARD_LIMIT {
            found.push(Finding::error(path, HARD_LIMIT + 1, "length", format!("{lines} lines, at most {HARD_LIMIT} allowed"), way_out));
        } else if lines > SOFT_LIMIT {
            found.push(Finding::error(path, SOFT_LIMIT + 1, "length", format!("{lines} lines, aim below {SOFT_LIMIT}"), way_out).warning());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Severity;

    #[test]
    fn the_soft_limit_warns_and_the_hard_one_fails() {
        let severities = |lines| check(&Tree::of("a.rs", "\n".repeat(lines))).iter().map(|f| f.severity).collect::<Vec<_>>();
        assert_eq!(severities(500), []);
        assert_eq!(severities(501), [Severity::Warning]);
        assert_eq!(severities(1_000), [Severity::Warning]);
        assert_eq!(severities(1_001), [Severity::Error]);
    }
}
