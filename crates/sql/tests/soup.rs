//! Any text is answered with statements or an error, never with a panic; what parses prints to something that parses to the same tree.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use millstream_sql::{Statement, parse};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const CORPUS: &str = include_str!("corpus/statements.sql");

/// Statements of the corpus cut into words, so that soups of them reach far into the parser.
fn words() -> Vec<&'static str> {
    let mut words: Vec<_> = CORPUS.split_whitespace().collect();
    words.extend([
        "(",
        ")",
        ",",
        ";",
        "'",
        "\"",
        "$",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">>",
        "::",
        "-",
        "/*",
        "*/",
        "é",
        "\\",
        "FOR",
        "SYSTEM_TIME",
    ]);
    words
}

fn check(sql: &str) {
    let Ok(parsed) = parse(sql) else { return };
    for p in parsed.iter().filter(|p| !matches!(p.statement, Statement::Unsupported { .. })) {
        let printed = p.statement.to_string();
        match parse(&printed) {
            Ok(again) => assert!(again.len() == 1 && again[0].statement == p.statement, "{sql}\nprints as another tree: {printed}"),
            Err(e) => panic!("{sql}\nprints as {printed}\n{e} at {:?}", e.position()),
        }
        assert!(sql.contains(&p.text));
        assert_eq!(sql.chars().skip(p.offset).take(p.text.chars().count()).collect::<String>(), p.text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, rng_seed: RngSeed::Fixed(4510), ..ProptestConfig::default() })]

    #[test]
    fn word_soup(picks in proptest::collection::vec(any::<prop::sample::Index>(), 1..30)) {
        let words = words();
        check(&picks.iter().map(|i| words[i.index(words.len())]).collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn damaged_statements(line in any::<prop::sample::Index>(), from in any::<prop::sample::Index>(), len in 0_usize..8, insert in ".{0,3}") {
        let lines: Vec<_> = CORPUS.lines().collect();
        let chars: Vec<char> = line.get(&lines).chars().collect();
        let at = from.index(chars.len());
        let mut damaged: String = chars[..at].iter().collect();
        damaged.push_str(&insert);
        damaged.extend(chars.iter().skip(at + len));
        check(&damaged);
    }

    #[test]
    fn any_text(sql in ".{0,80}") {
        check(&sql);
    }
}
