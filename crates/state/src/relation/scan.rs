//! Reading one partition at one epoch.

use std::sync::Arc;

use arrow::array::RecordBatch;
use millstream_types::{Epoch, Result, limits};

use super::RelationSpec;
use super::codec::{RelationCodec, RowMap};

/// What to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanRequest {
    /// At which epoch.
    pub epoch: Epoch,
    /// Which columns, in output order; may be empty (rows are still counted).
    pub projection: Vec<usize>,
    /// At most so many rows.
    pub limit: Option<usize>,
}

/// Batches of at most [`limits::BATCH_TARGET_ROWS`] rows in key order. Holds the snapshot, which costs no copy.
#[derive(Debug)]
pub struct ScanStream {
    codec: RelationCodec,
    map: RowMap,
    projection: Vec<usize>,
    remaining: usize,
    /// Key of the last row handed out, and how often it was (a multiset may repeat it beyond one batch).
    position: Option<(Arc<[u8]>, u64)>,
    done: bool,
}

impl ScanStream {
    pub(super) fn new(spec: &RelationSpec, map: RowMap, request: &ScanRequest) -> Result<Self> {
        Ok(ScanStream {
            codec: RelationCodec::new(&spec.schema, spec.key.as_deref())?,
            map,
            projection: request.projection.clone(),
            remaining: request.limit.unwrap_or(usize::MAX),
            position: None,
            done: false,
        })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let target = limits::BATCH_TARGET_ROWS.min(self.remaining);
        let mut rows: Vec<Arc<[u8]>> = Vec::with_capacity(target.min(self.map.len()));
        let (start, mut taken) = match self.position.take() {
            Some((key, taken)) => (std::ops::Bound::Included(key), taken),
            None => (std::ops::Bound::Unbounded, 0),
        };
        for (key, entry) in self.map.range((start, std::ops::Bound::Unbounded)) {
            let wanted = target - rows.len();
            if wanted == 0 {
                break;
            }
            let now = usize::try_from(entry.count - taken).unwrap_or(usize::MAX).min(wanted);
            rows.extend(std::iter::repeat_n(&entry.row, now).cloned());
            taken += now as u64;
            self.position = Some((Arc::clone(key), taken));
            if taken == entry.count {
                taken = 0;
            }
        }
        if rows.is_empty() {
            self.done = true;
            return Ok(None);
        }
        self.remaining -= rows.len();
        self.done = self.remaining == 0;
        self.codec.decode(rows.iter().map(AsRef::as_ref), &self.projection).map(Some)
    }
}

impl Iterator for ScanStream {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done || self.remaining == 0 {
            return None;
        }
        self.next_batch().transpose()
    }
}
