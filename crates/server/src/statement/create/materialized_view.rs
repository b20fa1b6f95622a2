//! CREATE MATERIALIZED VIEW: a job of its own. Waits until the rows that are there already are in, unless `background_ddl` is on.

use millstream_cluster::{JobKind, JobOptions};
use millstream_planner::plan_view;
use millstream_sql::catalog::{ColumnDescriptor, MaterializedViewDescriptor, ObjectKind};
use millstream_sql::statement::{CreateMaterializedView, Statement};
use millstream_types::{JobId, Result};

use super::{HalfMade, cause, check_upstream, descriptor, done, reserve};
use crate::pg::service::Response;
use crate::session::Session;
use crate::statement::dependencies;
use crate::statement::options::{self, JobSettings};

pub(in crate::statement) async fn run(session: &mut Session, create: &CreateMaterializedView, text: &str) -> Result<Response> {
    let settings = JobSettings::new(session, &create.options)?;
    let given: Vec<String> = create.columns.iter().map(|c| c.value.clone()).collect();
    let Some(reservation) = reserve(session, &create.name, create.if_not_exists)? else { return Ok(done("MATERIALIZED VIEW")) };
    let job = JobId(reservation.id.0);
    let plan = plan_view(&session.planner_catalog(), &create.query, text, job, &reservation.name.name, &given, &settings.planner)?;
    let _rows_so_far = check_upstream(session, &plan.upstream).await?;
    let options = JobOptions {
        relation: Some(reservation.id),
        upstream: plan.upstream.iter().map(|o| JobId(o.0)).collect(),
        external: plan.external,
        ..JobOptions::new(JobKind::MaterializedView)
    };
    let kind = ObjectKind::MaterializedView(MaterializedViewDescriptor {
        columns: plan.schema.columns.iter().cloned().map(ColumnDescriptor::new).collect(),
        query: create.query.to_string(),
        key: plan.key.clone(),
        append_only: plan.append_only,
        options: options::map(&create.options),
    });
    let mut depends_on = dependencies(session, &create.query.query)?;
    depends_on.extend(plan.depends_on.iter().filter(|d| !depends_on.contains(d)).copied().collect::<Vec<_>>());
    let object = descriptor(session, &reservation, &Statement::CreateMaterializedView(create.clone()), depends_on, kind)?;
    let half_made = HalfMade::new(session, job);
    let jobs = session.db.cluster().jobs();
    jobs.submit(plan.graph, settings.job_options(options)).await?;
    if !session.settings.bool("background_ddl") {
        jobs.wait_backfill(job).await.map_err(|e| cause(session, job, e))?;
    }
    reservation.publish(object)?;
    half_made.keep();
    Ok(done("MATERIALIZED VIEW"))
}
