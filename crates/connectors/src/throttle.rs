//! How far a generated stream may be at this moment of wall-clock time.

use std::sync::Arc;
use std::time::Duration;

use millstream_types::Clock;

/// Rows closer together than this are let through together.
const GRAIN: Duration = Duration::from_millis(5);

/// Lets row numbers (of all subtasks together) through at a rate.
pub(crate) struct Throttle {
    clock: Arc<dyn Clock>,
    /// Rows per second; `None`: no limit.
    per_second: Option<u64>,
    /// When row `first` was due.
    start: Option<Duration>,
    first: u64,
}

impl Throttle {
    /// `per_second` 0 means no limit.
    pub(crate) fn new(clock: Arc<dyn Clock>, per_second: u64) -> Self {
        Throttle { clock, per_second: (per_second > 0).then_some(per_second), start: None, first: 0 }
    }

    /// Row `first` is due now, not the rows before it: for a position that was restored.
    pub(crate) fn continue_at(&mut self, first: u64) {
        self.first = first;
        self.start = None;
    }

    /// Rows before this number are due.
    pub(crate) fn limit(&mut self) -> u64 {
        let Some(rate) = self.per_second else { return u64::MAX };
        let now = self.clock.monotonic();
        let start = *self.start.get_or_insert(now);
        let due = (now - start).as_nanos() * u128::from(rate) / 1_000_000_000;
        self.first.saturating_add(u64::try_from(due).unwrap_or(u64::MAX))
    }

    /// How long until row `next` is due; at least the grain, so that fast streams come in batches.
    pub(crate) fn wait(&self, next: u64) -> Duration {
        let (Some(rate), Some(start)) = (self.per_second, self.start) else { return GRAIN };
        let nanos = (u128::from(next.saturating_sub(self.first)) + 1) * 1_000_000_000 / u128::from(rate);
        let due = start.saturating_add(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)));
        due.saturating_sub(self.clock.monotonic()).max(GRAIN)
    }
}

/// The stored position of a generator: the next row number.
pub(crate) fn stored_position(next: u64) -> Vec<u8> {
    next.to_le_bytes().to_vec()
}

/// Reads it back.
///
/// # Errors
/// XX001 if it is none.
pub(crate) fn read_position(bytes: &[u8]) -> millstream_types::Result<u64> {
    let wrong =
        |_| millstream_types::Error::new(millstream_types::SqlState::DATA_CORRUPTED, "stored position of a generator cannot be read");
    Ok(u64::from_le_bytes(bytes.try_into().map_err(wrong)?))
}

#[cfg(test)]
mod tests {
    use millstream_types::SimulatedClock;

    use super::*;

    #[test]
    fn rows_come_at_the_rate() {
        let clock = Arc::new(SimulatedClock::default());
        let mut throttle = Throttle::new(Arc::clone(&clock) as Arc<dyn Clock>, 100);
        assert_eq!(throttle.limit(), 0);
        assert_eq!(throttle.wait(0), Duration::from_millis(10));
        clock.advance(Duration::from_millis(250));
        assert_eq!(throttle.limit(), 25);
        throttle.continue_at(1_000);
        assert_eq!(throttle.limit(), 1_000);
        assert_eq!(Throttle::new(clock, 0).limit(), u64::MAX);
    }
}
