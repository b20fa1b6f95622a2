//! CREATE: one kind of object per file. Names are reserved first, so of two that want one name at once, one gets it; what was half
//! made is taken back when the statement fails or is cancelled.

mod definition;
pub(super) mod materialized_view;
pub(super) mod namespace;
pub(super) mod sink;
pub(super) mod source;
pub(super) mod streaming_job;
pub(super) mod table;
pub(super) mod view;

use millstream_cluster::{Isolation, ReadLease};
use millstream_sql::catalog::{ObjectDescriptor, ObjectKind};
use millstream_sql::statement::Statement;
use millstream_types::{Error, JobId, ObjectId, Result, SqlState};

use crate::catalog::Reservation;
use crate::database::Database;
use crate::pg::service::{Response, Severity};
use crate::session::Session;
use crate::statement::command;

/// The descriptor of a new object.
fn descriptor(
    session: &Session,
    reservation: &Reservation,
    definition: &Statement,
    depends_on: Vec<ObjectId>,
    kind: ObjectKind,
) -> Result<ObjectDescriptor> {
    let name = &reservation.name;
    Ok(ObjectDescriptor {
        id: reservation.id,
        database: name.database.clone(),
        schema: name.schema.clone(),
        name: name.name.clone(),
        owner: session.user.clone(),
        definition: millstream_sql::stored_text(definition)?,
        depends_on,
        kind,
    })
}

/// Reserves a name; `None` with a notice if it is taken and IF NOT EXISTS was written.
fn reserve(session: &mut Session, name: &datafusion::sql::sqlparser::ast::ObjectName, if_not_exists: bool) -> Result<Option<Reservation>> {
    let name = session.new_name(name)?;
    let shown = name.name.clone();
    match session.db.catalog().clone().reserve(name) {
        Ok(reservation) => Ok(Some(reservation)),
        Err(e) if if_not_exists && e.state() == SqlState::DUPLICATE_TABLE => {
            session.notice(Severity::Notice, SqlState::DUPLICATE_TABLE, format!("relation \"{shown}\" already exists, skipping"));
            Ok(None)
        }
        Err(e) => Err(e),
    }
}

/// Drops a job unless its object was published.
struct HalfMade {
    db: std::sync::Arc<Database>,
    job: JobId,
    armed: bool,
}

impl HalfMade {
    fn new(session: &Session, job: JobId) -> Self {
        HalfMade { db: std::sync::Arc::clone(&session.db), job, armed: true }
    }

    fn keep(mut self) {
        self.armed = false;
    }
}

impl Drop for HalfMade {
    #[allow(clippy::disallowed_methods)] // Nobody waits for a statement that was given up; the cluster owns the job's end.
    fn drop(&mut self) {
        if self.armed {
            let (db, job) = (std::sync::Arc::clone(&self.db), self.job);
            tokio::spawn(async move {
                db.cluster().tables().drop_table(ObjectId(job.0));
                // The job may not have come so far; then there is nothing to drop.
                let _ = db.cluster().jobs().drop(job).await;
            });
        }
    }
}

/// Objects that a streaming query reads must run. What was written to them before is in the version that the new job starts from, which
/// the lease keeps until the job runs.
async fn check_upstream(session: &Session, upstream: &[ObjectId]) -> Result<Option<ReadLease>> {
    for id in upstream {
        let overview = session.db.cluster().jobs().overview(JobId(id.0));
        let Some(job) =
            overview.filter(|o| matches!(o.status, millstream_cluster::JobStatus::Failed | millstream_cluster::JobStatus::Canceled))
        else {
            continue;
        };
        let error =
            Error::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, format!("\"{}\" is not running: it is {}", job.name, job.status));
        return Err(match job.cause {
            Some(cause) => error.with_detail(cause.to_string()),
            None => error,
        });
    }
    let jobs: Vec<JobId> = upstream.iter().map(|id| JobId(id.0)).collect();
    let epochs = session.db.cluster().epochs();
    match epochs.read(&jobs, Isolation::StrictSerializable).await {
        Ok(lease) => Ok(Some(lease)),
        // Paused, or still taking in its first rows: the new job starts with what is there and follows.
        Err(e) if e.state() == SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE => Ok(None),
        Err(e) => Err(e),
    }
}

/// What a job failed with, or else the error of waiting for it.
fn cause(session: &Session, job: JobId, error: Error) -> Error {
    session.db.cluster().jobs().overview(job).and_then(|o| o.cause).unwrap_or(error)
}

fn done(what: &str) -> Response {
    command(format!("CREATE {what}"))
}
