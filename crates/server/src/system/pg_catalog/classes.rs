//! `pg_class`: tables, views, materialized views, sources and sinks (as foreign tables), primary key indexes.

use millstream_sql::catalog::ObjectKind;
use millstream_types::SqlType as T;

use super::oids;
use crate::catalog::CatalogState;
use crate::system::information_schema::primary_key;
use crate::system::table::{Cell, Rows};

/// `relkind`; `None` for what is no relation.
pub(super) fn kind(kind: &ObjectKind) -> Option<&'static str> {
    match kind {
        ObjectKind::Table(_) => Some("r"),
        ObjectKind::View(_) => Some("v"),
        ObjectKind::MaterializedView(_) => Some("m"),
        ObjectKind::Source(_) | ObjectKind::Sink(_) => Some("f"),
        ObjectKind::StreamingJob(_) => None,
    }
}

fn columns() -> Rows {
    Rows::new(&[
        ("oid", T::Integer),
        ("relname", T::Text),
        ("relnamespace", T::Integer),
        ("reltype", T::Integer),
        ("reloftype", T::Integer),
        ("relowner", T::Integer),
        ("relam", T::Integer),
        ("relfilenode", T::Integer),
        ("reltablespace", T::Integer),
        ("relpages", T::Integer),
        ("reltuples", T::Real),
        ("relallvisible", T::Integer),
        ("reltoastrelid", T::Integer),
        ("relhasindex", T::Boolean),
        ("relisshared", T::Boolean),
        ("relpersistence", T::Text),
        ("relkind", T::Text),
        ("relnatts", T::SmallInt),
        ("relchecks", T::SmallInt),
        ("relhasrules", T::Boolean),
        ("relhastriggers", T::Boolean),
        ("relhassubclass", T::Boolean),
        ("relrowsecurity", T::Boolean),
        ("relforcerowsecurity", T::Boolean),
        ("relispopulated", T::Boolean),
        ("relreplident", T::Text),
        ("relispartition", T::Boolean),
        ("relrewrite", T::Integer),
        ("relfrozenxid", T::Integer),
        ("relminmxid", T::Integer),
        ("relacl", T::Array(T::Text.into())),
        ("reloptions", T::Array(T::Text.into())),
        ("relpartbound", T::Text),
    ])
}

struct Class<'a> {
    oid: i32,
    name: &'a str,
    schema: &'a str,
    owner: i32,
    has_index: bool,
    kind: &'a str,
    columns: usize,
}

impl Class<'_> {
    fn cells(&self) -> Vec<Cell> {
        let no = || Cell::from(false);
        let zero = || Cell::from(0);
        vec![
            self.oid.into(),
            self.name.into(),
            oids::schema(self.schema).into(),
            zero(),
            zero(),
            self.owner.into(),
            zero(),
            zero(),
            zero(),
            zero(),
            Cell::Float(-1.0), // never analyzed
            zero(),
            zero(),
            self.has_index.into(),
            no(),
            "p".into(),
            self.kind.into(),
            self.columns.into(),
            zero(),
            no(),
            no(),
            no(),
            no(),
            no(),
            true.into(),
            "d".into(),
            no(),
            zero(),
            zero(),
            zero(),
        ]
    }
}

pub(super) fn pg_class(state: &CatalogState, database: &str) -> Rows {
    let mut rows = columns();
    let owners = oids::owners(state);
    for object in state.objects(database) {
        let Some(kind) = kind(&object.kind) else { continue };
        let key = primary_key(object);
        let class = Class {
            oid: oids::relation(object.id),
            name: &object.name,
            schema: &object.schema,
            owner: oids::role(&owners, &object.owner),
            has_index: key.is_some(),
            kind,
            columns: object.kind.columns().len(),
        };
        rows.push(class.cells());
        if let Some(key) = key {
            let name = format!("{}_pkey", object.name);
            let index = Class { oid: oids::index(object.id), name: &name, has_index: false, kind: "i", columns: key.len(), ..class };
            rows.push(index.cells());
        }
    }
    rows
}
