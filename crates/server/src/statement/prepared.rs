//! PREPARE, EXECUTE, DEALLOCATE and DISCARD ALL.

use std::sync::Arc;

use futures::future::BoxFuture;
use millstream_sql::Parsed;
use millstream_sql::statement::{Deallocate, Execute, Prepare};
use millstream_types::{Datum, Error, Result, SqlState};

use super::command;
use crate::pg::service::{QuerySession, Response};
use crate::session::Session;

pub(super) fn prepare(session: &mut Session, prepare: &Prepare, parsed: &Parsed) -> Result<Response> {
    let name = prepare.name.value.clone();
    if session.prepared.contains_key(&name) {
        let state = SqlState::from_code("42P05").unwrap_or(SqlState::DUPLICATE_OBJECT);
        return Err(Error::new(state, format!("prepared statement \"{name}\" already exists")));
    }
    let types = prepare.types.iter().map(|t| millstream_sql::sql_type(t).map(Some)).collect::<Result<Vec<_>>>()?;
    let inner = Parsed { statement: (*prepare.statement).clone(), text: parsed.text.clone(), offset: parsed.offset };
    let prepared = QuerySession::prepare(session, inner, &types)?;
    session.prepared.insert(name, Arc::new(prepared));
    Ok(command("PREPARE"))
}

/// Boxed, because an EXECUTE may run an EXECUTE.
pub(super) fn execute<'a>(session: &'a mut Session, execute: &'a Execute) -> BoxFuture<'a, Result<Response>> {
    Box::pin(run(session, execute))
}

async fn run(session: &mut Session, execute: &Execute) -> Result<Response> {
    let name = &execute.name.value;
    let prepared = session.prepared.get(name).cloned();
    let prepared = prepared
        .ok_or_else(|| Error::new(SqlState::INVALID_SQL_STATEMENT_NAME, format!("prepared statement \"{name}\" does not exist")))?;
    if execute.parameters.len() != prepared.params.len() {
        return Err(Error::new(SqlState::SYNTAX_ERROR, format!("wrong number of parameters for prepared statement \"{name}\""))
            .with_detail(format!("Expected {} parameters but got {}.", prepared.params.len(), execute.parameters.len())));
    }
    let mut values = vec![];
    for (expr, to) in execute.parameters.iter().zip(&prepared.params) {
        values.push(constant(session, expr, to).await?);
    }
    QuerySession::execute(session, &prepared, &values).await
}

/// The value of a constant expression, cast to a parameter's type.
async fn constant(session: &Session, expr: &datafusion::sql::sqlparser::ast::Expr, to: &millstream_types::SqlType) -> Result<Datum> {
    let text = format!("SELECT CAST({expr} AS {to})");
    let select = millstream_sql::parse_query(&text)?;
    let bound = millstream_planner::bind_query(&session.planner_catalog(), &select.query, &text)?;
    let batches = super::query::collect(session, bound, None, &text).await?;
    let batch = batches.iter().find(|b| b.num_rows() > 0).ok_or_else(|| Error::internal("a constant without a value"))?;
    millstream_planner::stream::datum_of(batch.column(0), to)
}

pub(super) fn deallocate(session: &mut Session, deallocate: &Deallocate) -> Result<Response> {
    match &deallocate.name {
        None => session.prepared.clear(),
        Some(name) => {
            if session.prepared.remove(&name.value).is_none() {
                let message = format!("prepared statement \"{}\" does not exist", name.value);
                return Err(Error::new(SqlState::INVALID_SQL_STATEMENT_NAME, message));
            }
        }
    }
    Ok(command("DEALLOCATE"))
}

pub(super) fn discard(session: &mut Session) -> Result<Response> {
    if session.transaction.is_some() {
        return Err(Error::new(SqlState::ACTIVE_SQL_TRANSACTION, "DISCARD ALL cannot run inside a transaction block"));
    }
    session.prepared.clear();
    session.settings.reset(None)?;
    Ok(command("DISCARD ALL"))
}
