//! Golden scripts: rows in, what a scan finds.
#![allow(clippy::unwrap_used)]

use millstream_graph::OperatorSpec;
use millstream_types::{ObjectId, SqlType};
use proptest::prelude::*;

use super::*;
use crate::operator::harness::{Harness, node, parse, schema};

fn harness(key: Option<Vec<usize>>) -> Harness {
    let columns = schema(&[("k", SqlType::Integer), ("v", SqlType::Text)]);
    let route = key.clone().unwrap_or_else(|| vec![0, 1]);
    let spec = OperatorSpec::Materialize(MaterializeSpec { relation: ObjectId(7), name: "t".into(), key });
    Harness::new(node(spec, &columns, None), &columns, &route, false).unwrap()
}

#[test]
fn rows_by_key_survive_recovery_and_rescaling() {
    harness(Some(vec![0])).check(
        "+ 1 a
         + 2 b
         barrier
         scan
         > 1 a
         > 2 b
         +U 1 c
         -U 1 a
         recover
         barrier
         scan
         > 1 a
         > 2 b
         -U 1 a
         +U 1 c
         barrier
         rescale 2
         - 2 b
         barrier
         scan
         > 1 c
         rescale 1
         barrier
         scan
         > 1 c",
    );
}

#[test]
fn equal_rows_are_counted() {
    harness(None).check(
        "+ 1 a
         + 1 a
         + NULL NULL
         barrier
         rescale 2
         barrier
         scan
         > 1 a
         > 1 a
         > NULL NULL
         - 1 a
         barrier
         rescale 1
         barrier
         scan
         > NULL NULL
         > 1 a",
    );
}

#[test]
fn two_rows_for_a_key_are_an_error() {
    harness(Some(vec![0])).check(
        "+ 1 a
         + 1 b
         barrier
         ! XX000 inconsistent changes for relation \"t\": two rows for one key; Key (k)=(1).",
    );
}

#[derive(Clone, Debug)]
enum Step {
    /// Sets a key to a value, or takes it away; of a multiset: adds or takes a row.
    Change(u8, Option<u8>),
    Barrier,
    /// True: kept.
    Checkpoint(bool),
    Recover(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0u8..12, prop::option::of(0u8..4)).prop_map(|(k, v)| Step::Change(k, v)),
        3 => Just(Step::Barrier),
        2 => prop::bool::weighted(0.8).prop_map(Step::Checkpoint),
        1 => (1u32..4).prop_map(Step::Recover),
    ];
    prop::collection::vec(step, 1..80)
}

/// What is scanned after random changes, checkpoints, recoveries and rescalings is what a list of rows says.
fn equals_the_model(keyed: bool, steps: Vec<Step>) -> std::result::Result<(), TestCaseError> {
    let columns = schema(&[("k", SqlType::Integer), ("v", SqlType::Text)]);
    let mut operator = harness(keyed.then(|| vec![0]));
    let mut rows: Vec<(u8, u8)> = vec![];
    let check = |operator: &mut Harness, rows: &[(u8, u8)]| -> std::result::Result<(), TestCaseError> {
        operator.barrier().unwrap();
        let mut found = operator.scan().unwrap();
        let mut expected: Vec<String> = rows.iter().map(|(k, v)| format!("> {k} {v}")).collect();
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected);
        Ok(())
    };
    for step in steps {
        match step {
            Step::Change(k, v) => {
                let old = rows.iter().position(|(key, value)| *key == k && (keyed || v.is_none() || Some(*value) == v));
                let mut lines = vec![];
                if let Some(old) = old.filter(|_| keyed || v.is_none()) {
                    let (k, v) = rows.remove(old);
                    lines.push(format!("- {k} {v}"));
                }
                if let Some(v) = v {
                    rows.push((k, v));
                    lines.push(format!("+ {k} {v}"));
                }
                let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
                operator.send(&parse(&columns, &lines)).unwrap();
            }
            Step::Barrier => check(&mut operator, &rows)?,
            Step::Checkpoint(kept) => {
                check(&mut operator, &rows)?;
                operator.checkpoint(kept).unwrap();
            }
            Step::Recover(parallelism) => {
                check(&mut operator, &rows)?;
                operator.recover(parallelism).unwrap();
                check(&mut operator, &rows)?;
            }
        }
    }
    check(&mut operator, &rows)
}

proptest! {
    #[test]
    fn rows_by_key_equal_the_model(steps in steps()) {
        equals_the_model(true, steps)?;
    }

    #[test]
    fn equal_rows_equal_the_model(steps in steps()) {
        equals_the_model(false, steps)?;
    }
}
