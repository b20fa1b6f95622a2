//! Nothing outside the roots is read or written, and only regular files are opened.

use std::os::unix::fs::{PermissionsExt, symlink};

use millstream_types::{SqlState, SqlType};

use super::*;

fn a() -> Schema {
    schema(&[("a", SqlType::BigInt)])
}

#[test]
fn escapes_are_refused() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.json"), "{\"a\":1}\n").unwrap();
    let files = Files::new();
    let secret = outside.path().join("secret.json");
    symlink(&secret, files.path().join("link.json")).unwrap();
    symlink(outside.path(), files.path().join("dir")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, files.path().join("fifo.json"), rustix::fs::Mode::RUSR).unwrap();
    let outer = secret.to_str().unwrap();
    for path in [
        outer,
        "../secret.json",
        "x/../../secret.json",
        "link.json",
        "dir/secret.json",
        "dir",
        "dir/*.json",
        "lin*.json",
        "fifo.json",
        "~/f.json",
        "file:///etc/passwd",
        "/etc/passwd",
        "/proc/self/environ",
        "/dev/zero",
        " ",
        "f\0.json",
    ] {
        let list = [("path", path), ("format", "json")];
        let error = files.read(&list, &a()).unwrap_err();
        assert_eq!(error.state(), SqlState::INSUFFICIENT_PRIVILEGE, "{path}: {error}");
        assert!(files.infer(&list).is_err(), "{path}");
    }
    for path in [outer, "../out", "dir", "dir/deeper", "dir/out.json", "~/f.json", "file:///tmp/x"] {
        let list = [("path", path), ("format", "json")];
        let error = files.sink(&list, &a(), 1, 0).err().unwrap();
        assert_eq!(error.state(), SqlState::INSUFFICIENT_PRIVILEGE, "{path}: {error}");
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn what_is_below_a_root_is_found() {
    let files = Files::new();
    std::fs::create_dir_all(files.path().join("d/e")).unwrap();
    files.put("d/one.json", "{\"a\":1}");
    files.put("d/e/two.json", "{\"a\":2}");
    files.put("d/.hidden.json", "{\"a\":3}");
    symlink("d/one.json", files.path().join("inside.json")).unwrap();
    let absolute = files.path().join("d/one.json");
    for (path, rows) in [
        ("d", "1"),
        ("./d/", "1"),
        ("d/one.json", "1"),
        ("d/*.json", "1"),
        ("d/**/*.json", "1\n2"),
        ("**/t*", "2"),
        ("inside.json", "1"),
        (absolute.to_str().unwrap(), "1"),
        ("none/*.json", ""),
    ] {
        let mut got: Vec<_> = files.read(&[("path", path), ("format", "json")], &a()).unwrap().lines().map(ToString::to_string).collect();
        got.sort();
        assert_eq!(got.join("\n"), rows, "{path}");
    }
    let missing = files.read(&[("path", "missing.json")], &a()).unwrap_err();
    assert_eq!((missing.state(), missing.message()), (SqlState::UNDEFINED_FILE, "file \"missing.json\" does not exist"));
}

#[test]
fn files_are_written_for_the_owner_only() {
    use millstream_runtime::connector::SinkWriter;
    let files = Files::new();
    let mut sink = files.sink(&[("path", "out.csv")], &a(), 1, 0).unwrap();
    sink.finish().unwrap();
    let mode = std::fs::metadata(files.path().join("out.csv")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn subtasks_share_the_files() {
    let files = Files::new();
    for i in 0..40 {
        files.put(&format!("{i}.json"), format!("{{\"a\":{i}}}\n"));
    }
    let mut got = vec![];
    for subtask in 0..3 {
        let rows = drain(&mut files.source(&[("path", "*.json"), ("format", "json")], &a(), vec![0], subtask, 3).unwrap(), 100).unwrap();
        let rows: Vec<i64> = text(&rows).lines().map(|l| l.parse().unwrap()).collect();
        assert!(rows.len() > 3, "subtask {subtask} has {} files", rows.len());
        got.extend(rows);
    }
    got.sort_unstable();
    assert_eq!(got, (0..40).collect::<Vec<_>>());
}
