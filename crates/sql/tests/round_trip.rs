//! Printing a statement and parsing the text again gives the same tree; a golden file shows what is printed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use millstream_sql::{Statement, parse};

const CORPUS: &str = include_str!("corpus/statements.sql");

fn one(sql: &str) -> Statement {
    let mut statements = parse(sql).unwrap_or_else(|e| panic!("{sql}\n{e} at {:?}", e.position()));
    assert_eq!(statements.len(), 1, "{sql}");
    statements.remove(0).statement
}

#[test]
fn printed_statements_parse_to_the_same_tree() {
    let mut failures = Vec::new();
    for sql in CORPUS.lines() {
        let Ok(mut parsed) = parse(sql).map_err(|e| failures.push(format!("{sql}\n  {e} at {:?}", e.position()))) else { continue };
        let statement = parsed.remove(0).statement;
        let printed = statement.to_string();
        match parse(&printed) {
            Ok(again) if again.len() == 1 && again[0].statement == statement => assert_eq!(again[0].statement.to_string(), printed),
            Ok(_) => failures.push(format!("{sql}\n  printed as {printed}: another tree")),
            Err(e) => failures.push(format!("{sql}\n  printed as {printed}\n  {e} at {:?}", e.position())),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn nothing_in_the_corpus_is_unsupported() {
    for sql in CORPUS.lines() {
        assert!(!matches!(one(sql), Statement::Unsupported { .. }), "{sql}");
    }
}

/// `tests/corpus/printed.sql` holds what the corpus prints; `UPDATE_GOLDEN=1` writes it anew, and the diff is the review.
#[test]
fn printed_statements_are_the_golden_ones() {
    let printed: String = CORPUS.lines().map(|sql| format!("{}\n", one(sql))).collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/printed.sql");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &printed).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap();
    for (got, want) in printed.lines().zip(golden.lines()) {
        assert_eq!(got, want);
    }
    assert_eq!(printed.lines().count(), golden.lines().count());
}

#[test]
fn statements_are_cut_with_their_text_and_offset() {
    let sql = " ;; -- nöte\n SELECT 'a;b' ;\nCREATE STREAMING JOB j AS BEGIN INSERT INTO s SELECT 1; INSERT INTO s SELECT 2; END;\n  COMMIT /* x; */ ";
    let parsed = parse(sql).unwrap();
    let cut: Vec<(&str, usize)> = parsed.iter().map(|p| (p.text.as_str(), p.offset)).collect();
    let offset = |what: &str| sql.chars().count() - sql[sql.find(what).unwrap()..].chars().count();
    assert_eq!(
        cut,
        vec![
            ("SELECT 'a;b'", offset("SELECT")),
            ("CREATE STREAMING JOB j AS BEGIN INSERT INTO s SELECT 1; INSERT INTO s SELECT 2; END", offset("CREATE")),
            ("COMMIT", offset("COMMIT")),
        ]
    );
    assert_eq!(parse("  -- nothing\n;").unwrap(), vec![]);
}

#[test]
fn identifiers_fold_unless_quoted() {
    assert_eq!(one("SELECT Foo, \"Bar\" FROM TAB AS X").to_string(), "SELECT foo, \"Bar\" FROM tab AS x");
    assert_eq!(one("create table T (A int)").to_string(), "CREATE TABLE t (a INT)");
    assert_eq!(one("SELECT 'Foo' AS É").to_string(), "SELECT 'Foo' AS É");
}
