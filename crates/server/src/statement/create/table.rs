//! CREATE TABLE: a job of its own that keeps what the log says.

use millstream_cluster::{JobKind, JobOptions};
use millstream_graph::StreamGraph;
use millstream_planner::dml::{InsertTarget, bind_insert};
use millstream_planner::plan_table;
use millstream_sql::catalog::{ObjectKind, TableDescriptor};
use millstream_sql::statement::{CreateTable, Statement};
use millstream_types::{Error, JobId, Result, SqlState};

use super::{HalfMade, definition, descriptor, done, reserve};
use crate::database::table_info;
use crate::pg::service::Response;
use crate::session::Session;
use crate::statement::options::JobSettings;

pub(in crate::statement) async fn run(session: &mut Session, create: &CreateTable, text: &str) -> Result<Response> {
    if !create.connector.options.is_empty() || create.connector.format.is_some() {
        let position = create.connector.options.first().map_or(1, |o| o.position.0);
        return Err(Error::unsupported("CREATE TABLE ... WITH (connector)")
            .with_hint("use CREATE SOURCE and a materialized view over it")
            .with_position(position));
    }
    if create.definition.watermark.is_some() {
        return Err(Error::unsupported("WATERMARK"));
    }
    if !create.definition.has_parentheses || create.definition.columns.is_empty() {
        return Err(Error::new(SqlState::INVALID_TABLE_DEFINITION, "a table needs at least one column"));
    }
    let (columns, key) = definition::columns(&create.definition, text)?;
    let table = TableDescriptor::new(columns, key);
    check_defaults(session, &table, text)?;
    let Some(reservation) = reserve(session, &create.name, create.if_not_exists)? else { return Ok(done("TABLE")) };
    let job = JobId(reservation.id.0);
    let settings = JobSettings::new(session, &[])?;
    let schema = table.stored_schema();
    let graph = plan_table(job, &reservation.name.name, &schema, &table.primary_key, &settings.planner)?;
    let half_made = HalfMade::new(session, job);
    let cluster = session.db.cluster();
    let options = JobOptions { relation: Some(reservation.id), table: true, ..JobOptions::new(JobKind::Table) };
    cluster.jobs().submit(graph, settings.job_options(options)).await?;
    cluster.tables().register_table(table_info(reservation.id, &reservation.name.name, &table))?;
    let object = descriptor(session, &reservation, &Statement::CreateTable(create.clone()), vec![], ObjectKind::Table(table))?;
    reservation.publish(object)?;
    half_made.keep();
    Ok(done("TABLE"))
}

/// Defaults are bound once, so that a wrong one fails here and not at the first INSERT.
fn check_defaults(session: &Session, table: &TableDescriptor, text: &str) -> Result<()> {
    if table.columns.iter().all(|c| c.default.is_none()) {
        return Ok(());
    }
    let statements = millstream_sql::parse("INSERT INTO t DEFAULT VALUES")?;
    let [millstream_sql::Parsed { statement: Statement::Insert(insert), .. }] = statements.as_slice() else {
        return Err(Error::internal("INSERT is no INSERT"));
    };
    let target = InsertTarget {
        name: "t".into(),
        columns: table.columns.iter().map(|c| c.column.clone()).collect(),
        defaults: table.columns.iter().map(|c| c.default.clone()).collect(),
    };
    bind_insert(&session.planner_catalog(), &insert.insert, text, &target).map(drop)
}

/// The graph that CREATE TABLE would run, for EXPLAIN.
pub(in crate::statement) fn graph(session: &Session, create: &CreateTable, text: &str) -> Result<StreamGraph> {
    let (columns, key) = definition::columns(&create.definition, text)?;
    let table = TableDescriptor::new(columns, key);
    let settings = JobSettings::new(session, &[])?;
    plan_table(JobId(0), &create.name.to_string(), &table.stored_schema(), &table.primary_key, &settings.planner)
}
