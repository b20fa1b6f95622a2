//! Rows of a relation as bytes: the full row, and the key inside or equal to it.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use arrow::row::{RowConverter, Rows, SortField};
use millstream_types::{Result, Schema};

use crate::KeyCodec;

/// Key bytes, and what the map holds for them.
pub(super) type RowMap = imbl::OrdMap<Arc<[u8]>, Entry>;

/// A row and how often it is there (1 unless the relation is a multiset).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) row: Arc<[u8]>,
    pub(super) count: u64,
}

#[derive(Debug)]
pub(super) struct RelationCodec {
    schema: SchemaRef,
    rows: RowConverter,
    /// Codec and columns of the key; `None` for a multiset, whose key is the row.
    key: Option<(KeyCodec, Vec<usize>)>,
}

impl RelationCodec {
    pub(super) fn new(schema: &Schema, key: Option<&[usize]>) -> Result<Self> {
        let types = |indices: &[usize]| indices.iter().map(|&i| schema.columns[i].sql_type.to_arrow()).collect::<Vec<_>>();
        let fields = schema.columns.iter().map(|c| SortField::new(c.sql_type.to_arrow())).collect();
        let key = key.map(|k| Ok::<_, millstream_types::Error>((KeyCodec::new(types(k))?, k.to_vec()))).transpose()?;
        Ok(RelationCodec { schema: schema.to_arrow(), rows: RowConverter::new(fields)?, key })
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(super) fn encode_rows(&self, batch: &RecordBatch) -> Result<Rows> {
        Ok(self.rows.convert_columns(batch.columns())?)
    }

    /// Keys of the rows; `None` for a multiset.
    pub(super) fn encode_keys(&self, batch: &RecordBatch) -> Result<Option<Rows>> {
        match &self.key {
            Some((codec, columns)) => {
                let columns: Vec<ArrayRef> = columns.iter().map(|&c| Arc::clone(batch.column(c))).collect();
                Ok(Some(codec.encode(&columns)?))
            }
            None => Ok(None),
        }
    }

    /// Keys that stand in columns of their own, in key order.
    pub(super) fn encode_lookup(&self, keys: &RecordBatch) -> Result<Rows> {
        match &self.key {
            Some((codec, _)) => codec.encode(keys.columns()),
            None => self.encode_rows(keys),
        }
    }

    /// The columns at `projection` of encoded rows.
    pub(super) fn decode<'a>(&self, rows: impl IntoIterator<Item = &'a [u8]>, projection: &[usize]) -> Result<RecordBatch> {
        let parser = self.rows.parser();
        let rows: Vec<_> = rows.into_iter().map(|r| parser.parse(r)).collect();
        let count = rows.len();
        let columns = self.rows.convert_rows(rows)?;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        let projected = batch.project(projection)?;
        if projection.is_empty() {
            let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(count));
            return Ok(RecordBatch::try_new_with_options(projected.schema(), vec![], &options)?);
        }
        Ok(projected)
    }

    /// A key for messages: `(id)=(7)`.
    pub(super) fn describe_key(&self, key: &[u8]) -> String {
        let (columns, names): (_, Vec<&str>) = match &self.key {
            Some((codec, indices)) => (codec.decode([key]), indices.iter().map(|&i| self.schema.field(i).name().as_str()).collect()),
            None => {
                let parser = self.rows.parser();
                let columns = self.rows.convert_rows([parser.parse(key)]).map_err(Into::into);
                (columns, self.schema.fields().iter().map(|f| f.name().as_str()).collect())
            }
        };
        let Ok(columns) = columns else { return "(?)".into() };
        let values: Vec<_> =
            columns.iter().map(|c| arrow::util::display::array_value_to_string(c, 0).unwrap_or_else(|_| "?".into())).collect();
        format!("({})=({})", names.join(", "), values.join(", "))
    }
}
