//! One subtask's share of the rows.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use millstream_graph::SourceSpec;
use millstream_runtime::connector::SourceContext;
use millstream_runtime::source::{SourcePoll, SourcePosition, SourceReader, own_position};
use millstream_types::{ChangeBatch, Clock, Epoch, Result, limits};

use super::config::DatagenConfig;
use crate::throttle::{Throttle, read_position, stored_position};

/// Gives subtask i of p the rows i, i + p, i + 2p, ...
pub struct DatagenReader {
    config: DatagenConfig,
    projection: Vec<usize>,
    schema: SchemaRef,
    stride: u64,
    /// Which subtask, of how many.
    subtask: (u32, u32),
    next: u64,
    clock: Arc<dyn Clock>,
    throttle: Throttle,
    /// Numbers of the rows of one batch; kept for its memory.
    rows: Vec<u64>,
}

impl DatagenReader {
    /// A reader at the start of the subtask's share.
    ///
    /// # Errors
    /// As [`DatagenConfig::parse`].
    pub fn new(spec: &SourceSpec, ctx: &SourceContext) -> Result<Self> {
        let config = DatagenConfig::parse(&spec.options, &spec.schema)?;
        let throttle = Throttle::new(Arc::clone(&ctx.clock), config.per_second);
        Ok(DatagenReader {
            config,
            projection: spec.projection.clone(),
            schema: spec.schema.project(&spec.projection).to_arrow(),
            stride: u64::from(ctx.parallelism.max(1)),
            subtask: (ctx.subtask, ctx.parallelism),
            next: u64::from(ctx.subtask),
            clock: Arc::clone(&ctx.clock),
            throttle,
            rows: vec![],
        })
    }

    fn batch(&self) -> Result<ChangeBatch> {
        let now = self.clock.unix_micros();
        let columns = self.projection.iter().map(|c| self.config.columns[*c].values(&self.rows, now)).collect::<Result<Vec<_>>>()?;
        let count = RecordBatchOptions::new().with_row_count(Some(self.rows.len()));
        Ok(ChangeBatch::inserts(RecordBatch::try_new_with_options(SchemaRef::clone(&self.schema), columns, &count)?))
    }
}

impl SourceReader for DatagenReader {
    fn poll(&mut self, cut: Option<Epoch>, max_rows: usize) -> Result<SourcePoll> {
        if cut.is_some() {
            return Ok(SourcePoll::CutReached);
        }
        let due = self.config.end().min(self.throttle.limit());
        self.rows.clear();
        while self.next < due && self.rows.len() < max_rows.clamp(1, limits::BATCH_TARGET_ROWS) {
            self.rows.push(self.next);
            self.next += self.stride;
        }
        if !self.rows.is_empty() {
            return Ok(SourcePoll::Batch(self.batch()?));
        }
        if self.next >= self.config.end() {
            return Ok(SourcePoll::Finished);
        }
        Ok(SourcePoll::Pending { wake_after: Some(self.throttle.wait(self.next)) })
    }

    fn snapshot(&self) -> Result<Vec<u8>> {
        Ok(stored_position(self.next))
    }

    fn restore(&mut self, positions: &[SourcePosition], _epoch: Epoch) -> Result<()> {
        self.next = read_position(own_position(positions, self.subtask.0, self.subtask.1, "datagen")?)?;
        self.throttle.continue_at(self.next);
        Ok(())
    }
}
