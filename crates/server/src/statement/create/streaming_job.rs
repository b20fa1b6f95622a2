//! CREATE STREAMING JOB.

use datafusion::sql::sqlparser::ast::TableObject;
use millstream_cluster::{JobKind, JobOptions};
use millstream_planner::{SinkTarget, plan_job};
use millstream_sql::catalog::{ObjectKind, StreamingJobDescriptor};
use millstream_sql::statement::{CreateStreamingJob, Insert, SelectStatement, Statement};
use millstream_types::{Column, Error, JobId, Result, SqlState};

use super::{HalfMade, check_upstream, descriptor, done, reserve};
use crate::pg::service::Response;
use crate::session::{Session, names};
use crate::statement::dependencies;
use crate::statement::options::{self, JobSettings};

pub(in crate::statement) async fn run(session: &mut Session, create: &CreateStreamingJob, text: &str) -> Result<Response> {
    let settings = JobSettings::new(session, &create.options)?;
    let inserts = create.body.inserts().iter().map(|i| insert(session, i)).collect::<Result<Vec<_>>>()?;
    let Some(reservation) = reserve(session, &create.name, create.if_not_exists)? else { return Ok(done("STREAMING JOB")) };
    let job = JobId(reservation.id.0);
    let plan = plan_job(&session.planner_catalog(), &inserts, text, job, &reservation.name.name, &settings.planner)?;
    let _rows_so_far = check_upstream(session, &plan.upstream).await?;
    let options = JobOptions {
        upstream: plan.upstream.iter().map(|o| JobId(o.0)).collect(),
        external: plan.external,
        ..JobOptions::new(JobKind::StreamingJob)
    };
    let mut depends_on = plan.depends_on.clone();
    for (query, _, _) in &inserts {
        depends_on.extend(dependencies(session, &query.query)?);
    }
    depends_on.sort_unstable();
    depends_on.dedup();
    let kind = ObjectKind::StreamingJob(StreamingJobDescriptor {
        statements: create.body.inserts().iter().map(ToString::to_string).collect(),
        options: options::map(&create.options),
    });
    let object = descriptor(session, &reservation, &Statement::CreateStreamingJob(create.clone()), depends_on, kind)?;
    let half_made = HalfMade::new(session, job);
    session.db.cluster().jobs().submit(plan.graph, settings.job_options(options)).await?;
    reservation.publish(object)?;
    half_made.keep();
    Ok(done("STREAMING JOB"))
}

/// An INSERT of a job: its query, the columns it names, its sink.
pub(in crate::statement) fn insert(session: &Session, insert: &Insert) -> Result<(SelectStatement, Vec<String>, SinkTarget)> {
    let TableObject::TableName(name) = &insert.insert.table else { return Err(Error::unsupported("INSERT into a function or query")) };
    if insert.insert.on.is_some() {
        return Err(Error::unsupported("ON CONFLICT in a streaming job"));
    }
    if insert.insert.returning.is_some() {
        return Err(Error::unsupported("RETURNING in a streaming job"));
    }
    let object = session.object(name, "sink")?;
    let sink = match &object.kind {
        ObjectKind::Sink(sink) => sink,
        ObjectKind::Table(_) => {
            return Err(Error::unsupported("a streaming job that inserts into a table")
                .with_hint("create a materialized view instead: it keeps the rows"));
        }
        other => {
            let message = format!("a streaming job cannot insert into {} \"{}\"", other.object_type(), object.name);
            return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
    };
    let source = insert.insert.source.clone();
    let query = source.ok_or_else(|| Error::unsupported("DEFAULT VALUES in a streaming job"))?;
    let (connector, options) = names::connector(&sink.connector);
    let columns: Vec<Column> = sink.columns.iter().map(|c| c.column.clone()).collect();
    let append_only = session.db.connectors().validate_sink(&connector, &options, &columns)?.append_only;
    let target = SinkTarget { id: object.id, name: object.name.clone(), columns, connector, options, append_only };
    let given = insert.insert.columns.iter().map(|c| c.to_string().trim_matches('"').to_owned()).collect();
    Ok((SelectStatement { query, emit: insert.emit }, given, target))
}
