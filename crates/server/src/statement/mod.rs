//! What statements do: one file per group. [`execute`] is the one exhaustive match.

mod catalog_query;
mod create;
mod dml;
mod drop;
mod explain;
mod jobs;
mod options;
mod prepared;
mod qualify;
mod query;
mod query_memory;
mod relation_scan;
mod returning;
mod rows;
mod scan;
mod set;
mod show;
mod source_scan;
pub(crate) mod transaction;

use millstream_sql::Parsed;
use millstream_sql::statement::Statement;
use millstream_types::{Error, Result, Schema, SqlState, SqlType};

use crate::pg::service::Response;
use crate::session::Session;

/// What a statement takes and gives.
#[derive(Debug, Default)]
pub(crate) struct Described {
    /// Types of parameters, as far as they are known.
    pub(crate) params: Vec<SqlType>,
    /// Columns of the result; `None` without rows.
    pub(crate) columns: Option<Schema>,
}

pub(crate) fn command(tag: impl Into<String>) -> Response {
    Response::Command { tag: tag.into() }
}

/// Runs a statement.
pub(crate) async fn execute(session: &mut Session, parsed: &Parsed) -> Result<Response> {
    let text = &parsed.text;
    if let Some(definition) = definition(&parsed.statement) {
        session.no_transaction_block(definition)?;
    }
    match &parsed.statement {
        Statement::CreateTable(s) => create::table::run(session, s, text).await,
        Statement::CreateSource(s) => create::source::run(session, s, text),
        Statement::CreateSink(s) => create::sink::run(session, s, text),
        Statement::CreateView(s) => create::view::run(session, s, text),
        Statement::CreateMaterializedView(s) => create::materialized_view::run(session, s, text).await,
        Statement::CreateStreamingJob(s) => create::streaming_job::run(session, s, text).await,
        Statement::CreateDatabase(s) => create::namespace::database(session, s),
        Statement::CreateSchema(s) => create::namespace::schema(session, s),
        Statement::Drop(s) => drop::run(session, s).await,
        Statement::PauseJob(name) => jobs::pause(session, name).await,
        Statement::ResumeJob(name) => jobs::resume(session, name).await,
        Statement::CancelJob(name) => jobs::cancel(session, name).await,
        Statement::DescribeJob(name) => jobs::describe(session, name),
        Statement::Show(s) => show::run(session, s),
        Statement::SetVariable(s) => set::run(session, s),
        Statement::SetTransaction(..) => Ok(command("SET")),
        Statement::Reset(s) => set::reset(session, s),
        Statement::Begin(_) => transaction::begin(session),
        Statement::Commit(end) => transaction::end(session, end, true).await,
        Statement::Rollback(end) => transaction::end(session, end, false).await,
        Statement::Insert(s) => dml::insert::run(session, s, text).await,
        Statement::Update(s) => dml::change::update(session, s, text).await,
        Statement::Delete(s) => dml::change::delete(session, s, text).await,
        Statement::Truncate(s) => dml::truncate::run(session, s).await,
        Statement::Query(s) => query::run(session, s, text).await,
        Statement::Explain(s) => explain::run(session, s, text),
        Statement::Prepare(s) => prepared::prepare(session, s, parsed),
        Statement::Execute(s) => prepared::execute(session, s).await,
        Statement::Deallocate(s) => prepared::deallocate(session, s),
        Statement::DiscardAll => prepared::discard(session),
        Statement::DeclareCursor(_) => Err(Error::unsupported("DECLARE CURSOR")),
        Statement::Fetch(_) => Err(Error::unsupported("FETCH")),
        Statement::CloseCursor(_) => Err(Error::unsupported("CLOSE")),
        Statement::Comment(_) => Err(Error::unsupported("COMMENT ON")),
        Statement::Unsupported { name, position, .. } => Err(Error::unsupported(name).with_position(position.0)),
    }
}

/// The name of a statement that changes the catalog or jobs: it takes effect at once and cannot be rolled back.
fn definition(statement: &Statement) -> Option<&'static str> {
    Some(match statement {
        Statement::CreateTable(_) => "CREATE TABLE",
        Statement::CreateSource(_) => "CREATE SOURCE",
        Statement::CreateSink(_) => "CREATE SINK",
        Statement::CreateView(_) => "CREATE VIEW",
        Statement::CreateMaterializedView(_) => "CREATE MATERIALIZED VIEW",
        Statement::CreateStreamingJob(_) => "CREATE STREAMING JOB",
        Statement::CreateDatabase(_) => "CREATE DATABASE",
        Statement::CreateSchema(_) => "CREATE SCHEMA",
        Statement::Drop(_) => "DROP",
        Statement::PauseJob(_) => "PAUSE STREAMING JOB",
        Statement::ResumeJob(_) => "RESUME STREAMING JOB",
        Statement::CancelJob(_) => "CANCEL STREAMING JOB",
        _ => return None,
    })
}

/// What a statement takes and gives, without running it.
pub(crate) fn describe(session: &Session, parsed: &Parsed) -> Result<Described> {
    let text = &parsed.text;
    let rows = |schema: Schema| Described { columns: Some(schema), ..Described::default() };
    Ok(match &parsed.statement {
        Statement::Query(s) if catalog_query::is_one(session, &s.query) => catalog_query::describe(session, s, text)?,
        Statement::Query(s) => {
            let bound = millstream_planner::bind_query(&session.planner_catalog(), &s.query, text)?;
            Described { params: bound.params, columns: Some(bound.schema) }
        }
        Statement::Insert(s) => dml::insert::describe(session, s, text)?,
        Statement::Update(s) => dml::change::describe_update(session, s, text)?,
        Statement::Delete(s) => dml::change::describe_delete(session, s, text)?,
        Statement::Show(s) => rows(show::schema(session, s)?),
        Statement::Explain(_) => rows(explain::schema()),
        Statement::DescribeJob(_) => rows(jobs::description().schema),
        _ => Described::default(),
    })
}

impl Session {
    /// Refuses a statement that cannot be undone inside BEGIN ... COMMIT.
    fn no_transaction_block(&self, what: &str) -> Result<()> {
        let explicit = self.transaction.as_ref().is_some_and(|t| t.block == crate::session::transaction::Block::Explicit);
        if explicit {
            return Err(Error::new(SqlState::ACTIVE_SQL_TRANSACTION, format!("{what} cannot run inside a transaction block")));
        }
        Ok(())
    }
}

/// Every object that a query names, through views too.
fn dependencies(session: &Session, query: &datafusion::sql::sqlparser::ast::Query) -> Result<Vec<millstream_types::ObjectId>> {
    let mut found = vec![];
    let mut problem = None;
    let _ = datafusion::sql::sqlparser::ast::visit_relations(query, |name| {
        match crate::catalog::parts(name) {
            Ok(parts) => {
                let state = session.db.catalog().snapshot();
                // A name that is not found is the name of a WITH query.
                if let Ok(Some(object)) = crate::session::names::find(&state, &session.database, &session.settings.search_path(), &parts)
                    && !found.contains(&object.id)
                {
                    found.push(object.id);
                }
            }
            Err(e) => problem = Some(e),
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    problem.map_or(Ok(found), Err)
}
