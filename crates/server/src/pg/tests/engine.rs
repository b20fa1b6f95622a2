//! An engine whose SQL has a handful of statements, and which writes down what it was asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{ArrayRef, Int32Array, RecordBatch};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use millstream_types::{Column, Datum, Error, Result, Schema, SqlState, SqlType};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::pg::service::{Notice, QueryService, QuerySession, Response, Severity, StartupParams, TransactionStatus};

/// Rows of a batch.
pub(super) const BATCH_ROWS: usize = 1_000;

#[derive(Default)]
pub(super) struct Engine {
    pub(super) log: Mutex<Vec<String>>,
    /// Notified when `wait` runs.
    pub(super) waiting: Notify,
    /// Batches that `rows` produced.
    pub(super) batches: AtomicUsize,
}

impl Engine {
    pub(super) fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock())
    }
}

pub(super) struct EngineSession {
    engine: Arc<Engine>,
    status: TransactionStatus,
    implicit: bool,
    notices: Vec<Notice>,
    changed: Vec<(String, String)>,
}

#[derive(Clone)]
pub(super) struct Text {
    text: String,
    offset: usize,
}

pub(super) struct PreparedText {
    text: Text,
    types: Vec<SqlType>,
    columns: Option<Schema>,
}

impl QueryService for Engine {
    type Session = EngineSession;

    async fn open(service: &Arc<Self>, params: StartupParams) -> Result<EngineSession> {
        service.log.lock().push(format!("open {params:?}"));
        if params.database.as_deref() == Some("nowhere") {
            return Err(Error::new(SqlState::INVALID_CATALOG_NAME, "database \"nowhere\" does not exist"));
        }
        let engine = Arc::clone(service);
        Ok(EngineSession { engine, status: TransactionStatus::Idle, implicit: false, notices: vec![], changed: vec![] })
    }
}

fn numbers(name: &str) -> Schema {
    Schema::new(vec![Column::new(name, SqlType::Integer)])
}

impl EngineSession {
    fn rows(&self, count: usize) -> Response {
        let schema = numbers("n");
        let arrow = schema.to_arrow();
        let engine = Arc::clone(&self.engine);
        let batches = (0..count).step_by(BATCH_ROWS).map(move |start| {
            engine.batches.fetch_add(1, Ordering::SeqCst);
            let end = count.min(start + BATCH_ROWS);
            let values: ArrayRef = Arc::new((start..end).map(|n| i32::try_from(n).unwrap()).collect::<Int32Array>());
            Ok(RecordBatch::try_from_iter([("n", values)]).unwrap())
        });
        Response::Rows { schema, stream: Box::pin(RecordBatchStreamAdapter::new(arrow, futures::stream::iter(batches))) }
    }

    fn failing_rows(&self) -> Response {
        let Response::Rows { schema, stream } = self.rows(2) else { unreachable!() };
        let arrow = schema.to_arrow();
        let error = Error::new(SqlState::DIVISION_BY_ZERO, "division by zero");
        let stream = stream.chain(futures::stream::iter([Err(millstream_functions::external(error))]));
        let stream: SendableRecordBatchStream = Box::pin(RecordBatchStreamAdapter::new(arrow, stream));
        Response::Rows { schema, stream }
    }

