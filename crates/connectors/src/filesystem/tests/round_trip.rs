//! What the sink writes the source reads; a file has its name only when it is whole.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, StringArray};
use millstream_functions::cast_array;
use millstream_runtime::connector::SinkWriter;
use millstream_types::{Barrier, ChangeBatch, SqlState, SqlType};

use super::*;

fn barrier(epoch: u64) -> Barrier {
    Barrier { epoch, since: 0, checkpoint: None }
}

fn all_types() -> Schema {
    schema(&[
        ("b", SqlType::Boolean),
        ("s", SqlType::SmallInt),
        ("l", SqlType::BigInt),
        ("d", SqlType::Double),
        ("n", SqlType::Numeric { precision: 10, scale: 2 }),
        ("text, \"quoted\"", SqlType::Text),
        ("y", SqlType::Bytea),
        ("date", SqlType::Date),
        ("time", SqlType::Time),
        ("ts", SqlType::Timestamp),
        ("tz", SqlType::TimestampTz),
        ("i", SqlType::Integer),
        ("arr", SqlType::Array(Box::new(SqlType::Integer))),
    ])
}

/// Values written as text, one list per row.
fn batch(schema: &Schema, rows: &[Vec<Option<&str>>]) -> ChangeBatch {
    let column = |i: usize| {
        let text: ArrayRef = Arc::new(StringArray::from(rows.iter().map(|r| r[i]).collect::<Vec<_>>()));
        cast_array(&text, &schema.columns[i].sql_type).unwrap()
    };
    ChangeBatch::inserts(RecordBatch::try_new(schema.to_arrow(), (0..schema.len()).map(column).collect()).unwrap())
}

fn sample() -> ChangeBatch {
    let values = [
        "true",
        "-7",
        "9007199254740993",
        "0.1",
        "-12.30",
        "a,\"b\"\n\\c\t\u{1}é",
        "\\x00ff",
        "2026-02-03",
        "04:05:06.7",
        "2026-02-03 04:05:06.123456",
        "2026-02-03 04:05:06+02",
        "5",
        "{1,NULL,3}",
    ];
    let odd = [
        "false",
        "0",
        "-1",
        "NaN",
        "0",
        "",
        "\\x",
        "0001-01-01",
        "00:00",
        "1969-12-31 23:59:59.999999",
        "1970-01-01 00:00:00+00",
        "-2147483648",
        "{}",
    ];
    let nulls = vec![None; values.len()];
    batch(&all_types(), &[values.map(Some).to_vec(), odd.map(Some).to_vec(), nulls])
}

#[test]
fn every_format_gives_back_every_value() {
    for format in ["json", "csv", "parquet"] {
        let files = Files::new();
        let list = [("path", "out"), ("format", format)];
        let mut sink = files.sink(&list, &all_types(), 1, 0).unwrap();
        sink.write(&sample()).unwrap();
        sink.on_barrier(&barrier(1)).unwrap();
        sink.write(&sample().slice(1, 1)).unwrap();
        sink.finish().unwrap();
        assert_eq!(files.names("out").len(), 2, "{format}");
        let expected = text(&[sample().rows().clone(), sample().slice(1, 1).rows().clone()]);
        assert_eq!(files.read(&list, &all_types()).unwrap(), expected, "{format}");
        let mut part = files.source(&list, &all_types(), vec![9, 2], 0, 1).unwrap();
        let rows = drain(&mut part, 100).unwrap();
        assert_eq!(rows[0], sample().rows().project(&[9, 2]).unwrap(), "{format}");
        let none = drain(&mut files.source(&list, &all_types(), vec![], 0, 1).unwrap(), 100).unwrap();
        assert_eq!(none.iter().map(RecordBatch::num_rows).sum::<usize>(), 4, "{format}");
    }
}

