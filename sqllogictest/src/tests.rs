//! Runs and completes files against a scripted database.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use sqllogictest::{AsyncDB, ColumnType, DBOutput};

use crate::column::ColumnLetter;
use crate::complete;
use crate::database_error::{DatabaseError, ServerError};
use crate::options::Options;
use crate::outcome::Failure;
use crate::run_file;

/// What a statement answers.
#[derive(Clone)]
enum Answer {
    Rows(&'static [&'static [&'static str]]),
    Done(u64),
    Error(&'static str, &'static str),
    Lost,
}

/// Answers from a script, and writes down who asked what.
#[derive(Clone, Default)]
struct Scripted {
    answers: HashMap<&'static str, Answer>,
    asked: Arc<Mutex<Vec<(usize, String)>>>,
    connections: Arc<Mutex<usize>>,
    id: usize,
}

#[async_trait]
impl AsyncDB for Scripted {
    type Error = DatabaseError;
    type ColumnType = ColumnLetter;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<ColumnLetter>, DatabaseError> {
        self.asked.lock().unwrap().push((self.id, sql.to_owned()));
        match self.answers.get(sql).cloned().unwrap_or(Answer::Done(0)) {
            Answer::Done(count) => Ok(DBOutput::StatementComplete(count)),
            Answer::Rows(rows) => {
                let columns = rows.first().map_or(1, |row| row.len());
                let types = (0..columns).filter_map(|_| ColumnLetter::from_char('I')).collect();
                let rows = rows.iter().map(|row| row.iter().map(|text| (*text).to_owned()).collect()).collect();
                Ok(DBOutput::Rows { types, rows })
            }
            Answer::Error(sqlstate, message) => Err(DatabaseError::Server(ServerError {
                severity: "ERROR".into(),
                sqlstate: sqlstate.into(),
                message: message.into(),
                detail: None,
                hint: None,
            })),
            Answer::Lost => Err(DatabaseError::Lost("connection closed".into())),
        }
    }

    async fn shutdown(&mut self) {}

    fn error_sql_state(error: &DatabaseError) -> Option<String> {
        error.sqlstate().map(str::to_owned)
    }
}

fn database() -> Scripted {
    Scripted {
        answers: HashMap::from([
            ("SELECT 1", Answer::Rows(&[&["1"]])),
            ("SELECT pairs", Answer::Rows(&[&["2", "b"], &["1", "a"]])),
            ("INSERT", Answer::Done(2)),
            ("SELECT 1/0", Answer::Error("22012", "division by zero")),
            ("CRASH", Answer::Lost),
        ]),
        ..Scripted::default()
    }
}

fn connect(database: &Scripted) -> Scripted {
    let mut connections = database.connections.lock().unwrap();
    *connections += 1;
    Scripted { id: *connections, ..database.clone() }
}

fn write(directory: &Path, text: &str) -> std::path::PathBuf {
    let path = directory.join("a.slt");
    std::fs::write(&path, text).unwrap();
    path
}

/// Runs a suite; the number of records that passed, and the failure.
async fn check(database: &Scripted, text: &str) -> (usize, Option<Failure>) {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), text);
    let records = run_file::read(&path).unwrap();
    let mut runner = run_file::runner(|| async { Ok(connect(database)) }, "slt_1_1", &Options::default());
    let mut passed = 0;
    let failure = run_file::run_records(&mut runner, records, &mut passed).await.err();
    let place = |failure: &Failure| failure.place.replace(&format!("{}/", directory.path().display()), "");
    (passed, failure.map(|failure| Failure { place: place(&failure), ..failure }))
}

/// Completes a suite; the new text, or the failure.
async fn complete(text: &str) -> Result<String, Failure> {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), text);
    let database = database();
    let records = run_file::read(&path).unwrap();
    let mut runner = run_file::runner(|| async { Ok(connect(&database)) }, "slt_1_1", &Options::default());
    let edits = complete::complete_records(&mut runner, records, &mut 0).await?;
    complete::write(&edits)?;
    Ok(std::fs::read_to_string(path).unwrap())
}

#[tokio::test]
async fn a_suite_that_holds() {
    let text = "statement count 2\nINSERT\n\nquery IT rowsort\nSELECT pairs\n----\n1 a\n2 b\n\n\
        query TT rowsort\nSELECT pairs\n----\n1  a\n2  b\n\nstatement error (22012)\nSELECT 1/0\n\n\
        query error 22012: division\nSELECT 1/0\n\nskipif millstream\nstatement ok\nSELECT 1/0\n\n\
        onlyif millstream\nstatement ok\nINSERT\n\nhalt\n\nstatement ok\nSELECT 1/0\n";
    assert_eq!(check(&database(), text).await, (6, None));
}

#[tokio::test]
async fn named_connections_are_separate_clients() {
    let database = database();
    let text = "statement ok\nBEGIN\n\nconnection other\nstatement ok\nBEGIN\n\nstatement ok\nCOMMIT\n\n\
        connection other\nstatement ok\nCOMMIT\n\ncontrol substitution on\n\nstatement ok\nUSE $__DATABASE__\n";
    assert_eq!(check(&database, text).await, (5, None));
    let asked = database.asked.lock().unwrap().clone();
    let expected = [(1, "BEGIN"), (2, "BEGIN"), (1, "COMMIT"), (2, "COMMIT"), (1, "USE slt_1_1")];
    assert_eq!(asked, expected.map(|(id, sql)| (id, sql.to_owned())));
}

