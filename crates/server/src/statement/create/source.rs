//! CREATE SOURCE.

use millstream_sql::catalog::{ColumnDescriptor, ConnectorDescriptor, ObjectKind, SourceDescriptor};
use millstream_sql::statement::{CreateTable, Statement};
use millstream_types::{Error, Result, Schema, SqlState};

use super::{definition, descriptor, done, reserve};
use crate::pg::service::Response;
use crate::session::{Session, names};

pub(in crate::statement) fn run(session: &mut Session, create: &CreateTable, text: &str) -> Result<Response> {
    if create.definition.watermark.is_some() {
        return Err(Error::unsupported("WATERMARK"));
    }
    if !create.definition.primary_key.is_empty() {
        return Err(Error::unsupported("PRIMARY KEY of a source").with_hint("sources append rows; leave the key out"));
    }
    let (mut columns, _) = definition::columns(&create.definition, text)?;
    if let Some(column) = columns.iter().find(|c| c.not_null || c.default.is_some() || c.max_chars.is_some()) {
        return Err(Error::unsupported(format!("a constraint on column \"{}\" of a source", column.column.name)));
    }
    let connector = ConnectorDescriptor::from(&create.connector);
    let (name, options) = names::connector(&connector);
    if name.is_empty() {
        return Err(missing_connector());
    }
    let declared = Schema::new(columns.iter().map(|c| c.column.clone()).collect());
    let properties = session.db.connectors().validate_source(&name, &options, &declared)?;
    if columns.is_empty() {
        columns = properties.schema.columns.into_iter().map(ColumnDescriptor::new).collect();
    }
    let Some(reservation) = reserve(session, &create.name, create.if_not_exists)? else { return Ok(done("SOURCE")) };
    let kind = ObjectKind::Source(SourceDescriptor { columns, connector, watermark: None, primary_key: vec![] });
    let object = descriptor(session, &reservation, &Statement::CreateSource(create.clone()), vec![], kind)?;
    reservation.publish(object)?;
    Ok(done("SOURCE"))
}

pub(super) fn missing_connector() -> Error {
    Error::new(SqlState::INVALID_PARAMETER_VALUE, "option \"connector\" is missing").with_hint("WITH (connector = '...')")
}
