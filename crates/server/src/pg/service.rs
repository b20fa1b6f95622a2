//! What the wire layer needs of the engine: sessions that parse, run, prepare and execute.

use std::sync::Arc;

use datafusion::execution::SendableRecordBatchStream;
use millstream_types::{Datum, Result, Schema, SqlState, SqlType};

/// What the client said when it connected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartupParams {
    /// The user.
    pub user: String,
    /// The database; the default one if the client named none.
    pub database: Option<String>,
    /// Settings in the order given, names as written.
    pub settings: Vec<(String, String)>,
}

/// Where a session stands between statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    /// In no transaction block.
    Idle,
    /// In a transaction block.
    InTransaction,
    /// In a transaction block that failed.
    Failed,
}

/// How loud a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// NOTICE.
    Notice,
    /// WARNING.
    Warning,
}

/// Something to tell the client besides the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How loud.
    pub severity: Severity,
    /// SQLSTATE.
    pub state: SqlState,
    /// The line.
    pub message: String,
    /// More.
    pub detail: Option<String>,
    /// The way out.
    pub hint: Option<String>,
}

/// What a statement answers.
pub enum Response {
    /// Rows; the tag counts them (`SELECT 3`).
    Rows {
        /// The columns.
        schema: Schema,
        /// The rows.
        stream: SendableRecordBatchStream,
    },
    /// Rows whose tag is known: RETURNING (`INSERT 0 3`), SHOW, EXPLAIN.
    RowsWithTag {
        /// The columns.
        schema: Schema,
        /// The rows.
        stream: SendableRecordBatchStream,
        /// The whole tag.
        tag: String,
    },
    /// No rows.
    Command {
        /// The whole tag.
        tag: String,
    },
    /// The statement was empty.
    Empty,
}

/// Opens sessions.
pub trait QueryService: Send + Sync + 'static {
    /// One client's session.
    type Session: QuerySession;

    /// Opens a session.
    ///
    /// # Errors
    /// 3D000 for an unknown database, 22023 for a wrong setting.
    fn open(service: &Arc<Self>, params: StartupParams) -> impl Future<Output = Result<Self::Session>> + Send;
}

/// One client's session. Futures may be dropped at any point (cancel, hang-up) and leave the session usable.
pub trait QuerySession: Send + 'static {
    /// A parsed statement.
    type Statement: Send + Sync;
    /// A prepared statement.
    type Prepared: Send + Sync;

    /// All statements of a message, or the first error with its position in `sql`.
    ///
    /// # Errors
    /// 42601 and the others of the parser.
    fn parse(&self, sql: &str) -> Result<Vec<Self::Statement>>;
    /// Characters of the message before the statement: positions of its errors count from there.
    fn offset(statement: &Self::Statement) -> usize;
    /// Runs a statement without parameters.
    fn run(&mut self, statement: &Self::Statement) -> impl Future<Output = Result<Response>> + Send;
    /// Prepares a statement; `types` are what the client declared.
    ///
    /// # Errors
    /// Those of binding.
    fn prepare(&mut self, statement: Self::Statement, types: &[Option<SqlType>]) -> Result<Self::Prepared>;
    /// Types of all parameters.
    fn parameter_types(prepared: &Self::Prepared) -> &[SqlType];
    /// Columns of the result; `None` if it has no rows.
    fn columns(prepared: &Self::Prepared) -> Option<&Schema>;
    /// Runs a prepared statement.
    fn execute(&mut self, prepared: &Self::Prepared, parameters: &[Datum]) -> impl Future<Output = Result<Response>> + Send;
    /// The statements until [`QuerySession::end_implicit`] are one transaction. Called only while [`TransactionStatus::Idle`]; calling
    /// it inside an implicit transaction changes nothing.
    fn begin_implicit(&mut self);
    /// Commits or rolls back the implicit transaction; nothing if BEGIN made it explicit or there is none.
    fn end_implicit(&mut self, ok: bool) -> impl Future<Output = Result<()>> + Send;
    /// A transaction block, if there is one, has failed: for errors that the session does not see (syntax, cancel, a failing stream).
    fn fail_transaction(&mut self);
    /// Where the session stands.
    fn transaction_status(&self) -> TransactionStatus;
    /// Notices since the last call.
    fn take_notices(&mut self) -> Vec<Notice>;
    /// Settings that clients are told at the start.
    fn parameters(&self) -> Vec<(String, String)>;
    /// Those of them that changed since the last call.
    fn take_changed_parameters(&mut self) -> Vec<(String, String)>;
}
