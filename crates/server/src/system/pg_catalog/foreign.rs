//! `pg_foreign_server` and `pg_foreign_table`: connectors, and the sources and sinks over them. Options may hold secrets and stay out.

use millstream_sql::catalog::{ConnectorDescriptor, ObjectDescriptor, ObjectKind};
use millstream_types::SqlType as T;

use super::oids;
use crate::catalog::CatalogState;
use crate::system::table::{Cell, Rows};

fn connector(object: &ObjectDescriptor) -> Option<&str> {
    let connector: &ConnectorDescriptor = match &object.kind {
        ObjectKind::Source(source) => &source.connector,
        ObjectKind::Sink(sink) => &sink.connector,
        _ => return None,
    };
    connector.options.get("connector").map(String::as_str)
}

pub(super) fn pg_foreign_server(state: &CatalogState, database: &str) -> Rows {
    let mut rows = Rows::new(&[
        ("oid", T::Integer),
        ("srvname", T::Text),
        ("srvowner", T::Integer),
        ("srvfdw", T::Integer),
        ("srvtype", T::Text),
        ("srvversion", T::Text),
        ("srvacl", T::Array(T::Text.into())),
        ("srvoptions", T::Array(T::Text.into())),
    ]);
    let mut names: Vec<_> = state.objects(database).filter_map(|o| connector(o)).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        rows.push(vec![oids::connector(name).into(), name.into(), 10.into(), 0.into()]);
    }
    rows
}

pub(super) fn pg_foreign_table(state: &CatalogState, database: &str) -> Rows {
    let mut rows = Rows::new(&[("ftrelid", T::Integer), ("ftserver", T::Integer), ("ftoptions", T::Array(T::Text.into()))]);
    for object in state.objects(database) {
        if let Some(name) = connector(object) {
            rows.push(vec![oids::relation(object.id).into(), oids::connector(name).into(), Cell::Null]);
        }
    }
    rows
}
