//! Every kind of bad input: what is said, and that skipping leaves out just that row.

use millstream_types::{SqlState, SqlType};
use proptest::prelude::*;

use super::*;

fn ab() -> Schema {
    schema(&[("a", SqlType::BigInt), ("b", SqlType::Text)])
}

#[test]
fn json_rows() {
    let cases: &[(&[u8], &str, &str)] = &[
        (b"{\"a\":1,\"b\":\"x\"", "22P04", "the JSON object does not end on its line"),
        (b"{\"a\":1}{\"a\":2}", "22P04", "more than one JSON value"),
        (b"{\"a\":1} x", "22P04", ""),
        (b"[1]", "22P04", "not a JSON object"),
        (b"nonsense", "22P04", "not a JSON object"),
        (b"{\"a\":\"x\"}", "22P02", "column \"a\": invalid input syntax for type bigint: \"x\""),
        (b"{\"a\":1.5}", "22P02", "column \"a\": invalid input syntax for type bigint: \"1.5\""),
        (b"{\"a\":99999999999999999999}", "22003", "column \"a\": "),
        (b"{\"a\":[1]}", "22P04", ""),
        (b"{\"a\":1,\"b\":{\"c\":1}}", "22P04", ""),
        (b"{\"a\":1,\"b\":\"\xff\"}", "22021", "invalid byte sequence for encoding \"UTF8\": 0xff"),
        (b"{\"a\":1,\"other\":\"\xff\"}", "22021", "0xff"),
        (b"{\"a\":1,\"b\":\"\0\"}", "22021", "0x00"),
        (b"{\"a\":1,\"b\":\"\\u0000\"}", "22021", "column \"b\": invalid byte sequence for encoding \"UTF8\": 0x00"),
        (b"{\"a\":1,\"b\":\"\\ud800\"}", "22P04", ""),
        (b"{\"a\":1,\"b\":\"\\x\"}", "22P04", ""),
    ];
    for (row, state, message) in cases {
        let files = Files::new();
        let bytes = [b"{\"a\":1,\"b\":\"one\"}\n\n", *row, b"\r\n{\"b\":\"two\",\"z\":0,\"a\":\"2\"}"].concat();
        files.put("f.json", bytes);
        let shown = String::from_utf8_lossy(row);
        let error = files.read(&[("path", "f.json")], &ab()).unwrap_err();
        assert_eq!(error.state().as_str(), *state, "{shown}: {error}");
        assert!(error.message().starts_with("malformed row in file \"f.json\", line 3"), "{shown}: {error}");
        assert!(error.message().contains(message), "{shown}: {error}");
        let rest = files.read(&[("path", "f.json"), ("on_error", "skip")], &ab()).unwrap();
        assert_eq!(rest, "1|one\n2|two", "{shown}");
    }
}

#[test]
fn csv_rows() {
    let cases: &[(&[u8], &str, &str)] = &[
        (b"x,y", "22P02", "column \"a\": invalid input syntax for type bigint: \"x\""),
        (b"1", "22P04", "missing data: 1 fields instead of 2"),
        (b"1,2,3", "22P04", "extra data: 3 fields instead of 2"),
        (b"1,\xff", "22021", "0xff"),
        (b"1,\0", "22021", "0x00"),
        (b"99999999999999999999,x", "22003", "column \"a\""),
    ];
    for (row, state, message) in cases {
        let files = Files::new();
        files.put("f.csv", [b"a,b\r\n1,\"one\r\nmore\"\r\n", *row, b"\n\n2,two"].concat());
        let shown = String::from_utf8_lossy(row);
        let error = files.read(&[("path", "f.csv")], &ab()).unwrap_err();
        assert_eq!(error.state().as_str(), *state, "{shown}: {error}");
        assert!(error.message().starts_with("malformed row in file \"f.csv\", line 4"), "{shown}: {error}");
        assert!(error.message().contains(message), "{shown}: {error}");
        let mut reader = files.source(&[("path", "f.csv"), ("on_error", "skip")], &ab(), vec![0], 0, 1).unwrap();
        assert_eq!(text(&drain(&mut reader, 100).unwrap()), "1\n2", "{shown}");
        assert_eq!(reader.skipped(), 1, "{shown}");
    }
    let files = Files::new();
    files.put("f.csv", "a,b\n1,\"never ends\n2,two\n");
    let error = files.read(&[("path", "f.csv")], &ab()).unwrap_err();
    assert_eq!(error.message(), "malformed row in file \"f.csv\", line 2: unterminated quoted field");
}

