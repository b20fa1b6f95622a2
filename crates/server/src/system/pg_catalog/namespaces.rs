//! `pg_namespace`, `pg_database`, `pg_roles`.

use millstream_types::SqlType as T;

use super::oids;
use crate::catalog::{CatalogState, SYSTEM_SCHEMAS};
use crate::system::table::{Cell, Rows};

pub(super) fn pg_namespace(state: &CatalogState, database: &str) -> Rows {
    let mut rows = Rows::new(&[("oid", T::Integer), ("nspname", T::Text), ("nspowner", T::Integer), ("nspacl", T::Array(T::Text.into()))]);
    for schema in state.schemas(database).chain(SYSTEM_SCHEMAS) {
        rows.push(vec![oids::schema(schema).into(), schema.into(), 10.into(), Cell::Null]);
    }
    rows
}

pub(super) fn pg_database(state: &CatalogState) -> Rows {
    let mut rows = Rows::new(&[
        ("oid", T::Integer),
        ("datname", T::Text),
        ("datdba", T::Integer),
        ("encoding", T::Integer),
        ("datlocprovider", T::Text),
        ("datistemplate", T::Boolean),
        ("datallowconn", T::Boolean),
        ("datconnlimit", T::Integer),
        ("dattablespace", T::Integer),
        ("datcollate", T::Text),
        ("datctype", T::Text),
        ("daticulocale", T::Text),
        ("datcollversion", T::Text),
        ("datacl", T::Array(T::Text.into())),
    ]);
    for name in state.databases() {
        rows.push(vec![
            oids::database(name).into(),
            name.into(),
            10.into(),
            6.into(), // UTF8
            "c".into(),
            false.into(),
            true.into(),
            (-1).into(),
            1663.into(),
            "C.UTF-8".into(),
            "C.UTF-8".into(),
        ]);
    }
    rows
}

pub(super) fn pg_roles(state: &CatalogState) -> Rows {
    let mut rows = Rows::new(&[
        ("oid", T::Integer),
        ("rolname", T::Text),
        ("rolsuper", T::Boolean),
        ("rolinherit", T::Boolean),
        ("rolcreaterole", T::Boolean),
        ("rolcreatedb", T::Boolean),
        ("rolcanlogin", T::Boolean),
        ("rolreplication", T::Boolean),
        ("rolconnlimit", T::Integer),
        ("rolpassword", T::Text),
        ("rolvaliduntil", T::TimestampTz),
        ("rolbypassrls", T::Boolean),
        ("rolconfig", T::Array(T::Text.into())),
    ]);
    let owners = oids::owners(state);
    for name in &owners {
        let yes = || Cell::from(true);
        rows.push(vec![
            oids::role(&owners, name).into(),
            name.as_str().into(),
            yes(),
            yes(),
            yes(),
            yes(),
            yes(),
            false.into(),
            (-1).into(),
            "********".into(),
            Cell::Null,
            yes(),
        ]);
    }
    rows
}
