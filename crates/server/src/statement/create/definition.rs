//! Columns of CREATE TABLE, SOURCE and SINK.

use std::collections::BTreeSet;

use millstream_sql::catalog::ColumnDescriptor;
use millstream_sql::statement::RelationDefinition;
use millstream_types::{Column, Error, Result, SqlState, limits};

/// The columns, and which of them are the key.
pub(super) fn columns(definition: &RelationDefinition, text: &str) -> Result<(Vec<ColumnDescriptor>, Vec<usize>)> {
    if definition.columns.len() > limits::MAX_COLUMNS {
        return Err(Error::new(SqlState::TOO_MANY_COLUMNS, format!("tables can have at most {} columns", limits::MAX_COLUMNS)));
    }
    let mut columns = vec![];
    let mut names = BTreeSet::new();
    for column in &definition.columns {
        let name = column.name.value.clone();
        if name == millstream_sql::catalog::ROW_ID_COLUMN {
            return Err(Error::new(SqlState::DUPLICATE_COLUMN, format!("column name \"{name}\" conflicts with a system column name")));
        }
        if !names.insert(name.clone()) {
            return Err(Error::new(SqlState::DUPLICATE_COLUMN, format!("column \"{name}\" specified more than once")));
        }
        let column_type = millstream_sql::column_type(&column.data_type, text)?;
        columns.push(ColumnDescriptor {
            column: Column::new(name, column_type.sql_type),
            not_null: column.not_null,
            default: column.default.as_ref().map(ToString::to_string),
            max_chars: column_type.max_chars,
        });
    }
    let mut key = vec![];
    for name in &definition.primary_key {
        let place = columns.iter().position(|c| c.column.name == name.value);
        let place = place
            .ok_or_else(|| Error::new(SqlState::UNDEFINED_COLUMN, format!("column \"{}\" named in key does not exist", name.value)))?;
        columns[place].not_null = true;
        key.push(place);
    }
    Ok((columns, key))
}
