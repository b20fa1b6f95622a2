//! The columns of a relation or of an edge of a graph.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{Field, Schema as ArrowSchema, SchemaRef};
use serde::{Deserialize, Serialize};

use crate::{Result, SqlType};

/// A named column. All streaming columns are nullable in Arrow terms; NOT NULL is a constraint of tables, kept in the catalog.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Column {
    /// Its name, as written (already folded to lower case where it was not quoted).
    pub name: String,
    /// Its type.
    pub sql_type: SqlType,
}

impl Column {
    /// A column.
    pub fn new(name: impl Into<String>, sql_type: SqlType) -> Self {
        Column { name: name.into(), sql_type }
    }
}

/// Columns in order. Names may repeat on edges inside a graph (they are for people; operators refer to columns by index).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Schema {
    /// The columns.
    pub columns: Vec<Column>,
}

impl Schema {
    /// A schema of these columns.
    pub fn new(columns: Vec<Column>) -> Self {
        Schema { columns }
    }

    /// The Arrow schema of batches of this shape: every field nullable.
    pub fn to_arrow(&self) -> SchemaRef {
        Arc::new(ArrowSchema::new(self.columns.iter().map(|c| Field::new(&c.name, c.sql_type.to_arrow(), true)).collect::<Vec<_>>()))
    }

    /// The schema of an Arrow schema.
    ///
    /// # Errors
    /// 0A000 for an Arrow type that SQL has no name for.
    pub fn from_arrow(schema: &ArrowSchema) -> Result<Schema> {
        let columns = schema.fields().iter().map(|f| Ok(Column::new(f.name(), SqlType::from_arrow(f.data_type())?)));
        Ok(Schema { columns: columns.collect::<Result<_>>()? })
    }

    /// How many columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// True without columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Index of the first column of this name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// The columns at `indices`, in that order. Indices must be in range.
    #[must_use]
    pub fn project(&self, indices: &[usize]) -> Schema {
        Schema { columns: indices.iter().map(|&i| self.columns[i].clone()).collect() }
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, c) in self.columns.iter().enumerate() {
            write!(f, "{}{} {}", if i > 0 { ", " } else { "" }, c.name, c.sql_type)?;
        }
        Ok(())
    }
}
