//! What is nested too deeply, or crafted to make a parser try and retry, is refused at once: 54001. Runs on a test thread's own stack.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use millstream_sql::parse;

fn state(sql: &str) -> String {
    match parse(sql) {
        Ok(_) => "ok".to_string(),
        Err(e) => e.state().to_string(),
    }
}

#[test]
fn deep_statements_are_refused() {
    let deep = |open: &str, middle: &str, close: &str, n: usize| format!("{}{middle}{}", open.repeat(n), close.repeat(n));
    for sql in [
        format!("SELECT {}", deep("(", "1", ")", 10_000)),
        format!("SELECT {}", "(".repeat(10_000)),
        format!("SELECT 1{}", "+1".repeat(10_000)),
        format!("SELECT 1{}", " OR a = 1".repeat(10_000)),
        format!("SELECT {} true", "NOT ".repeat(10_000)),
        format!("SELECT {}1", "- ".repeat(10_000)),
        format!("SELECT {} '1'", "INTERVAL ".repeat(10_000)),
        format!("SELECT 1{}", "::int".repeat(10_000)),
        format!("SELECT 1::int{}", "[]".repeat(10_000)),
        format!("SELECT a{}", " IS NULL".repeat(10_000)),
        format!("SELECT a{}", " COLLATE \"C\"".repeat(10_000)),
        format!("SELECT a{}", " AT TIME ZONE 'UTC'".repeat(10_000)),
        format!("SELECT {}", deep("f(", "1", ")", 10_000)),
        format!("SELECT {}", deep("CASE WHEN a THEN ", "1", " END", 10_000)),
        format!("SELECT {}", deep("ARRAY[", "1", "]", 10_000)),
        format!("SELECT CAST(1 AS {})", deep("ARRAY<", "int", ">", 10_000)),
        format!("CREATE TABLE t (a {})", deep("row(a ", "int", ")", 10_000)),
        format!("CREATE TABLE t (a {})", deep("array<", "int", ">", 10_000)),
        format!("CREATE TABLE t (a row(b int){})", "[]".repeat(10_000)),
        deep("SELECT (", "SELECT 1", ")", 5_000),
        deep("SELECT * FROM (", "SELECT 1", ") AS t", 5_000),
        format!("SELECT * FROM {}", deep("(", "a JOIN b ON true", ")", 5_000)),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(10_000)),
        format!("{}SELECT 1", "EXPLAIN ".repeat(10_000)),
        format!("{}SELECT 1", "PREPARE p AS ".repeat(10_000)),
        format!("SELECT {}", deep("{fn f(", "1", ")}", 5_000)),
    ] {
        let shown = &sql[..40];
        assert_eq!(state(&sql), "54001", "{shown}");
    }
}

#[test]
fn reasonable_depth_and_any_width_is_fine() {
    let numbers = (0..10_000).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    for sql in [
        format!("SELECT a IN ({numbers}) FROM t"),
        format!("SELECT {numbers}"),
        format!("INSERT INTO t VALUES {}", vec!["(1, 'a', 2 + 3, NULL)"; 10_000].join(", ")),
        format!("SELECT 1{}", "+1".repeat(250)),
        format!("SELECT a = 0{}", " OR a = 1 AND b > 2 + 3".repeat(240)),
        format!("SELECT {}1{}", "(".repeat(200), ")".repeat(200)),
        format!("SELECT {}1{}", "f(".repeat(200), ")".repeat(200)),
        format!("SELECT {}1{}", "cast(".repeat(100), " AS int)".repeat(100)),
        format!("SELECT {}1{}", "CASE WHEN a THEN ".repeat(100), " END".repeat(100)),
        format!("{}SELECT 1{}", "SELECT * FROM (".repeat(100), ") AS t".repeat(100)),
        format!("SELECT * FROM t0 {}", (1..500).map(|i| format!("JOIN t{i} ON t{i}.a = t0.a ")).collect::<String>()),
    ] {
        let shown = &sql[..40];
        assert_eq!(parse(&sql).map(|_| ()), Ok(()), "{shown}");
    }
}

#[test]
fn text_that_doubles_the_work_per_level_ends_quickly() {
    for sql in [
        format!("SELECT {}1{}", "cast(".repeat(100), " AS int".repeat(100)),
        format!("SELECT {}", "ceil(".repeat(200)),
        format!("SELECT {}", "substring(".repeat(200)),
        format!("SELECT {}1", "INTERVAL ".repeat(200)),
        format!("SELECT {} 1{}", "CASE WHEN ".repeat(200), " THEN 2".repeat(200)),
        format!("SELECT * FROM {}a{}", "((SELECT * FROM ".repeat(80), ") JOIN b ON true)".repeat(80)),
        format!("SELECT FROM {}a{}", "((SELECT FROM ".repeat(80), ") JOIN b ON true)".repeat(80)),
        format!("SELECT * FROM {}a{}", "(".repeat(200), ")".repeat(200)),
        format!("SELECT * FROM {}(SELECT 1){}", "(".repeat(200), ")".repeat(200)),
    ] {
        let shown = &sql[..40];
        assert!(["54001", "42601", "ok"].contains(&state(&sql).as_str()), "{shown}");
    }
}
