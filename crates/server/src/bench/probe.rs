//! A source that stamps rows with the clock and a sink that takes the difference.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::{Int64Type, SchemaRef};
use millstream_graph::{SinkSpec, SourceSpec};
use millstream_runtime::connector::{ConnectorProvider, SinkContext, SinkWriter, SourceContext};
use millstream_runtime::source::{SourcePoll, SourcePosition, SourceReader, own_position};
use millstream_types::{Barrier, ChangeBatch, Clock, Epoch, Error, Result, Schema, SystemClock};
use parking_lot::Mutex;

use super::latency::Latencies;

/// Both ends of the measured pipeline.
pub(super) struct Probe {
    rows: u64,
    every: Duration,
    latencies: Arc<Mutex<Latencies>>,
}

impl Probe {
    pub(super) fn new(rows: u64, every: Duration) -> Result<Self> {
        Ok(Probe { rows, every, latencies: Arc::new(Mutex::new(Latencies::new()?)) })
    }

    /// What was measured.
    pub(super) fn latencies(&self) -> Result<Latencies> {
        Ok(std::mem::replace(&mut *self.latencies.lock(), Latencies::new()?))
    }
}

impl ConnectorProvider for Probe {
    fn source(&self, spec: &SourceSpec, _: &SourceContext) -> Result<Box<dyn SourceReader>> {
        Ok(Box::new(ProbeSource { schema: spec.schema.to_arrow(), left: self.rows, every: self.every, next: SystemClock.monotonic() }))
    }

    fn sink(&self, _: &SinkSpec, _: &Schema, _: &SinkContext) -> Result<Box<dyn SinkWriter>> {
        Ok(Box::new(ProbeSink { latencies: Arc::clone(&self.latencies) }))
    }
}

struct ProbeSource {
    schema: SchemaRef,
    left: u64,
    every: Duration,
    next: Duration,
}

impl SourceReader for ProbeSource {
    fn poll(&mut self, cut: Option<Epoch>, _: usize) -> Result<SourcePoll> {
        if cut.is_some() {
            return Ok(SourcePoll::CutReached);
        }
        if self.left == 0 {
            return Ok(SourcePoll::Finished);
        }
        let now = SystemClock.monotonic();
        if now < self.next {
            return Ok(SourcePoll::Pending { wake_after: Some(self.next - now) });
        }
        self.left -= 1;
        self.next = now + self.every;
        let stamp = i64::try_from(SystemClock.monotonic().as_nanos()).map_err(Error::internal)?;
        let column: ArrayRef = Arc::new(Int64Array::from(vec![stamp]));
        Ok(SourcePoll::Batch(ChangeBatch::inserts(RecordBatch::try_new(Arc::clone(&self.schema), vec![column])?)))
    }

    fn snapshot(&self) -> Result<Vec<u8>> {
        Ok(self.left.to_le_bytes().to_vec())
    }

    fn restore(&mut self, positions: &[SourcePosition], _epoch: Epoch) -> Result<()> {
        self.left = u64::from_le_bytes(own_position(positions, 0, 1, "probe")?.try_into().map_err(Error::internal)?);
        Ok(())
    }
}

struct ProbeSink {
    latencies: Arc<Mutex<Latencies>>,
}

impl SinkWriter for ProbeSink {
    fn write(&mut self, batch: &ChangeBatch) -> Result<()> {
        let now = SystemClock.monotonic();
        let mut latencies = self.latencies.lock();
        for sent in batch.column(0).as_primitive::<Int64Type>().values() {
            let sent = Duration::from_nanos(u64::try_from(*sent).map_err(Error::internal)?);
            latencies.record(now.saturating_sub(sent));
        }
        Ok(())
    }

    fn on_barrier(&mut self, _: &Barrier) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn appends_only(&self) -> bool {
        true
    }
}
