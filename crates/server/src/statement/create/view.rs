//! CREATE VIEW: a name for a query.

use millstream_planner::bind_query;
use millstream_planner::stream::view_columns;
use millstream_sql::catalog::{ColumnDescriptor, ObjectKind, ViewDescriptor};
use millstream_sql::statement::{CreateView, Statement};
use millstream_types::{Column, Error, Result};

use super::{descriptor, done, reserve};
use crate::pg::service::Response;
use crate::session::Session;
use crate::statement::dependencies;
use crate::statement::qualify::qualified;

pub(in crate::statement) fn run(session: &mut Session, create: &CreateView, text: &str) -> Result<Response> {
    if create.or_replace {
        return Err(Error::unsupported("CREATE OR REPLACE VIEW").with_hint("drop the view first"));
    }
    let bound = bind_query(&session.planner_catalog(), &create.query.query, text)?;
    let given: Vec<String> = create.columns.iter().map(|c| c.value.clone()).collect();
    let names = view_columns(&bound.schema, &given)?;
    let columns = names.into_iter().zip(&bound.schema.columns).map(|(n, c)| ColumnDescriptor::new(Column::new(n, c.sql_type.clone())));
    let kind = ObjectKind::View(ViewDescriptor { columns: columns.collect(), query: qualified(session, &create.query)?.to_string() });
    let depends_on = dependencies(session, &create.query.query)?;
    let Some(reservation) = reserve(session, &create.name, false)? else { return Ok(done("VIEW")) };
    let object = descriptor(session, &reservation, &Statement::CreateView(create.clone()), depends_on, kind)?;
    reservation.publish(object)?;
    Ok(done("VIEW"))
}
