//! Sources by themselves: what they hand out up to a cut.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use millstream_graph::{SubscriptionSpec, TableLogSpec, ValuesSpec};
use millstream_state::{LogRecord, LogStore, MemoryLog, RelationSpec, RelationStore};
use millstream_types::{Barrier, Datum, KeyGroupRange, ObjectId, Schema, SqlType};

use super::subscription::SubscriptionReader;
use super::table_log::TableLogReader;
use super::values::ValuesReader;
use super::*;
use crate::operator::harness::{parse, schema, texts};

const TABLE: ObjectId = ObjectId(3);

fn columns() -> Schema {
    schema(&[("k", SqlType::Integer), ("v", SqlType::Text)])
}

/// Polls until something other than rows comes; rows with their kinds, then what came.
fn drain(reader: &mut dyn SourceReader, cut: Option<Epoch>) -> (Vec<String>, &'static str) {
    let mut rows = vec![];
    loop {
        match reader.poll(cut, 100).unwrap() {
            SourcePoll::Batch(batch) => {
                let lines = texts(batch.rows()).into_iter().enumerate();
                rows.extend(lines.map(|(i, row)| format!("{} {row}", batch.kind(i))));
            }
            SourcePoll::Watermark(_) => panic!("no watermark is expected"),
            SourcePoll::Pending { .. } => return (rows, "pending"),
            SourcePoll::CutReached => return (rows, "cut"),
            SourcePoll::Finished => return (rows, "finished"),
        }
    }
}

fn log(epochs: &[(Epoch, &[&str])]) -> Arc<dyn LogStore> {
    let log = MemoryLog::default();
    for (epoch, lines) in epochs {
        log.append(LogRecord { epoch: *epoch, changes: vec![(TABLE, parse(&columns(), lines))] }).unwrap();
    }
    Arc::new(log)
}

fn table_log(log: &Arc<dyn LogStore>, subtask: u32, parallelism: u32) -> TableLogReader {
    let spec = TableLogSpec { table: TABLE, name: "t".into(), schema: columns(), key: vec![0] };
    TableLogReader::new(&spec, Arc::clone(log), Arc::new(|| ()), KeyGroupRange::of_subtask(subtask, parallelism, 16), 16)
}

#[test]
fn the_log_is_cut_at_the_epoch_and_continues_at_its_position() {
    let log = log(&[(1, &["+ 1 a"]), (1, &["-U 1 a", "+U 1 b"]), (3, &["- 1 b"])]);
    let mut reader = table_log(&log, 0, 1);
    assert_eq!(drain(&mut reader, None), (vec![], "pending"));
    assert_eq!(drain(&mut reader, Some(2)), (vec!["+I 1 a".into(), "-U 1 a".into(), "+U 1 b".into()], "cut"));
    let mut again = table_log(&log, 0, 1);
    again.restore(&[], 2).unwrap();
    assert_eq!(drain(&mut again, Some(3)), (vec!["-D 1 b".into()], "cut"));
}

#[test]
fn every_row_of_the_log_has_one_subtask() {
    let lines: Vec<String> = (0..50).map(|i| format!("+ {i} x")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let log = log(&[(1, &lines)]);
    let (mut all, _) = drain(&mut table_log(&log, 0, 2), Some(1));
    let first = all.len();
    all.extend(drain(&mut table_log(&log, 1, 2), Some(1)).0);
    assert!(first > 0 && first < 50);
    all.sort();
    let mut expected: Vec<String> = (0..50).map(|i| format!("+I {i} x")).collect();
    expected.sort();
    assert_eq!(all, expected);
}

#[test]
fn values_come_once_from_subtask_0() {
    let spec = ValuesSpec {
        rows: vec![vec![Datum::Integer(1), Datum::Text("a".into())], vec![Datum::Null(SqlType::Unknown), Datum::Text("b".into())]],
    };
    let mut reader = ValuesReader::new(&spec, &columns(), 0).unwrap();
    assert_eq!(drain(&mut reader, Some(1)), (vec!["+I 1 a".into(), "+I NULL b".into()], "cut"));
    assert_eq!(drain(&mut reader, None), (vec![], "finished"));
    let mut again = ValuesReader::new(&spec, &columns(), 0).unwrap();
    again.restore(&[SourcePosition { subtask: 0, parallelism: 1, bytes: reader.snapshot().unwrap() }], 1).unwrap();
    assert_eq!(drain(&mut again, None), (vec![], "finished"));
    assert_eq!(drain(&mut ValuesReader::new(&spec, &columns(), 1).unwrap(), None), (vec![], "finished"));
    assert!(ValuesReader::new(&ValuesSpec { rows: vec![vec![]] }, &columns(), 0).is_err());
}

#[test]
fn a_subscription_follows_its_relation() {
    let relations = RelationStore::new();
    let spec = RelationSpec {
        relation: TABLE,
        name: "t".into(),
        schema: columns(),
        key: Some(vec![0]),
        subtask: 0,
        parallelism: 1,
        max_parallelism: 16,
    };
    let mut writer = relations.register(spec).unwrap();
    let barrier = |epoch| Barrier { epoch, since: 0, checkpoint: None };
    writer.apply(&parse(&columns(), &["+ 1 a"])).unwrap();
    writer.publish(barrier(1)).unwrap();
    let spec = SubscriptionSpec { relation: TABLE, name: "t".into(), schema: columns(), projection: vec![1], append_only: true };
    let range = KeyGroupRange { start: 0, end: 16 };
    let subscription = relations.subscribe(TABLE, range, 16, spec.projection.clone(), Arc::new(|| ())).unwrap();
    let mut reader = SubscriptionReader::new(&spec, 0, 1, subscription);
    assert_eq!(drain(&mut reader, Some(1)), (vec![], "cut"));
    assert_eq!(drain(&mut reader, None), (vec!["+I a".into()], "pending"));
    assert_eq!(drain(&mut reader, Some(2)), (vec![], "pending"));
    writer.apply(&parse(&columns(), &["- 1 a"])).unwrap();
    writer.publish(barrier(2)).unwrap();
    let error = reader.poll(Some(2), 100).unwrap_err();
    assert!(error.message().contains("append-only"), "{error}");
}
