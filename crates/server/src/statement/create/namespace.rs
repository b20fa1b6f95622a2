//! CREATE DATABASE and CREATE SCHEMA.

use millstream_sql::statement::CreateNamespace;
use millstream_types::{Error, Result, SqlState};

use super::done;
use crate::catalog::parts;
use crate::pg::service::{Response, Severity};
use crate::session::Session;

pub(in crate::statement) fn database(session: &mut Session, create: &CreateNamespace) -> Result<Response> {
    let parts = parts(&create.name)?;
    let [name] = parts.as_slice() else { return Err(Error::new(SqlState::SYNTAX_ERROR, "a database name has one part")) };
    let made = session.db.catalog().create_database(name);
    skip_if(session, made, create.if_not_exists, SqlState::DUPLICATE_DATABASE)?;
    Ok(done("DATABASE"))
}

pub(in crate::statement) fn schema(session: &mut Session, create: &CreateNamespace) -> Result<Response> {
    let parts = parts(&create.name)?;
    let [name] = parts.as_slice() else { return Err(Error::unsupported("a schema in another database")) };
    let made = session.db.catalog().create_schema(&session.database, name);
    skip_if(session, made, create.if_not_exists, SqlState::DUPLICATE_SCHEMA)?;
    Ok(done("SCHEMA"))
}

fn skip_if(session: &mut Session, made: Result<()>, if_not_exists: bool, state: SqlState) -> Result<()> {
    match made {
        Err(e) if if_not_exists && e.state() == state => {
            session.notice(Severity::Notice, state, format!("{}, skipping", e.message()));
            Ok(())
        }
        other => other,
    }
}
