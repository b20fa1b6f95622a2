//! DROP: dependents first, all or nothing.

use std::sync::Arc;

use millstream_sql::catalog::{ObjectDescriptor, ObjectKind};
use millstream_sql::statement::{Drop, ObjectType};
use millstream_types::{Error, JobId, ObjectId, Result, SqlState};

use super::command;
use crate::catalog::{DEFAULT_DATABASE, parts};
use crate::database::Database;
use crate::pg::service::{Response, Severity};
use crate::session::Session;

pub(super) async fn run(session: &mut Session, drop: &Drop) -> Result<Response> {
    let tag = command(format!("DROP {}", drop.object_type.keyword()));
    match drop.object_type {
        ObjectType::Database => databases(session, drop).await?,
        ObjectType::Schema => schemas(session, drop).await?,
        _ => objects(session, drop).await?,
    }
    Ok(tag)
}

async fn objects(session: &mut Session, drop: &Drop) -> Result<()> {
    let mut roots = vec![];
    for name in &drop.names {
        match session.object(name, &drop.object_type.to_string()) {
            Ok(object) if object.kind.object_type() == drop.object_type => roots.push(object.id),
            Ok(object) => {
                let kind = object.kind.object_type();
                return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a {}", object.name, drop.object_type))
                    .with_hint(format!("use DROP {}", kind.keyword())));
            }
            Err(e) if drop.if_exists => {
                session.notice(Severity::Notice, SqlState::from_code("00000").unwrap_or(e.state()), format!("{}, skipping", e.message()));
            }
            Err(e) => return Err(e),
        }
    }
    remove(session, &roots, drop.cascade).await
}

/// Removes objects, with all that depend on them if `cascade`.
async fn remove(session: &mut Session, roots: &[ObjectId], cascade: bool) -> Result<()> {
    let state = session.db.catalog().snapshot();
    let all = state.closure(roots);
    let others: Vec<&ObjectDescriptor> =
        all.iter().filter(|id| !roots.contains(id)).filter_map(|id| state.object(*id)).map(AsRef::as_ref).collect();
    if !others.is_empty() {
        let listed: Vec<_> = others.iter().map(|o| format!("{} \"{}\"", o.kind.object_type(), o.name)).collect();
        if !cascade {
            let name = roots.first().and_then(|r| state.object(*r)).map(|o| o.name.clone()).unwrap_or_default();
            return Err(Error::new(
                SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                format!("cannot drop \"{name}\" because other objects depend on it"),
            )
            .with_detail(format!("It is needed by {}.", listed.join(", ")))
            .with_hint("use DROP ... CASCADE to drop the dependent objects too"));
        }
        session.notice(
            Severity::Notice,
            SqlState::from_code("00000").unwrap_or(SqlState::INTERNAL_ERROR),
            format!("drop cascades to {}", listed.join(", ")),
        );
    }
    session.db.catalog().remove(&all)?;
    let has_job =
        |o: &&Arc<ObjectDescriptor>| matches!(o.kind, ObjectKind::Table(_) | ObjectKind::MaterializedView(_) | ObjectKind::StreamingJob(_));
    let gone = all.iter().filter_map(|id| state.object(*id)).filter(has_job).map(|o| o.id).collect();
    end_jobs(Arc::clone(&session.db), gone).await
}

/// Ends the jobs of objects that have no names any more. Goes on when the statement is given up: nobody could ask for it again.
#[allow(clippy::disallowed_methods)]
async fn end_jobs(db: Arc<Database>, ids: Vec<ObjectId>) -> Result<()> {
    let ending = tokio::spawn(async move {
        for id in ids {
            db.cluster().tables().drop_table(id);
            db.cluster().jobs().drop(JobId(id.0)).await?;
        }
        Ok(())
    });
    ending.await.map_err(Error::internal)?
}

async fn databases(session: &mut Session, drop: &Drop) -> Result<()> {
    for name in &drop.names {
        let parts = parts(name)?;
        let [name] = parts.as_slice() else { return Err(Error::new(SqlState::SYNTAX_ERROR, "a database name has one part")) };
        if *name == session.database {
            return Err(Error::new(SqlState::OBJECT_IN_USE, "cannot drop the currently open database"));
        }
        if name == DEFAULT_DATABASE {
            return Err(Error::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("database \"{DEFAULT_DATABASE}\" cannot be dropped")));
        }
        if drop.if_exists && !session.db.catalog().snapshot().has_database(name) {
            session.notice(Severity::Notice, SqlState::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist, skipping"));
            continue;
        }
        if drop.cascade {
            let state = session.db.catalog().snapshot();
            let roots: Vec<ObjectId> = state.objects(name).map(|o| o.id).collect();
            remove(session, &roots, true).await?;
        }
        session.db.catalog().drop_database(name)?;
        session.db.forget(name);
    }
    Ok(())
}

async fn schemas(session: &mut Session, drop: &Drop) -> Result<()> {
    for name in &drop.names {
        let parts = parts(name)?;
        let [name] = parts.as_slice() else { return Err(Error::unsupported("a schema in another database")) };
        let state = session.db.catalog().snapshot();
        if drop.if_exists && !state.schemas(&session.database).any(|s| s == name) {
            session.notice(Severity::Notice, SqlState::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist, skipping"));
            continue;
        }
        if drop.cascade {
            let roots: Vec<ObjectId> = state.objects(&session.database).filter(|o| o.schema == *name).map(|o| o.id).collect();
            remove(session, &roots, true).await?;
        }
        session.db.catalog().drop_schema(&session.database, name)?;
    }
    Ok(())
}
