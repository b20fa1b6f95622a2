//! `information_schema`: the standard's view of the catalog.

use millstream_sql::catalog::{ObjectDescriptor, ObjectKind};
use millstream_types::SqlType;

use super::table::{Cell, Rows};
use crate::catalog::{CatalogState, SYSTEM_SCHEMAS};

/// The relations here.
pub(super) const NAMES: [&str; 6] = ["schemata", "tables", "columns", "views", "table_constraints", "key_column_usage"];

/// The rows of a relation; `None` if there is none of this name.
pub(super) fn rows(state: &CatalogState, database: &str, name: &str) -> Option<Rows> {
    Some(match name {
        "schemata" => schemata(state, database),
        "tables" => tables(state, database),
        "columns" => columns(state, database),
        "views" => views(state, database),
        "table_constraints" => table_constraints(state, database),
        "key_column_usage" => key_column_usage(state, database),
        _ => return None,
    })
}

fn text(columns: &[&str]) -> Rows {
    Rows::new(&columns.iter().map(|c| (*c, SqlType::Text)).collect::<Vec<_>>())
}

fn schemata(state: &CatalogState, database: &str) -> Rows {
    let mut rows = text(&["catalog_name", "schema_name", "schema_owner"]);
    for schema in state.schemas(database).chain(SYSTEM_SCHEMAS) {
        rows.push(vec![database.into(), schema.into(), "root".into()]);
    }
    rows
}

/// The standard's name of a kind of relation.
fn table_type(kind: &ObjectKind) -> Option<&'static str> {
    match kind {
        ObjectKind::Table(_) => Some("BASE TABLE"),
        ObjectKind::View(_) => Some("VIEW"),
        ObjectKind::MaterializedView(_) => Some("MATERIALIZED VIEW"),
        ObjectKind::Source(_) | ObjectKind::Sink(_) => Some("FOREIGN"),
        ObjectKind::StreamingJob(_) => None,
    }
}

fn tables(state: &CatalogState, database: &str) -> Rows {
    let mut rows = text(&["table_catalog", "table_schema", "table_name", "table_type", "is_insertable_into"]);
    for object in state.objects(database) {
        if let Some(kind) = table_type(&object.kind) {
            let insertable = if matches!(object.kind, ObjectKind::Table(_)) { "YES" } else { "NO" };
            rows.push(vec![database.into(), object.schema.as_str().into(), object.name.as_str().into(), kind.into(), insertable.into()]);
        }
    }
    rows
}

fn columns(state: &CatalogState, database: &str) -> Rows {
    let (text, number) = (SqlType::Text, SqlType::Integer);
    let mut rows = Rows::new(&[
        ("table_catalog", text.clone()),
        ("table_schema", text.clone()),
        ("table_name", text.clone()),
        ("column_name", text.clone()),
        ("ordinal_position", number.clone()),
        ("column_default", text.clone()),
        ("is_nullable", text.clone()),
        ("data_type", text.clone()),
        ("character_maximum_length", number.clone()),
        ("numeric_precision", number.clone()),
        ("numeric_scale", number),
        ("udt_name", text),
    ]);
    for object in state.objects(database).filter(|o| table_type(&o.kind).is_some()) {
        for (place, column) in object.kind.columns().iter().enumerate() {
            let (precision, scale) = match column.column.sql_type {
                SqlType::Numeric { precision, scale } => (Cell::from(i32::from(precision)), Cell::from(i32::from(scale))),
                _ => (Cell::Null, Cell::Null),
            };
            rows.push(vec![
                database.into(),
                object.schema.as_str().into(),
                object.name.as_str().into(),
                column.column.name.as_str().into(),
                (place + 1).into(),
                column.default.clone().into(),
                if column.not_null { "NO" } else { "YES" }.into(),
                data_type(&column.column.sql_type, column.max_chars).into(),
                column.max_chars.into(),
                precision,
                scale,
                crate::pg::types::pg_type(&column.column.sql_type).name().into(),
            ]);
        }
    }
    rows
}

/// The standard's type names: without precision, which has columns of its own.
fn data_type(sql_type: &SqlType, max_chars: Option<u32>) -> String {
    match sql_type {
        SqlType::Numeric { .. } => "numeric".into(),
        SqlType::Array(_) => "ARRAY".into(),
        SqlType::Text if max_chars.is_some() => "character varying".into(),
        other => other.to_string(),
    }
}

fn views(state: &CatalogState, database: &str) -> Rows {
    let mut rows = text(&["table_catalog", "table_schema", "table_name", "view_definition"]);
    for object in state.objects(database) {
        if let ObjectKind::View(view) = &object.kind {
            let query = view.query.as_str();
            rows.push(vec![database.into(), object.schema.as_str().into(), object.name.as_str().into(), query.into()]);
        }
    }
    rows
}

/// The columns of a table's primary key, if it has one.
pub(super) fn primary_key(object: &ObjectDescriptor) -> Option<&[usize]> {
    match &object.kind {
        ObjectKind::Table(table) if !table.hidden_row_id => Some(&table.primary_key),
        _ => None,
    }
}

fn table_constraints(state: &CatalogState, database: &str) -> Rows {
    let mut rows = text(&["constraint_catalog", "constraint_schema", "constraint_name", "table_schema", "table_name", "constraint_type"]);
    for object in state.objects(database).filter(|o| primary_key(o).is_some()) {
        let (schema, name) = (object.schema.as_str(), object.name.as_str());
        let constraint = format!("{name}_pkey");
        rows.push(vec![database.into(), schema.into(), constraint.into(), schema.into(), name.into(), "PRIMARY KEY".into()]);
    }
    rows
}

fn key_column_usage(state: &CatalogState, database: &str) -> Rows {
    let text = SqlType::Text;
    let mut rows = Rows::new(&[
        ("constraint_schema", text.clone()),
        ("constraint_name", text.clone()),
        ("table_schema", text.clone()),
        ("table_name", text.clone()),
        ("column_name", text),
        ("ordinal_position", SqlType::Integer),
    ]);
    for object in state.objects(database) {
        let (schema, name) = (object.schema.as_str(), object.name.as_str());
        for (place, &column) in primary_key(object).unwrap_or_default().iter().enumerate() {
            let column = object.kind.columns()[column].column.name.as_str();
            let constraint = format!("{name}_pkey");
            rows.push(vec![schema.into(), constraint.into(), schema.into(), name.into(), column.into(), (place + 1).into()]);
        }
    }
    rows
}