#[test]
fn headers() {
    let state = |bytes: &[u8]| {
        let files = Files::new();
        files.put("f.csv", bytes);
        files.read(&[("path", "f.csv"), ("on_error", "skip")], &ab()).map_err(|e| (e.state().as_str().to_string(), e.message().to_string()))
    };
    assert_eq!(state(b""), Ok(String::new()));
    assert_eq!(state(b"a,b"), Ok(String::new()));
    assert_eq!(state(b"b,other,a\nx,y,1"), Ok("1|x".into()));
    for header in [&b"a\n1"[..], b"a,a,b\n1,1,1", b"\xef\xbb\xbfa,b\n1,1", b"\xffa,b\n", b"\"a,b\n"] {
        let (state, message) = state(header).unwrap_err();
        assert!(state == "22P04" && message.starts_with("header of file \"f.csv\", line 1: "), "{message}");
    }
}

#[test]
fn marks_and_empty_files() {
    let files = Files::new();
    files.put("empty.json", "");
    files.put("blank.json", "\n\r\n  \n");
    assert_eq!(files.read(&[("path", "*.json"), ("format", "json")], &ab()).unwrap(), "");
    files.put("mark.json", "\u{FEFF}{\"a\":1}\n{\"a\":2}\n");
    let error = files.read(&[("path", "mark.json")], &ab()).unwrap_err();
    assert_eq!(error.message(), "malformed row in file \"mark.json\", line 1: the file starts with a byte order mark");
    files.put("mark.csv", "\u{FEFF}1,x\n2,y\n");
    let list = [("path", "mark.csv"), ("header", "false")];
    assert!(files.read(&list, &ab()).unwrap_err().message().ends_with("byte order mark"));
    assert_eq!(files.read(&[list[0], list[1], ("on_error", "skip")], &ab()).unwrap(), "2|y");
}

#[test]
fn a_row_has_a_greatest_size() {
    let files = Files::new();
    let mut bytes = b"{\"a\":1}\n{\"b\":\"".to_vec();
    bytes.resize(millstream_types::limits::MAX_ROW_BYTES + 100, b'x');
    files.put("f.json", &bytes);
    let error = files.read(&[("path", "f.json")], &ab()).unwrap_err();
    assert_eq!(error.state(), SqlState::PROGRAM_LIMIT_EXCEEDED);
    assert_eq!(error.message(), "row in file \"f.json\", line 2 is too long");
}

#[test]
fn broken_containers() {
    let files = Files::new();
    files.put("f.parquet", "no parquet");
    files.put("f.json.gz", "no gzip");
    for path in ["f.parquet", "f.json.gz"] {
        assert_eq!(files.read(&[("path", path)], &ab()).unwrap_err().state(), SqlState::BAD_COPY_FILE_FORMAT, "{path}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_bytes_never_panic(pieces in prop::collection::vec(prop_oneof![
        Just(b"{\"a\":1,\"b\":\"x\"}\n".to_vec()), Just(b"{\"a\":".to_vec()), Just(b"1,\"q".to_vec()), Just(b"\"".to_vec()), Just(b"\r\n".to_vec()),
        Just(b"\\u".to_vec()), Just(b"a,b\n".to_vec()), prop::collection::vec(any::<u8>(), 0..12),
    ], 0..12)) {
        let files = Files::new();
        files.put("f", pieces.concat());
        for format in ["json", "csv", "parquet"] {
            for skip in ["skip", "fail"] {
                let list = [("path", "f"), ("format", format), ("on_error", skip)];
                let _ = files.read(&list, &ab());
                let _ = files.infer(&list[..2]);
            }
        }
    }

    #[test]
    fn cut_anywhere_gives_the_same_rows(rows in prop::collection::vec((any::<i64>(), "\\PC{0,9}|[\",\n\r]{0,4}"), 1..20), max_rows in 1usize..7, stop in 0usize..9) {
        let files = Files::new();
        let mut bytes = String::from("a,b\n");
        for (a, b) in &rows {
            bytes += &format!("{a},\"{}\"\n", b.replace('"', "\"\""));
        }
        files.put("f.csv", bytes);
        let mut first = files.source(&[("path", "f.csv")], &ab(), vec![0, 1], 0, 1).unwrap();
        let mut got = vec![];
        for _ in 0..stop {
            if let SourcePoll::Batch(batch) = first.poll(None, max_rows).unwrap() {
                got.push(batch.rows().clone());
            }
        }
        let mut second = files.source(&[("path", "f.csv")], &ab(), vec![0, 1], 0, 1).unwrap();
        second.restore(&[SourcePosition { subtask: 0, parallelism: 1, bytes: first.snapshot().unwrap() }], 1).unwrap();
        got.extend(drain(&mut second, max_rows).unwrap());
        let mut values = vec![];
        for batch in &got {
            let a = arrow::array::AsArray::as_primitive::<arrow::datatypes::Int64Type>(batch.column(0));
            let b = arrow::array::AsArray::as_string::<i32>(batch.column(1));
            values.extend((0..batch.num_rows()).map(|i| (a.value(i), b.value(i).to_string())));
        }
        prop_assert_eq!(values, rows);
    }
}
