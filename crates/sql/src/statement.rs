//! The statements of Millstream's SQL: one variant each, printed as SQL that parses to the same tree.

mod comma_separated;
pub mod create_job;
pub mod create_sink;
pub mod create_table;
pub mod create_view;
pub mod cursor;
pub mod data;
pub mod drop;
pub mod explain;
pub mod namespace;
pub mod options;
pub mod prepared;
pub mod session;
pub mod show;
pub mod transaction;

use std::fmt;

use sqlparser::ast::{Delete, ObjectName, Update};

pub use create_job::{CreateStreamingJob, JobBody};
pub use create_sink::{CreateSink, SinkInput};
pub use create_table::{ColumnDefinition, CreateTable, RelationDefinition, Watermark};
pub use create_view::{CreateMaterializedView, CreateView};
pub use cursor::{CursorTarget, DeclareCursor, Fetch, FetchDirection};
pub use data::{Emit, Insert, SelectStatement, Truncate};
pub use drop::{Drop, ObjectType};
pub use explain::{Explain, ExplainFormat, ExplainStage, ExplainTarget};
pub use namespace::{Comment, CreateNamespace};
pub use options::{Connector, FormatClause, RelationOption};
pub use prepared::{Deallocate, Execute, Prepare};
pub use session::{Reset, SetScope, SetVariable};
pub use show::{Show, ShowObjects};
pub use transaction::{IsolationLevel, TransactionEnd, TransactionModes};

use crate::position::Position;

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `CREATE TABLE`, with or without a connector.
    CreateTable(CreateTable),
    /// `CREATE SOURCE ... WITH (connector = ...)`: rows from outside that are not kept.
    CreateSource(CreateTable),
    /// `CREATE SINK`: a place that jobs insert into, or one with its own input (`FROM`, `AS`).
    CreateSink(CreateSink),
    /// `CREATE [OR REPLACE] VIEW`.
    CreateView(CreateView),
    /// `CREATE MATERIALIZED VIEW`.
    CreateMaterializedView(CreateMaterializedView),
    /// `CREATE STREAMING JOB ... AS INSERT ...` or `AS BEGIN ... END`.
    CreateStreamingJob(CreateStreamingJob),
    /// `CREATE DATABASE`.
    CreateDatabase(CreateNamespace),
    /// `CREATE SCHEMA`.
    CreateSchema(CreateNamespace),
    /// `DROP <kind> [IF EXISTS] a, b [CASCADE | RESTRICT]`.
    Drop(Drop),
    /// `PAUSE STREAMING JOB`.
    PauseJob(ObjectName),
    /// `RESUME STREAMING JOB`.
    ResumeJob(ObjectName),
    /// `CANCEL STREAMING JOB`.
    CancelJob(ObjectName),
    /// `DESCRIBE JOB`.
    DescribeJob(ObjectName),
    /// `SHOW ...` and `DESCRIBE t`.
    Show(Show),
    /// `SET name = value`.
    SetVariable(SetVariable),
    /// `SET TRANSACTION ...`; true for `SET SESSION CHARACTERISTICS AS TRANSACTION ...`.
    SetTransaction(TransactionModes, bool),
    /// `RESET name | ALL`.
    Reset(Reset),
    /// `BEGIN`, `START TRANSACTION`.
    Begin(TransactionModes),
    /// `COMMIT`, `END`.
    Commit(TransactionEnd),
    /// `ROLLBACK`, `ABORT`.
    Rollback(TransactionEnd),
    /// `INSERT`.
    Insert(Insert),
    /// `UPDATE`.
    Update(Box<Update>),
    /// `DELETE`.
    Delete(Box<Delete>),
    /// `TRUNCATE`.
    Truncate(Truncate),
    /// `SELECT`, `WITH`, `VALUES`, `TABLE t`.
    Query(SelectStatement),
    /// `EXPLAIN`.
    Explain(Explain),
    /// `PREPARE`.
    Prepare(Prepare),
    /// `EXECUTE`.
    Execute(Execute),
    /// `DEALLOCATE`.
    Deallocate(Deallocate),
    /// `DISCARD ALL`.
    DiscardAll,
    /// `DECLARE c CURSOR FOR query`.
    DeclareCursor(DeclareCursor),
    /// `FETCH`.
    Fetch(Fetch),
    /// `CLOSE`.
    CloseCursor(CursorTarget),
    /// `COMMENT ON`.
    Comment(Comment),
    /// A statement that is known but not there: the server answers 0A000 with its name.
    Unsupported {
        /// The construct, in upper case.
        name: String,
        /// Where it begins in the statement's text.
        position: Position,
        /// The statement as written.
        text: String,
    },
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statement::CreateTable(s) => s.print(f, "TABLE"),
            Statement::CreateSource(s) => s.print(f, "SOURCE"),
            Statement::CreateSink(s) => s.fmt(f),
            Statement::CreateView(s) => s.fmt(f),
            Statement::CreateMaterializedView(s) => s.fmt(f),
            Statement::CreateStreamingJob(s) => s.fmt(f),
            Statement::CreateDatabase(s) => s.print(f, "DATABASE"),
            Statement::CreateSchema(s) => s.print(f, "SCHEMA"),
            Statement::Drop(s) => s.fmt(f),
            Statement::PauseJob(name) => write!(f, "PAUSE STREAMING JOB {name}"),
            Statement::ResumeJob(name) => write!(f, "RESUME STREAMING JOB {name}"),
            Statement::CancelJob(name) => write!(f, "CANCEL STREAMING JOB {name}"),
            Statement::DescribeJob(name) => write!(f, "DESCRIBE JOB {name}"),
            Statement::Show(s) => s.fmt(f),
            Statement::SetVariable(s) => s.fmt(f),
            Statement::SetTransaction(modes, false) => write!(f, "SET TRANSACTION{modes}"),
            Statement::SetTransaction(modes, true) => write!(f, "SET SESSION CHARACTERISTICS AS TRANSACTION{modes}"),
            Statement::Reset(s) => s.fmt(f),
            Statement::Begin(modes) => write!(f, "BEGIN{modes}"),
            Statement::Commit(end) => write!(f, "COMMIT{end}"),
            Statement::Rollback(end) => write!(f, "ROLLBACK{end}"),
            Statement::Insert(s) => s.fmt(f),
            Statement::Update(s) => s.fmt(f),
            Statement::Delete(s) => s.fmt(f),
            Statement::Truncate(s) => s.fmt(f),
            Statement::Query(s) => s.fmt(f),
            Statement::Explain(s) => s.fmt(f),
            Statement::Prepare(s) => s.fmt(f),
            Statement::Execute(s) => s.fmt(f),
            Statement::Deallocate(s) => s.fmt(f),
            Statement::DiscardAll => f.write_str("DISCARD ALL"),
            Statement::DeclareCursor(s) => s.fmt(f),
            Statement::Fetch(s) => s.fmt(f),
            Statement::CloseCursor(target) => write!(f, "CLOSE {target}"),
            Statement::Comment(s) => s.fmt(f),
            Statement::Unsupported { text, .. } => f.write_str(text),
        }
    }
}
