//! One descriptor per kind of object.

use std::collections::BTreeMap;
use std::fmt;

use millstream_types::{Column, Schema, SqlType};
use serde::{Deserialize, Serialize};

use crate::redact::Redacted;

/// The hidden key of a table without a primary key: a bigint, last column of the stored relation.
pub const ROW_ID_COLUMN: &str = "_row_id";

/// A column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnDescriptor {
    /// Name and type.
    pub column: Column,
    /// NOT NULL, also where the primary key says so.
    pub not_null: bool,
    /// The text of DEFAULT.
    pub default: Option<String>,
    /// Most characters of a `varchar(n)` or `char(n)`.
    pub max_chars: Option<u32>,
}

impl ColumnDescriptor {
    /// A nullable column without default.
    pub fn new(column: Column) -> Self {
        ColumnDescriptor { column, not_null: false, default: None, max_chars: None }
    }
}

/// Options and format of a relation that lives outside. Its `Debug` shows no secrets.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConnectorDescriptor {
    /// The options of WITH, `connector` among them.
    pub options: BTreeMap<String, String>,
    /// FORMAT, in lower case.
    pub format: Option<String>,
    /// ENCODE, in lower case.
    pub encode: Option<String>,
    /// Options of ENCODE.
    pub encode_options: BTreeMap<String, String>,
}

impl fmt::Debug for ConnectorDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |options: &BTreeMap<String, String>| -> String {
            options.iter().map(|(key, value)| format!("{key} = {}", Redacted { key, value })).collect::<Vec<_>>().join(", ")
        };
        f.debug_struct("ConnectorDescriptor")
            .field("options", &shown(&self.options))
            .field("format", &self.format)
            .field("encode", &self.encode)
            .field("encode_options", &shown(&self.encode_options))
            .finish()
    }
}

impl From<&crate::statement::Connector> for ConnectorDescriptor {
    fn from(connector: &crate::statement::Connector) -> Self {
        let map = |options: &[crate::statement::RelationOption]| options.iter().map(|o| (o.key.clone(), o.value.clone())).collect();
        ConnectorDescriptor {
            options: map(&connector.options),
            format: connector.format.as_ref().map(|f| f.format.clone()),
            encode: connector.format.as_ref().map(|f| f.encode.clone()),
            encode_options: connector.format.as_ref().map(|f| map(&f.options)).unwrap_or_default(),
        }
    }
}

/// A watermark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatermarkDescriptor {
    /// Index of the event time column.
    pub column: usize,
    /// The text of its expression.
    pub expr: String,
    /// The text of the idle timeout.
    pub idle_timeout: Option<String>,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableDescriptor {
    /// The columns that SQL shows.
    pub columns: Vec<ColumnDescriptor>,
    /// Indices of the key columns; with `hidden_row_id` the index of that column (`columns.len()`).
    pub primary_key: Vec<usize>,
    /// True if there is no primary key, so that [`ROW_ID_COLUMN`] is stored behind the columns.
    pub hidden_row_id: bool,
    /// The watermark of a table with a connector.
    pub watermark: Option<WatermarkDescriptor>,
    /// Where rows come from besides INSERT.
    pub connector: Option<ConnectorDescriptor>,
}

impl TableDescriptor {
    /// A table of these columns; an empty key means the hidden one.
    pub fn new(columns: Vec<ColumnDescriptor>, primary_key: Vec<usize>) -> Self {
        let hidden_row_id = primary_key.is_empty();
        let primary_key = if hidden_row_id { vec![columns.len()] } else { primary_key };
        TableDescriptor { columns, primary_key, hidden_row_id, watermark: None, connector: None }
    }

    /// The stored relation: the columns, then the hidden key if there is one.
    pub fn stored_schema(&self) -> Schema {
        let hidden = self.hidden_row_id.then(|| Column::new(ROW_ID_COLUMN, SqlType::BigInt));
        Schema::new(self.columns.iter().map(|c| c.column.clone()).chain(hidden).collect())
    }
}

/// A source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceDescriptor {
    /// The columns.
    pub columns: Vec<ColumnDescriptor>,
    /// Options and format.
    pub connector: ConnectorDescriptor,
    /// The watermark.
    pub watermark: Option<WatermarkDescriptor>,
    /// Indices of the key columns; empty without a key.
    pub primary_key: Vec<usize>,
}

/// A sink.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SinkDescriptor {
    /// The columns.
    pub columns: Vec<ColumnDescriptor>,
    /// Options and format.
    pub connector: ConnectorDescriptor,
    /// Indices of the key columns; empty without a key.
    pub primary_key: Vec<usize>,
    /// Where its rows come from.
    pub input: SinkInputDescriptor,
}

/// Where a sink's rows come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SinkInputDescriptor {
    /// From the jobs that insert into it.
    Jobs,
    /// From a query of its own (`FROM rel` is `SELECT * FROM rel`).
    Query(String),
}

/// A view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewDescriptor {
    /// The columns.
    pub columns: Vec<ColumnDescriptor>,
    /// The text of its query.
    pub query: String,
}

/// A materialized view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaterializedViewDescriptor {
    /// The columns.
    pub columns: Vec<ColumnDescriptor>,
    /// The text of its query.
    pub query: String,
    /// Indices of the columns that identify a row, where the planner found some among the columns.
    pub key: Option<Vec<usize>>,
    /// True if rows are never taken back.
    pub append_only: bool,
    /// The options of WITH.
    pub options: BTreeMap<String, String>,
}

/// A streaming job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamingJobDescriptor {
    /// The texts of its INSERTs.
    pub statements: Vec<String>,
    /// The options of WITH.
    pub options: BTreeMap<String, String>,
}
