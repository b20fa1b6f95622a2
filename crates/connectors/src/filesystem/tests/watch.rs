//! Watching: new files and appended lines come, half lines wait, and a file that changes under us ends the job.

use std::io::Write;
use std::time::Duration;

use millstream_types::{SqlState, SqlType};

use super::*;

const WATCH: [(&str, &str); 3] = [("path", "*.json"), ("format", "json"), ("mode", "watch")];

fn a() -> Schema {
    schema(&[("a", SqlType::BigInt)])
}

impl Files {
    fn append(&self, name: &str, bytes: &str) {
        std::fs::OpenOptions::new().append(true).open(self.path().join(name)).unwrap().write_all(bytes.as_bytes()).unwrap();
    }

    /// What comes after one more interval.
    fn later(&self, reader: &mut FileReader) -> Result<String> {
        self.clock.advance(Duration::from_secs(1));
        Ok(text(&drain(reader, 100)?))
    }
}

#[test]
fn lines_come_when_they_are_whole() {
    let files = Files::new();
    let mut reader = files.source(&WATCH, &a(), vec![0], 0, 1).unwrap();
    assert_eq!(files.later(&mut reader).unwrap(), "");
    assert!(matches!(reader.poll(None, 9).unwrap(), SourcePoll::Pending { wake_after: Some(d) } if d == Duration::from_secs(1)));
    assert!(matches!(reader.poll(Some(4), 9).unwrap(), SourcePoll::CutReached));
    files.put("1.json", "{\"a\":1}\n{\"a\":2");
    assert_eq!(files.later(&mut reader).unwrap(), "1");
    files.append("1.json", "2}\n");
    files.put("2.json", "{\"a\":3}\n");
    assert_eq!(files.later(&mut reader).unwrap(), "22\n3");
    assert_eq!(files.later(&mut reader).unwrap(), "");
    let mut next = files.source(&WATCH, &a(), vec![0], 0, 1).unwrap();
    next.restore(&[SourcePosition { subtask: 0, parallelism: 1, bytes: reader.snapshot().unwrap() }], 1).unwrap();
    files.append("2.json", "{\"a\":4}\n");
    assert_eq!(files.later(&mut next).unwrap(), "4");
    std::fs::remove_file(files.path().join("1.json")).unwrap();
    assert_eq!(files.later(&mut next).unwrap(), "");
}

#[test]
fn changed_files_are_errors() {
    for replace in [false, true] {
        let files = Files::new();
        files.put("1.json", "{\"a\":1}\n{\"a\":2}\n");
        let mut reader = files.source(&WATCH, &a(), vec![0], 0, 1).unwrap();
        assert_eq!(files.later(&mut reader).unwrap(), "1\n2");
        if replace {
            files.put("new", "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
            std::fs::rename(files.path().join("new"), files.path().join("1.json")).unwrap();
        } else {
            files.put("1.json", "{\"a\":1}\n");
        }
        let error = files.later(&mut reader).unwrap_err();
        assert_eq!(error.state(), SqlState::IO_ERROR);
        let what = if replace { "was replaced" } else { "became shorter" };
        assert!(error.message().contains(what), "{error}");
        assert!(error.detail().unwrap().contains("up to line 3"), "{error}");
    }
}

#[test]
fn a_file_that_was_written_anew_in_place_is_another_one() {
    let files = Files::new();
    files.put("1.json", "{\"a\":1}\n{\"a\":2}\n");
    let mut reader = files.source(&WATCH, &a(), vec![0], 0, 1).unwrap();
    assert_eq!(files.later(&mut reader).unwrap(), "1\n2");
    files.put("1.json", "{\"a\":3}\n{\"a\":4}\n{\"a\":5}\n");
    let error = files.later(&mut reader).unwrap_err();
    assert!(error.message().contains("was replaced"), "{error}");
}

#[test]
fn truncated_while_it_is_read() {
    let files = Files::new();
    files.put("1.json", "{\"a\":1}\n{\"a\":2}\n");
    let mut reader = files.source(&[("path", "1.json")], &a(), vec![0], 0, 1).unwrap();
    assert!(matches!(reader.poll(None, 1).unwrap(), SourcePoll::Batch(_)));
    files.put("1.json", "{\"a\"");
    assert_eq!(drain(&mut reader, 1).unwrap_err().state(), SqlState::IO_ERROR);
}

#[test]
fn csv_grows_behind_its_header() {
    let files = Files::new();
    files.put("f.csv", "b,a");
    let list = [("path", "f.csv"), ("mode", "watch")];
    let mut reader = files.source(&list, &a(), vec![0], 0, 1).unwrap();
    assert_eq!(files.later(&mut reader).unwrap(), "");
    files.append("f.csv", "\nx,1\n");
    assert_eq!(files.later(&mut reader).unwrap(), "1");
    files.append("f.csv", "\"y\n\",2\n");
    assert_eq!(files.later(&mut reader).unwrap(), "2");
}
