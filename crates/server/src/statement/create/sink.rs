//! CREATE SINK: a place that streaming jobs insert into.

use millstream_sql::catalog::{ConnectorDescriptor, ObjectKind, SinkDescriptor, SinkInputDescriptor};
use millstream_sql::statement::{CreateSink, SinkInput, Statement};
use millstream_types::{Column, Error, Result, SqlState};

use super::source::missing_connector;
use super::{definition, descriptor, done, reserve};
use crate::pg::service::Response;
use crate::session::{Session, names};

pub(in crate::statement) fn run(session: &mut Session, create: &CreateSink, text: &str) -> Result<Response> {
    if create.input != SinkInput::Jobs {
        return Err(Error::unsupported("CREATE SINK with a query of its own")
            .with_hint("CREATE SINK name (columns) WITH (...), then CREATE STREAMING JOB j AS INSERT INTO name SELECT ..."));
    }
    let (columns, primary_key) = definition::columns(&create.definition, text)?;
    if columns.is_empty() {
        return Err(Error::new(SqlState::INVALID_TABLE_DEFINITION, "a sink needs at least one column"));
    }
    if let Some(column) = columns.iter().find(|c| c.default.is_some() || c.max_chars.is_some()) {
        return Err(Error::unsupported(format!("a constraint on column \"{}\" of a sink", column.column.name)));
    }
    let connector = ConnectorDescriptor::from(&create.connector);
    let (name, options) = names::connector(&connector);
    if name.is_empty() {
        return Err(missing_connector());
    }
    let plain: Vec<Column> = columns.iter().map(|c| c.column.clone()).collect();
    session.db.connectors().validate_sink(&name, &options, &plain)?;
    let Some(reservation) = reserve(session, &create.name, create.if_not_exists)? else { return Ok(done("SINK")) };
    let kind = ObjectKind::Sink(SinkDescriptor { columns, connector, primary_key, input: SinkInputDescriptor::Jobs });
    let object = descriptor(session, &reservation, &Statement::CreateSink(create.clone()), vec![], kind)?;
    reservation.publish(object)?;
    Ok(done("SINK"))
}
