//! Expected against actual, as a unified diff.

use similar::TextDiff;
use sqllogictest::default_normalizer;

const CONTEXT_LINES: usize = 3;

/// The diff of two results, a row per line. White space is compared as the runner compares it: any run of it is one blank.
pub(crate) fn of_rows(expected: &str, actual: &str) -> String {
    let (expected, actual) = (rows(expected), rows(actual));
    let mut diff = unified(&lines(&expected), &lines(&actual));
    if sorted(&expected) == sorted(&actual) {
        diff.push_str("the rows are the same in another order: use `query ... rowsort` or ORDER BY\n");
    }
    diff
}

/// The diff of two texts.
pub(crate) fn of_texts(expected: &str, actual: &str) -> String {
    unified(&format!("{}\n", expected.trim_end()), &format!("{}\n", actual.trim_end()))
}

fn unified(expected: &str, actual: &str) -> String {
    TextDiff::from_lines(expected, actual)
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .header("expected", "actual")
        .missing_newline_hint(false)
        .to_string()
}

fn rows(text: &str) -> Vec<String> {
    text.lines().map(|line| default_normalizer(&line.to_owned())).collect()
}

fn lines(rows: &[String]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

fn sorted(rows: &[String]) -> Vec<&String> {
    let mut rows: Vec<_> = rows.iter().collect();
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_marked() {
        let diff = of_rows("1  a\n2 b\n3 c", "1 a\n2 x\n3 c");
        assert_eq!(diff, "--- expected\n+++ actual\n@@ -1,3 +1,3 @@\n 1 a\n-2 b\n+2 x\n 3 c\n");
    }

    #[test]
    fn rows_that_are_missing_altogether() {
        assert_eq!(of_rows("1\n2", ""), "--- expected\n+++ actual\n@@ -1,2 +0,0 @@\n-1\n-2\n");
        assert_eq!(of_rows("", "1"), "--- expected\n+++ actual\n@@ -0,0 +1 @@\n+1\n");
    }

    #[test]
    fn another_order_is_told() {
        assert!(of_rows("1\n2", "2\n1").ends_with("use `query ... rowsort` or ORDER BY\n"));
        assert!(!of_rows("1\n2", "2\n3").contains("rowsort"));
    }

    #[test]
    fn long_results_are_cut_to_their_context() {
        let expected: String = (0..50).map(|i| format!("{i}\n")).collect();
        let diff = of_rows(&expected, &expected.replace("25\n", "x\n"));
        assert_eq!(diff.lines().count(), 2 + 1 + 3 + 2 + 3, "{diff}");
    }
}
