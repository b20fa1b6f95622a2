//! Durations in a histogram, in microseconds or nanoseconds.

use std::time::Duration;

use hdrhistogram::Histogram;
use millstream_types::{Error, Result};

/// Durations up to one minute with three significant digits.
pub(super) struct Latencies {
    nanos: Histogram<u64>,
}

impl Latencies {
    pub(super) fn new() -> Result<Self> {
        Ok(Latencies { nanos: Histogram::new_with_bounds(1, 60_000_000_000, 3).map_err(Error::internal)? })
    }

    pub(super) fn record(&mut self, duration: Duration) {
        self.nanos.saturating_record(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    /// A quantile in microseconds.
    pub(super) fn micros(&self, quantile: f64) -> f64 {
        self.nanos.value_at_quantile(quantile) as f64 / 1000.0
    }

    pub(super) fn count(&self) -> u64 {
        self.nanos.len()
    }
}
