//! Tests wait for the event they need, not for time to pass.

use super::words::has_word;
use crate::{Finding, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree.texts_ending(&[".rs"]) {
        let mut in_test = is_test_file(path);
        for (number, line) in text.lines().enumerate() {
            // Test modules come last in a file, by the house's order of items.
            in_test |= line.trim_start().starts_with("#[cfg(test)]");
            let code = line.split("//").next().unwrap_or_default();
            if in_test && has_word(code, concat!("sleep", "(")) {
                let way_out = "await the event (a channel, a barrier, a state change), or move a simulated clock";
                found.push(Finding::error(path, number + 1, "sleep-in-test", "a test that sleeps is slow or flaky, usually both", way_out));
            }
        }
    }
    found
}

fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.split('/').any(|part| part == "tests")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_are_found_in_test_files_and_test_modules_only() {
        let call = concat!("    std::thread::sl", "eep(d);\n");
        let count = |path: &str, text: String| check(&Tree::of(path, text)).len();
        assert_eq!(count("crates/a/tests/x.rs", format!("//! x\n{call}")), 1);
        assert_eq!(count("crates/a/src/x/tests.rs", format!("//! x\n{call}")), 1);
        assert_eq!(count("crates/a/src/x.rs", format!("//! x\n#[cfg(test)]\nmod tests {{\n{call}}}\n")), 1);
        assert_eq!(count("crates/a/src/x.rs", format!("//! x\n{call}")), 0);
        assert_eq!(count("crates/a/tests/x.rs", format!("//! x\n// {call}")), 0);
    }
}
