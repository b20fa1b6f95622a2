//! Rows with what they do: one Arrow batch and, unless all rows are inserts, one [`RowKind`] per row.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, filter_record_batch, take_record_batch};
use arrow::datatypes::SchemaRef;

use crate::{Result, RowKind};

/// Changes to a relation, in order. Cloning is cheap: columns and kinds are shared.
#[derive(Clone, Debug)]
pub struct ChangeBatch {
    rows: RecordBatch,
    /// `None`: every row is `+I`, the fast path. `Some` has one kind per row.
    kinds: Option<Arc<[RowKind]>>,
}

impl ChangeBatch {
    /// All rows are inserts.
    pub fn inserts(rows: RecordBatch) -> Self {
        ChangeBatch { rows, kinds: None }
    }

    /// Rows with their kinds; all-`+I` kinds are dropped, so that `kinds()` is `None` exactly for pure inserts.
    ///
    /// # Panics
    /// In debug builds if there is not one kind per row.
    pub fn new(rows: RecordBatch, kinds: Vec<RowKind>) -> Self {
        debug_assert_eq!(rows.num_rows(), kinds.len());
        let pure = kinds.iter().all(|k| *k == RowKind::Insert);
        ChangeBatch { rows, kinds: if pure { None } else { Some(kinds.into()) } }
    }

    /// Other columns for the same changes (a projection): same number of rows, same kinds.
    #[must_use]
    pub fn with_rows(&self, rows: RecordBatch) -> Self {
        debug_assert_eq!(rows.num_rows(), self.rows.num_rows());
        ChangeBatch { rows, kinds: self.kinds.clone() }
    }

    /// The rows.
    pub fn rows(&self) -> &RecordBatch {
        &self.rows
    }
    /// The kinds, `None` if every row is an insert.
    pub fn kinds(&self) -> Option<&[RowKind]> {
        self.kinds.as_deref()
    }
    /// The kind of row `i`.
    pub fn kind(&self, i: usize) -> RowKind {
        self.kinds.as_ref().map_or(RowKind::Insert, |k| k[i])
    }
    /// How many rows.
    pub fn num_rows(&self) -> usize {
        self.rows.num_rows()
    }
    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.rows.num_rows() == 0
    }
    /// The Arrow schema of the rows.
    pub fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }
    /// Column `i`.
    pub fn column(&self, i: usize) -> &ArrayRef {
        self.rows.column(i)
    }

    /// Rows `offset .. offset + len`, without copying columns.
    #[must_use]
    pub fn slice(&self, offset: usize, len: usize) -> Self {
        ChangeBatch { rows: self.rows.slice(offset, len), kinds: self.kinds.as_ref().map(|k| k[offset..offset + len].into()) }
    }

    /// The rows where `mask` is true.
    ///
    /// # Errors
    /// XX000 if the mask has another length.
    pub fn filter(&self, mask: &BooleanArray) -> Result<Self> {
        let rows = filter_record_batch(&self.rows, mask)?;
        let kinds = self.kinds.as_ref().map(|kinds| {
            let kept = kinds.iter().enumerate().filter(|(i, _)| mask.is_valid(*i) && mask.value(*i));
            kept.map(|(_, k)| *k).collect()
        });
        Ok(ChangeBatch { rows, kinds })
    }

    /// The rows at `indices`, which must be in range and not NULL.
    ///
    /// # Errors
    /// XX000 if an index is out of range.
    pub fn take(&self, indices: &UInt32Array) -> Result<Self> {
        let rows = take_record_batch(&self.rows, indices)?;
        let kinds = self.kinds.as_ref().map(|kinds| indices.values().iter().map(|&i| kinds[i as usize]).collect());
        Ok(ChangeBatch { rows, kinds })
    }

    /// The batches one behind the other; `schema` is for the case that there are none.
    ///
    /// # Errors
    /// XX000 if their schemas differ.
    pub fn concat(schema: &SchemaRef, batches: &[ChangeBatch]) -> Result<Self> {
        if let [one] = batches {
            return Ok(one.clone());
        }
        let rows = concat_batches(schema, batches.iter().map(|b| &b.rows))?;
        let kinds = batches.iter().any(|b| b.kinds.is_some()).then(|| {
            let all = batches.iter().flat_map(|b| (0..b.num_rows()).map(|i| b.kind(i)));
            all.collect::<Vec<_>>().into()
        });
        Ok(ChangeBatch { rows, kinds })
    }

    /// Bytes of the rows it shows, not of the parents its slices share: what queues and budgets count.
    pub fn logical_bytes(&self) -> usize {
        let columns = self.rows.columns().iter();
        let bytes: usize = columns.map(|c| c.to_data().get_slice_memory_size().unwrap_or_else(|_| c.get_array_memory_size())).sum();
        bytes + self.kinds.as_ref().map_or(0, |k| k.len())
    }
}
