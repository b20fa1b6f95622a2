//! `pg_index` and `pg_constraint`: primary keys.

use millstream_sql::catalog::ObjectDescriptor;
use millstream_sql::quote_identifier;
use millstream_types::SqlType as T;

use super::oids;
use crate::catalog::CatalogState;
use crate::system::information_schema::primary_key;
use crate::system::table::{Cell, Rows};

pub(super) fn pg_index(state: &CatalogState, database: &str) -> Rows {
    let mut rows = Rows::new(&[
        ("indexrelid", T::Integer),
        ("indrelid", T::Integer),
        ("indnatts", T::SmallInt),
        ("indnkeyatts", T::SmallInt),
        ("indisunique", T::Boolean),
        ("indnullsnotdistinct", T::Boolean),
        ("indisprimary", T::Boolean),
        ("indisexclusion", T::Boolean),
        ("indimmediate", T::Boolean),
        ("indisclustered", T::Boolean),
        ("indisvalid", T::Boolean),
        ("indcheckxmin", T::Boolean),
        ("indisready", T::Boolean),
        ("indislive", T::Boolean),
        ("indisreplident", T::Boolean),
        ("indkey", T::Text),
        ("indexprs", T::Text),
        ("indpred", T::Text),
    ]);
    for object in state.objects(database) {
        let Some(key) = primary_key(object) else { continue };
        let (yes, no) = (|| Cell::from(true), || Cell::from(false));
        let places: Vec<_> = key.iter().map(|k| (k + 1).to_string()).collect();
        rows.push(vec![
            oids::index(object.id).into(),
            oids::relation(object.id).into(),
            key.len().into(),
            key.len().into(),
            yes(),
            no(),
            yes(),
            no(),
            yes(),
            no(),
            yes(),
            no(),
            yes(),
            yes(),
            no(),
            places.join(" ").into(),
        ]);
    }
    rows
}

pub(super) fn pg_constraint(state: &CatalogState, database: &str) -> Rows {
    let mut rows = Rows::new(&[
        ("oid", T::Integer),
        ("conname", T::Text),
        ("connamespace", T::Integer),
        ("contype", T::Text),
        ("condeferrable", T::Boolean),
        ("condeferred", T::Boolean),
        ("convalidated", T::Boolean),
        ("conrelid", T::Integer),
        ("contypid", T::Integer),
        ("conindid", T::Integer),
        ("conparentid", T::Integer),
        ("confrelid", T::Integer),
        ("conislocal", T::Boolean),
        ("conkey", T::Array(T::SmallInt.into())),
        ("confkey", T::Array(T::SmallInt.into())),
    ]);
    for object in state.objects(database) {
        let Some(key) = primary_key(object) else { continue };
        rows.push(vec![
            oids::index(object.id).into(),
            format!("{}_pkey", object.name).into(),
            oids::schema(&object.schema).into(),
            "p".into(),
            false.into(),
            false.into(),
            true.into(),
            oids::relation(object.id).into(),
            0.into(),
            oids::index(object.id).into(),
            0.into(),
            0.into(),
            true.into(),
            Cell::Numbers(key.iter().map(|k| i64::try_from(k + 1).unwrap_or(i64::MAX)).collect()),
        ]);
    }
    rows
}

/// The key's columns in parentheses.
pub(super) fn key_list(object: &ObjectDescriptor) -> Option<String> {
    let names: Vec<_> = primary_key(object)?.iter().map(|&k| quote_identifier(&object.kind.columns()[k].column.name)).collect();
    Some(format!("({})", names.join(", ")))
}