#[tokio::test]
async fn what_differs_is_shown_where_it_is() {
    let text = "statement ok\nINSERT\n\nquery IT\nSELECT pairs\n----\n2 b\n3 a\n";
    let (passed, failure) = check(&database(), text).await;
    let failure = failure.unwrap();
    assert_eq!((passed, failure.place.as_str()), (1, "a.slt:4"));
    let shown = "the result differs\n    SELECT pairs\n--- expected\n+++ actual\n@@ -1,2 +1,2 @@\n 2 b\n-3 a\n+1 a\n";
    assert_eq!(failure.to_string(), shown);
}

#[tokio::test]
async fn each_kind_of_failure_has_its_words() {
    for (text, shown) in [
        ("statement ok\nSELECT 1/0\n", "the statement failed\n    SELECT 1/0\nERROR 22012: division by zero\n"),
        ("statement error\nINSERT\n", "the statement succeeded, but was to fail\n    INSERT\n"),
        ("statement count 3\nINSERT\n", "expected 3 rows, but the statement affected 2 rows\n    INSERT\n"),
        ("query I\nSELECT pairs\n", "expected 1 columns (I), but the result has 2 (II)\n    SELECT pairs\n"),
        (
            "statement error (42601)\nSELECT 1/0\n",
            "the statement failed, but with another error\n    SELECT 1/0\n\
             expected: (sqlstate) 42601\nactual:   ERROR 22012: division by zero\n",
        ),
        ("let a, b\nSELECT 1\n", "the variables could not be set\n    SELECT 1\nexpected 2 columns, got 1\n"),
        (
            "statement error\nCRASH\n",
            "the statement could not be run\n    CRASH\nthe connection to the server is lost: connection closed\n",
        ),
    ] {
        let (passed, failure) = check(&database(), text).await;
        assert_eq!((passed, failure.unwrap().to_string().as_str()), (0, shown));
    }
}

#[tokio::test]
async fn a_file_that_is_no_suite_fails_with_its_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "statement ok\nSELECT 1\n\nstatment ok\nSELECT 1\n");
    let failure = run_file::read(&path).unwrap_err();
    assert_eq!(failure.place, format!("{}:4", path.display()));
    assert_eq!(failure.headline, "cannot read the suite: invalid line: \"statment ok\"");
}

#[tokio::test]
async fn completing_fills_in_what_the_server_answers() {
    let text = "# a comment\nstatement ok\nINSERT\n\nquery\nSELECT pairs\n\nquery T\nSELECT 1\n----\n7\n\n\
        statement ok\nSELECT 1/0\n\nstatement error\nSELECT 1\n\nquery I\nINSERT\n\nstatement count 9\nINSERT";
    let expected = "# a comment\nstatement ok\nINSERT\n\nquery II\nSELECT pairs\n----\n2 b\n1 a\n\nquery T\nSELECT 1\n----\n1\n\n\
        statement error ERROR 22012: division by zero\nSELECT 1/0\n\nstatement ok\nSELECT 1\n\nstatement ok\nINSERT\n\n\
        statement count 2\nINSERT\n";
    assert_eq!(complete(text).await.unwrap(), expected);
    assert_eq!(complete(expected).await.unwrap(), expected);
}

#[tokio::test]
async fn completing_leaves_alone_what_holds() {
    let text = "statement error (22012)\nSELECT 1/0\n\nquery error by\\s+zero\nSELECT 1/0\n\n\n\nquery  TX   rowsort\nSELECT pairs\n----\n\
        1   a\n2   b\n\ncontrol resultmode valuewise\n\nquery II\nSELECT pairs\n----\n2\nb\n1\na\n\nsystem ok\necho a\n----\na\n\n\n\
        query I retry 2 backoff 0s\nSELECT 1\n----\n1\n";
    assert_eq!(complete(text).await.unwrap(), text);
}

#[tokio::test]
async fn completing_writes_nothing_when_the_server_goes_away() {
    let failure = complete("query I\nSELECT 1\n----\n2\n\nstatement ok\nCRASH\n").await.unwrap_err();
    assert_eq!(failure.headline, "the statement could not be run");
}

#[tokio::test]
async fn completing_reaches_included_files() {
    let directory = tempfile::tempdir().unwrap();
    let part = directory.path().join("part.slt.part");
    std::fs::write(&part, "query I\nSELECT 1\n----\n5\n").unwrap();
    let path = write(directory.path(), "include part.slt.part\n\ninclude part.slt.part\n");
    let database = database();
    let mut runner = run_file::runner(|| async { Ok(connect(&database)) }, "slt_1_1", &Options::default());
    let mut ran = 0;
    let edits = complete::complete_records(&mut runner, run_file::read(&path).unwrap(), &mut ran).await.unwrap();
    complete::write(&edits).unwrap();
    assert_eq!(ran, 2);
    assert_eq!(std::fs::read_to_string(part).unwrap(), "query I\nSELECT 1\n----\n1\n");
}