#[test]
fn lines_as_they_stand() {
    let files = Files::new();
    let schema = schema(&[("a", SqlType::BigInt), ("b", SqlType::Text), ("t", SqlType::Timestamp)]);
    let rows = batch(&schema, &[vec![Some("1"), Some("x\"y"), Some("2026-01-02 03:04:05")], vec![None, Some(""), None]]);
    for (name, expected) in [
        ("o.json", "{\"a\":1,\"b\":\"x\\\"y\",\"t\":\"2026-01-02 03:04:05\"}\n{\"a\":null,\"b\":\"\",\"t\":null}\n"),
        ("o.csv", "a,b,t\n1,\"x\"\"y\",2026-01-02 03:04:05\n,\"\",\n"),
    ] {
        let mut sink = files.sink(&[("path", name)], &schema, 1, 0).unwrap();
        sink.write(&rows).unwrap();
        sink.on_barrier(&barrier(1)).unwrap();
        assert!(!files.path().join(name).exists());
        sink.finish().unwrap();
        assert_eq!(std::fs::read_to_string(files.path().join(name)).unwrap(), expected);
        let error = files.sink(&[("path", name)], &schema, 1, 0).err().unwrap();
        assert_eq!(error.state(), SqlState::DUPLICATE_OBJECT);
    }
    let error = files.sink(&[("path", "p.csv")], &schema, 2, 0).err().unwrap();
    assert_eq!(error.state(), SqlState::FEATURE_NOT_SUPPORTED);
}

#[test]
fn a_kill_leaves_no_named_file() {
    let files = Files::new();
    let list = [("path", "out"), ("format", "json")];
    let schema = schema(&[("a", SqlType::BigInt)]);
    let row = batch(&schema, &[vec![Some("1")]]);
    let mut killed = files.sink(&list, &schema, 1, 0).unwrap();
    killed.write(&row).unwrap();
    assert!(files.names("out").iter().all(|n| n.starts_with('.')) && files.names("out").len() == 1);
    std::mem::forget(killed);
    let next = files.sink(&list, &schema, 1, 1).unwrap();
    assert!(files.names("out").is_empty(), "the next attempt removes what was left");
    drop(next);
    let mut cancelled = files.sink(&list, &schema, 1, 2).unwrap();
    cancelled.write(&row).unwrap();
    drop(cancelled);
    assert!(files.names("out").is_empty());
}

#[test]
fn files_roll_by_rows_and_by_time() {
    let files = Files::new();
    let list = [("path", "out"), ("format", "json"), ("roll_rows", "2"), ("roll_interval", "10s")];
    let schema = schema(&[("a", SqlType::BigInt)]);
    let row = batch(&schema, &[vec![Some("1")]]);
    let mut sink = files.sink(&list, &schema, 1, 0).unwrap();
    files.clock.advance(Duration::from_secs(1));
    let mut step = |epoch: u64, rows: usize, seconds: u64| {
        files.clock.advance(Duration::from_secs(seconds));
        for _ in 0..rows {
            sink.write(&row).unwrap();
        }
        sink.on_barrier(&barrier(epoch)).unwrap();
        files.names("out").iter().filter(|n| !n.starts_with('.')).count()
    };
    assert_eq!(
        [step(1, 1, 0), step(2, 1, 1), step(3, 1, 1), step(4, 1, 1), step(5, 0, 20), step(6, 0, 20), step(7, 1, 0)],
        [1, 1, 2, 2, 3, 3, 4]
    );
}

