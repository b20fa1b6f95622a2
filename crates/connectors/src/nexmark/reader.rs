//! One subtask's share of the events, as batches.

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use millstream_graph::SourceSpec;
use millstream_runtime::connector::SourceContext;
use millstream_runtime::source::{SourcePoll, SourcePosition, SourceReader, own_position};
use millstream_types::{ChangeBatch, Epoch, Result, limits};

use super::config::NexmarkConfig;
use super::generator::Generator;
use super::table::EVENTS_PER_ROUND;
use crate::throttle::{Throttle, read_position, stored_position};

/// Subtasks take turns by so many events: 178 rounds, whose 8,188 bids just fit a batch.
const CHUNK_EVENTS: u64 = 178 * EVENTS_PER_ROUND;

/// Reads every `parallelism`-th chunk of events.
pub struct NexmarkReader {
    config: NexmarkConfig,
    generator: Generator,
    /// The table's column for each output column.
    columns: Vec<usize>,
    schema: SchemaRef,
    parallelism: u64,
    /// Which subtask, of how many.
    subtask: (u32, u32),
    next: u64,
    throttle: Throttle,
    /// Numbers of the events of one batch; kept for its memory.
    events: Vec<u64>,
}

impl NexmarkReader {
    /// A reader at the start of the subtask's share.
    ///
    /// # Errors
    /// 42704, 22023 for options, 42703, 42804 for columns.
    pub fn new(spec: &SourceSpec, ctx: &SourceContext) -> Result<Self> {
        let config = NexmarkConfig::parse(&spec.options)?;
        let declared = spec.schema.project(&spec.projection);
        Ok(NexmarkReader {
            config,
            generator: Generator::new(&config),
            columns: config.columns_of(&declared)?,
            schema: declared.to_arrow(),
            parallelism: u64::from(ctx.parallelism.max(1)),
            subtask: (ctx.subtask, ctx.parallelism),
            next: u64::from(ctx.subtask) * CHUNK_EVENTS,
            throttle: Throttle::new(std::sync::Arc::clone(&ctx.clock), config.per_second),
            events: Vec::with_capacity(limits::BATCH_TARGET_ROWS),
        })
    }

    /// Collects the numbers of the next events that are due.
    fn advance(&mut self, most: usize) {
        let due = self.config.end().min(self.throttle.limit());
        self.events.clear();
        while self.events.len() < most && self.next < due {
            let chunk_end = (self.next / CHUNK_EVENTS + 1) * CHUNK_EVENTS;
            self.next = self.config.table.collect(self.next, chunk_end.min(due), most, &mut self.events);
            if self.next == chunk_end {
                self.next += CHUNK_EVENTS * (self.parallelism - 1);
            }
        }
    }

    fn batch(&self) -> Result<ChangeBatch> {
        let columns =
            self.columns.iter().map(|c| self.generator.column(self.config.table, *c, &self.events)).collect::<Result<Vec<_>>>()?;
        let rows = RecordBatchOptions::new().with_row_count(Some(self.events.len()));
        Ok(ChangeBatch::inserts(RecordBatch::try_new_with_options(SchemaRef::clone(&self.schema), columns, &rows)?))
    }
}

impl SourceReader for NexmarkReader {
    fn poll(&mut self, cut: Option<Epoch>, max_rows: usize) -> Result<SourcePoll> {
        if cut.is_some() {
            return Ok(SourcePoll::CutReached);
        }
        self.advance(max_rows.clamp(1, limits::BATCH_TARGET_ROWS));
        if !self.events.is_empty() {
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
        self.next = read_position(own_position(positions, self.subtask.0, self.subtask.1, "nexmark")?)?;
        self.throttle.continue_at(self.next);
        Ok(())
    }
}
