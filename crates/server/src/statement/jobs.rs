//! PAUSE, RESUME, CANCEL and DESCRIBE of jobs.

use datafusion::sql::sqlparser::ast::ObjectName;
use millstream_sql::catalog::ObjectKind;
use millstream_types::{Error, JobId, Result, SqlState, SqlType};

use super::{command, rows};
use crate::pg::service::Response;
use crate::session::Session;
use crate::system::SystemRows;

fn job(session: &Session, name: &ObjectName) -> Result<JobId> {
    let object = session.object(name, "streaming job")?;
    match object.kind {
        ObjectKind::StreamingJob(_) => Ok(JobId(object.id.0)),
        _ => Err(Error::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a streaming job", object.name))
            .with_detail(format!("It is a {}.", object.kind.object_type()))),
    }
}

pub(super) async fn pause(session: &Session, name: &ObjectName) -> Result<Response> {
    session.db.cluster().jobs().pause(job(session, name)?).await?;
    Ok(command("PAUSE STREAMING JOB"))
}

pub(super) async fn resume(session: &Session, name: &ObjectName) -> Result<Response> {
    session.db.cluster().jobs().resume(job(session, name)?).await?;
    Ok(command("RESUME STREAMING JOB"))
}

pub(super) async fn cancel(session: &Session, name: &ObjectName) -> Result<Response> {
    session.db.cluster().jobs().cancel(job(session, name)?).await?;
    Ok(command("CANCEL STREAMING JOB"))
}

/// The columns of DESCRIBE JOB.
pub(super) fn description() -> SystemRows {
    SystemRows::new(&[
        ("vertex", SqlType::Text),
        ("name", SqlType::Text),
        ("subtask", SqlType::BigInt),
        ("state", SqlType::Text),
        ("slot", SqlType::Text),
        ("records_in", SqlType::BigInt),
        ("records_out", SqlType::BigInt),
    ])
}

/// Vertices and subtasks of any job: of a table or view too.
pub(super) fn describe(session: &Session, name: &ObjectName) -> Result<Response> {
    let object = session.object(name, "streaming job")?;
    let details = session.db.cluster().jobs().details(JobId(object.id.0));
    let details = details
        .ok_or_else(|| Error::new(SqlState::WRONG_OBJECT_TYPE, format!("{} \"{}\" has no job", object.kind.object_type(), object.name)))?;
    let mut shown = description();
    for vertex in &details.vertices {
        for s in &vertex.subtasks {
            shown.push(vec![
                vertex.vertex.to_string().into(),
                vertex.name.as_str().into(),
                s.subtask.into(),
                s.state.to_string().into(),
                s.slot.map(|slot| slot.to_string()).into(),
                s.metrics.records_in.into(),
                s.metrics.records_out.into(),
            ]);
        }
    }
    rows::shown(shown, "DESCRIBE")
}