#[test]
fn columns_are_inferred() {
    let files = Files::new();
    files.put(
        "f.csv",
        "id,x,ok,day,at,word,none\n1,1.5,true,2026-01-01,2026-01-01 10:00:00,a,\n2,2,false,2026-01-02,2026-01-01T10:00:00.5,7,\n",
    );
    assert_eq!(
        files.infer(&[("path", "f.csv")]).unwrap().to_string(),
        "id bigint, x double precision, ok boolean, day date, at timestamp without time zone, word text, none text"
    );
    files.put("g.csv", "1;a\n");
    assert_eq!(
        files.infer(&[("path", "g.csv"), ("header", "no"), ("delimiter", ";")]).unwrap().to_string(),
        "column1 bigint, column2 text"
    );
    files.put("f.json", "{\"z\":1,\"b\":\"x\"}\n{\"z\":2.5,\"a\":{\"k\":[1,2]},\"n\":null}\n");
    assert_eq!(files.infer(&[("path", "f.json")]).unwrap().to_string(), "z double precision, b text, a row(k bigint[]), n text");
    let mut sink = files.sink(&[("path", "o.parquet")], &all_types(), 1, 0).unwrap();
    sink.write(&sample()).unwrap();
    sink.finish().unwrap();
    assert_eq!(files.infer(&[("path", "o.parquet")]).unwrap(), all_types());
    files.put("empty.json", "");
    assert_eq!(files.infer(&[("path", "empty.json")]).unwrap_err().state(), SqlState::INVALID_TABLE_DEFINITION);
}

#[test]
fn packed_files() {
    use std::io::Write;
    let files = Files::new();
    let mut packed = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    packed.write_all(b"{\"a\":1}\n{\"a\":2}").unwrap();
    let bytes = packed.finish().unwrap();
    files.put("f.json.gz", &bytes);
    let schema = schema(&[("a", SqlType::BigInt)]);
    assert_eq!(files.read(&[("path", "f.json.gz")], &schema).unwrap(), "1\n2");
    files.put("cut.json.gz", &bytes[..bytes.len() - 6]);
    assert_eq!(files.read(&[("path", "cut.json.gz")], &schema).unwrap_err().state(), SqlState::BAD_COPY_FILE_FORMAT);
}

#[test]
fn with_checkpoints_a_file_gets_its_name_when_its_rows_are_durable() {
    let files = Files::new();
    let list = [("path", "out"), ("format", "json")];
    let columns = Schema::new(vec![Column::new("a", SqlType::Integer)]);
    let spec = SinkSpec { name: "s".into(), connector: "filesystem".into(), options: options(&list), columns: columns.columns.clone() };
    let row = |value: i32| {
        let column: ArrayRef = Arc::new(arrow::array::Int32Array::from(vec![value]));
        ChangeBatch::inserts(RecordBatch::try_new(columns.to_arrow(), vec![column]).unwrap())
    };
    let named = || {
        let names = std::fs::read_dir(files.path().join("out")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut texts: Vec<String> =
            names.filter(|n| !n.starts_with('.')).map(|n| std::fs::read_to_string(files.path().join("out").join(n)).unwrap()).collect();
        texts.sort();
        texts.concat()
    };
    let roots = [files.path().to_path_buf()];
    let mut first = files.sink_with(&list, &columns, 1, 0, true).unwrap();
    first.write(&row(1)).unwrap();
    first.on_barrier(&barrier(1)).unwrap();
    assert_eq!(named(), "", "a barrier that is no checkpoint names nothing");
    first.write(&row(2)).unwrap();
    first.on_barrier(&barrier(2)).unwrap();
    let durable = first.pre_commit(2).unwrap();
    first.write(&row(3)).unwrap();
    first.on_barrier(&barrier(3)).unwrap();
    let lost = first.pre_commit(3).unwrap();
    assert_eq!((durable.len(), lost.len(), named().as_str()), (1, 1, ""));
    // Killed here: checkpoint 2 is durable, 3 is not.
    std::mem::forget(first);
    commit(&spec, &durable, &roots).unwrap();
    let mut second = files.sink_with(&list, &columns, 1, 1, true).unwrap();
    commit(&spec, &durable, &roots).unwrap();
    assert_eq!(named(), "{\"a\":1}\n{\"a\":2}\n");
    second.write(&row(3)).unwrap();
    second.on_barrier(&barrier(9)).unwrap();
    let again = second.pre_commit(9).unwrap();
    second.finish().unwrap();
    drop(second);
    commit(&spec, &again, &roots).unwrap();
    assert_eq!(named(), "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
}
