//! Kinds of column, splits, and what is refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::util::pretty::pretty_format_batches;
use millstream_graph::SourceSpec;
use millstream_runtime::connector::SourceContext;
use millstream_runtime::source::{SourcePoll, SourceReader};
use millstream_runtime::task_waker::TaskWaker;
use millstream_types::{Column, Schema, SimulatedClock, SqlState, SqlType};
use proptest::prelude::*;

use super::{DatagenConfig, DatagenReader};

fn options(list: &[(&str, &str)]) -> BTreeMap<String, String> {
    list.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect()
}

fn schema(columns: &[(&str, SqlType)]) -> Schema {
    Schema::new(columns.iter().map(|(n, t)| Column::new(*n, t.clone())).collect())
}

fn rows(list: &[(&str, &str)], schema: &Schema, projection: Vec<usize>, subtask: u32, parallelism: u32) -> Vec<RecordBatch> {
    let mut given = options(list);
    given.insert("rows-per-second".into(), "0".into());
    let spec = SourceSpec { name: "d".into(), connector: "datagen".into(), options: given, schema: schema.clone(), projection };
    let clock = Arc::new(SimulatedClock::default());
    let ctx = SourceContext { subtask, parallelism, waker: TaskWaker::new(), clock, job_name: "j".into() };
    let mut reader = DatagenReader::new(&spec, &ctx).unwrap();
    let mut out = vec![];
    loop {
        match reader.poll(None, 100).unwrap() {
            SourcePoll::Batch(batch) => out.push(batch.rows().clone()),
            SourcePoll::Finished => return out,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn sequences_of_every_type() {
    let schema = schema(&[
        ("a", SqlType::BigInt),
        ("b", SqlType::Text),
        ("t", SqlType::Timestamp),
        ("n", SqlType::Numeric { precision: 6, scale: 2 }),
        ("d", SqlType::Date),
    ]);
    let kinds = ["a", "b", "t", "n", "d"].map(|c| format!("fields.{c}.kind"));
    let mut list: Vec<(&str, &str)> = kinds.iter().map(|k| (k.as_str(), "sequence")).collect();
    list.extend([("fields.a.start", "5"), ("fields.a.end", "7"), ("fields.t.step", "100ms"), ("fields.n.start", "1.50")]);
    let got = pretty_format_batches(&rows(&list, &schema, vec![0, 1, 2, 3, 4], 0, 1)).unwrap().to_string();
    let expected = "\
+---+---+-------------------------+------+------------+
| a | b | t                       | n    | d          |
+---+---+-------------------------+------+------------+
| 5 | 0 | 2026-01-01T00:00:00     | 1.50 | 2026-01-01 |
| 6 | 1 | 2026-01-01T00:00:00.100 | 2.50 | 2026-01-02 |
| 7 | 2 | 2026-01-01T00:00:00.200 | 3.50 | 2026-01-03 |
+---+---+-------------------------+------+------------+";
    assert_eq!(got, expected);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let schema = schema(&[("a", SqlType::SmallInt), ("s", SqlType::Text), ("i", SqlType::Interval)]);
    let state = |list: &[(&str, &str)], n: usize| {
        DatagenConfig::parse(&options(list), &schema.project(&(0..n).collect::<Vec<_>>())).unwrap_err().state()
    };
    assert_eq!(state(&[], 3), SqlState::FEATURE_NOT_SUPPORTED);
    assert_eq!(state(&[], 0), SqlState::INVALID_TABLE_DEFINITION);
    for (name, value) in [
        ("fields.a.kind", "now"),
        ("fields.a.kind", "list"),
        ("fields.a.min", "x"),
        ("fields.a.min", "40000"),
        ("fields.a.start", "1"),
        ("fields.s.length", "-1"),
        ("fields.s.min", "1"),
        ("rows_per_second", "many"),
    ] {
        assert_eq!(state(&[(name, value)], 2), SqlState::INVALID_PARAMETER_VALUE, "{name} {value}");
    }
    assert_eq!(state(&[("fields.a.min", "5"), ("fields.a.max", "4")], 2), SqlState::INVALID_PARAMETER_VALUE);
    assert_eq!(state(&[("fields.a.kind", "sequence"), ("fields.a.end", "-4")], 2), SqlState::INVALID_PARAMETER_VALUE);
    assert_eq!(state(&[("rows", "4")], 2), SqlState::UNDEFINED_OBJECT);
    assert!(DatagenConfig::parse(&options(&[("number-of-rows", "4")]), &schema.project(&[0, 1])).unwrap().is_bounded());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn split_and_projection_change_nothing(count in 0u64..500, parallelism in 1u32..4, seed in 0u64..5) {
        let schema = schema(&[
            ("id", SqlType::Integer), ("x", SqlType::Double), ("b", SqlType::Boolean), ("s", SqlType::Text), ("z", SqlType::SmallInt),
            ("y", SqlType::Bytea), ("r", SqlType::Real), ("h", SqlType::Time), ("p", SqlType::TimestampTz), ("n", SqlType::Numeric { precision: 38, scale: 3 }),
        ]);
        let (count, seed) = (count.to_string(), seed.to_string());
        let list = [
            ("number_of_rows", count.as_str()), ("seed", seed.as_str()), ("fields.id.kind", "sequence"),
            ("fields.s.length", "7"), ("fields.z.min", "-3"), ("fields.z.max", "3"), ("fields.x.max", "9.5"),
        ];
        let text = |batches: &[RecordBatch]| {
            let mut lines: Vec<String> = pretty_format_batches(batches).unwrap().to_string().lines().skip(3).map(ToString::to_string).collect();
            lines.sort();
            lines
        };
        let whole = rows(&list, &schema, (0..10).collect(), 0, 1);
        let split: Vec<_> = (0..parallelism).flat_map(|s| rows(&list, &schema, (0..10).collect(), s, parallelism)).collect();
        prop_assert_eq!(text(&whole), text(&split));
        let some: Vec<_> = whole.iter().map(|b| b.project(&[9, 3]).unwrap()).collect();
        prop_assert_eq!(text(&some), text(&rows(&list, &schema, vec![9, 3], 0, 1)));
    }
}
