//! `pg_attribute` and `pg_attrdef`: columns and their defaults.

use millstream_types::SqlType as T;

use super::{classes, oids};
use crate::catalog::CatalogState;
use crate::pg::types;
use crate::system::table::{Cell, Rows};

pub(super) fn pg_attribute(state: &CatalogState, database: &str) -> Rows {
    let mut rows = Rows::new(&[
        ("attrelid", T::Integer),
        ("attname", T::Text),
        ("atttypid", T::Integer),
        ("attstattarget", T::Integer),
        ("attlen", T::SmallInt),
        ("attnum", T::SmallInt),
        ("attndims", T::Integer),
        ("attcacheoff", T::Integer),
        ("atttypmod", T::Integer),
        ("attbyval", T::Boolean),
        ("attstorage", T::Text),
        ("attalign", T::Text),
        ("attcompression", T::Text),
        ("attnotnull", T::Boolean),
        ("atthasdef", T::Boolean),
        ("atthasmissing", T::Boolean),
        ("attidentity", T::Text),
        ("attgenerated", T::Text),
        ("attisdropped", T::Boolean),
        ("attislocal", T::Boolean),
        ("attinhcount", T::Integer),
        ("attcollation", T::Integer),
        ("attacl", T::Array(T::Text.into())),
        ("attoptions", T::Array(T::Text.into())),
        ("attfdwoptions", T::Array(T::Text.into())),
    ]);
    for object in state.objects(database).filter(|o| classes::kind(&o.kind).is_some()) {
        for (place, column) in object.kind.columns().iter().enumerate() {
            let sql_type = &column.column.sql_type;
            let (oid, modifier) = match column.max_chars {
                // varchar(n): the modifier counts four bytes that a header once took.
                Some(n) => (pgwire::api::Type::VARCHAR.oid(), i32::try_from(n + 4).unwrap_or(-1)),
                None => (types::pg_type(sql_type).oid(), types::type_modifier(sql_type)),
            };
            rows.push(vec![
                oids::relation(object.id).into(),
                column.column.name.as_str().into(),
                oid.into(),
                (-1).into(),
                i32::from(types::type_size(sql_type)).into(),
                (place + 1).into(),
                i32::from(matches!(sql_type, T::Array(_))).into(),
                (-1).into(),
                modifier.into(),
                (types::type_size(sql_type) > 0).into(),
                "p".into(),
                "i".into(),
                "".into(),
                column.not_null.into(),
                column.default.is_some().into(),
                false.into(),
                "".into(),
                "".into(),
                false.into(),
                true.into(),
                0.into(),
                0.into(),
            ]);
        }
    }
    rows
}

pub(super) fn pg_attrdef(state: &CatalogState, database: &str) -> Rows {
    let mut rows = Rows::new(&[("oid", T::Integer), ("adrelid", T::Integer), ("adnum", T::SmallInt), ("adbin", T::Text)]);
    for object in state.objects(database) {
        for (place, column) in object.kind.columns().iter().enumerate() {
            if let Some(default) = &column.default {
                let relation = oids::relation(object.id);
                rows.push(vec![Cell::from(relation), relation.into(), (place + 1).into(), default.as_str().into()]);
            }
        }
    }
    rows
}
