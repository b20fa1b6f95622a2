//! `pg_tables`, `pg_views`, `pg_matviews`.

use millstream_sql::catalog::ObjectKind;
use millstream_types::SqlType as T;

use crate::catalog::CatalogState;
use crate::system::information_schema::primary_key;
use crate::system::table::{Cell, Rows};

pub(super) fn pg_tables(state: &CatalogState, database: &str) -> Rows {
    let mut rows = Rows::new(&[
        ("schemaname", T::Text),
        ("tablename", T::Text),
        ("tableowner", T::Text),
        ("tablespace", T::Text),
        ("hasindexes", T::Boolean),
        ("hasrules", T::Boolean),
        ("hastriggers", T::Boolean),
        ("rowsecurity", T::Boolean),
    ]);
    for o in state.objects(database).filter(|o| matches!(o.kind, ObjectKind::Table(_))) {
        let no = || Cell::from(false);
        rows.push(vec![
            o.schema.as_str().into(),
            o.name.as_str().into(),
            o.owner.as_str().into(),
            Cell::Null,
            primary_key(o).is_some().into(),
            no(),
            no(),
            no(),
        ]);
    }
    rows
}

pub(super) fn pg_views(state: &CatalogState, database: &str) -> Rows {
    let mut rows = Rows::new(&[("schemaname", T::Text), ("viewname", T::Text), ("viewowner", T::Text), ("definition", T::Text)]);
    for o in state.objects(database) {
        if let ObjectKind::View(view) = &o.kind {
            rows.push(vec![o.schema.as_str().into(), o.name.as_str().into(), o.owner.as_str().into(), view.query.as_str().into()]);
        }
    }
    rows
}

pub(super) fn pg_matviews(state: &CatalogState, database: &str) -> Rows {
    let mut rows = Rows::new(&[
        ("schemaname", T::Text),
        ("matviewname", T::Text),
        ("matviewowner", T::Text),
        ("tablespace", T::Text),
        ("hasindexes", T::Boolean),
        ("ispopulated", T::Boolean),
        ("definition", T::Text),
    ]);
    for o in state.objects(database) {
        if let ObjectKind::MaterializedView(view) = &o.kind {
            rows.push(vec![
                o.schema.as_str().into(),
                o.name.as_str().into(),
                o.owner.as_str().into(),
                Cell::Null,
                false.into(),
                true.into(),
                view.query.as_str().into(),
            ]);
        }
    }
    rows
}