    async fn answer(&mut self, text: &str, parameters: &[Datum]) -> Result<Response> {
        let command = |tag: &str| Ok(Response::Command { tag: tag.to_owned() });
        if self.status == TransactionStatus::Failed && !matches!(text, "commit" | "rollback" | "ROLLBACK" | "COMMIT") {
            return Err(Error::new(SqlState::IN_FAILED_SQL_TRANSACTION, "current transaction is aborted"));
        }
        match text.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["rows", count] => Ok(self.rows(count.parse().unwrap())),
            ["begin"] | ["START", "TRANSACTION"] => {
                self.implicit = false;
                self.status = TransactionStatus::InTransaction;
                command("BEGIN")
            }
            ["commit" | "COMMIT"] => {
                self.status = TransactionStatus::Idle;
                command("COMMIT")
            }
            ["rollback" | "ROLLBACK"] => {
                self.status = TransactionStatus::Idle;
                command("ROLLBACK")
            }
            ["insert"] => {
                self.engine.log.lock().push("insert".to_owned());
                command("INSERT 0 1")
            }
            ["notice"] => {
                self.notices.push(Notice {
                    severity: Severity::Notice,
                    state: SqlState::DUPLICATE_TABLE,
                    message: "relation \"t\" already exists, skipping".to_owned(),
                    detail: None,
                    hint: Some("look".to_owned()),
                });
                command("CREATE TABLE")
            }
            ["set"] => {
                self.changed.push(("application_name".to_owned(), "me".to_owned()));
                command("SET")
            }
            ["discard"] => command("DISCARD ALL"),
            ["wait"] => {
                self.engine.waiting.notify_one();
                std::future::pending().await
            }
            ["panic"] => panic!("boom"),
            ["broken"] => Ok(self.failing_rows()),
            ["fail"] => Err(Error::new(SqlState::DIVISION_BY_ZERO, "division by zero").with_detail("1 / 0").with_position(1)),
            ["echo", "$1"] => {
                let array = parameters[0].to_array()?;
                let schema = Schema::new(vec![Column::new("echo", parameters[0].sql_type())]);
                let batch = RecordBatch::try_new(schema.to_arrow(), vec![array]).unwrap();
                let stream = Box::pin(RecordBatchStreamAdapter::new(schema.to_arrow(), futures::stream::iter([Ok(batch)])));
                Ok(Response::Rows { schema, stream })
            }
            _ => Err(Error::unsupported(text)),
        }
    }
}

impl QuerySession for EngineSession {
    type Statement = Text;
    type Prepared = PreparedText;

    fn parse(&self, sql: &str) -> Result<Vec<Text>> {
        let mut offset = 0;
        let mut statements = vec![];
        for part in sql.split(';') {
            let text = part.trim().to_owned();
            let before = part.chars().take_while(|c| c.is_whitespace()).count();
            if text == "syntax" {
                let position = u32::try_from(offset + before + 1).unwrap();
                return Err(Error::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"syntax\"").with_position(position));
            }
            if !text.is_empty() {
                statements.push(Text { text, offset: offset + before });
            }
            offset += part.chars().count() + 1;
        }
        Ok(statements)
    }

    fn offset(statement: &Text) -> usize {
        statement.offset
    }

    async fn run(&mut self, statement: &Text) -> Result<Response> {
        self.answer(&statement.text, &[]).await
    }

    fn prepare(&mut self, text: Text, types: &[Option<SqlType>]) -> Result<PreparedText> {
        if text.text == "unknown" {
            return Err(Error::new(SqlState::UNDEFINED_TABLE, "relation \"unknown\" does not exist").with_position(1));
        }
        let echo = text.text.starts_with("echo");
        let given = types.first().cloned().flatten().unwrap_or(SqlType::Integer);
        let types = if echo { vec![given.clone()] } else { vec![] };
        let columns = match text.text.split_whitespace().next() {
            Some("echo") => Some(Schema::new(vec![Column::new("echo", given)])),
            Some("rows" | "broken") => Some(numbers("n")),
            _ => None,
        };
        Ok(PreparedText { text, types, columns })
    }

    fn parameter_types(prepared: &PreparedText) -> &[SqlType] {
        &prepared.types
    }

    fn columns(prepared: &PreparedText) -> Option<&Schema> {
        prepared.columns.as_ref()
    }

    async fn execute(&mut self, prepared: &PreparedText, parameters: &[Datum]) -> Result<Response> {
        self.answer(&prepared.text.text, parameters).await
    }

    fn begin_implicit(&mut self) {
        if !std::mem::replace(&mut self.implicit, true) {
            self.engine.log.lock().push("begin implicit".to_owned());
        }
    }

    async fn end_implicit(&mut self, ok: bool) -> Result<()> {
        if std::mem::take(&mut self.implicit) {
            self.engine.log.lock().push(if ok { "commit implicit" } else { "roll back implicit" }.to_owned());
        }
        Ok(())
    }

    fn fail_transaction(&mut self) {
        if self.status == TransactionStatus::InTransaction {
            self.status = TransactionStatus::Failed;
        }
    }

    fn transaction_status(&self) -> TransactionStatus {
        self.status
    }

    fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    fn parameters(&self) -> Vec<(String, String)> {
        vec![("application_name".to_owned(), String::new())]
    }

    fn take_changed_parameters(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.changed)
    }
}
