//! Whether a job runs again after a failure, and when.

use std::time::Duration;

use millstream_types::{Error, SqlState};
use serde::{Deserialize, Serialize};

/// Flink's names. Attempts are counted since the last checkpoint that became durable: a job that gets on is not given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RestartStrategy {
    /// Never again.
    None,
    /// After the same delay each time.
    FixedDelay {
        /// Attempts until it is given up.
        attempts: u32,
        /// The delay.
        delay: Duration,
    },
    /// After a delay that doubles.
    ExponentialDelay {
        /// Attempts until it is given up.
        attempts: u32,
        /// The first delay.
        initial: Duration,
        /// The longest delay.
        max: Duration,
    },
}

impl Default for RestartStrategy {
    fn default() -> Self {
        RestartStrategy::ExponentialDelay { attempts: 10, initial: Duration::from_millis(100), max: Duration::from_secs(10) }
    }
}

/// Counts failures.
#[derive(Debug)]
pub(super) struct Restarts {
    strategy: RestartStrategy,
    failures: u32,
}

impl Restarts {
    pub(super) fn new(strategy: RestartStrategy) -> Self {
        Restarts { strategy, failures: 0 }
    }

    /// The delay until the next attempt; `None` if there is none.
    pub(super) fn after(&mut self, cause: &Error) -> Option<Duration> {
        if is_in_the_data(cause) {
            return None;
        }
        self.failures += 1;
        match self.strategy {
            RestartStrategy::None => None,
            RestartStrategy::FixedDelay { attempts, delay } => (self.failures <= attempts).then_some(delay),
            RestartStrategy::ExponentialDelay { attempts, initial, max } => {
                let doubled = initial.saturating_mul(1 << (self.failures - 1).min(20));
                (self.failures <= attempts).then(|| doubled.min(max))
            }
        }
    }

    /// The job has got on.
    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }
}

/// True for an error of a row: input is replayed exactly, so the next attempt would meet the same row.
fn is_in_the_data(cause: &Error) -> bool {
    let state = cause.state();
    matches!(&state.as_str()[..2], "22" | "23" | "0A" | "54") || state == SqlState::DATA_CORRUPTED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_rows_end_a_job_at_once() {
        let mut restarts = Restarts::new(RestartStrategy::default());
        assert_eq!(restarts.after(&Error::new(SqlState::DIVISION_BY_ZERO, "division by zero")), None);
        assert_eq!(restarts.after(&Error::new(SqlState::BAD_COPY_FILE_FORMAT, "malformed row")), None);
    }

    #[test]
    fn delays_double_up_to_the_longest_and_progress_starts_again() {
        let (initial, max) = (Duration::from_millis(100), Duration::from_millis(300));
        let mut restarts = Restarts::new(RestartStrategy::ExponentialDelay { attempts: 3, initial, max });
        let cause = Error::new(SqlState::IO_ERROR, "broken");
        assert_eq!(restarts.after(&cause), Some(initial));
        assert_eq!(restarts.after(&cause), Some(initial * 2));
        assert_eq!(restarts.after(&cause), Some(max));
        assert_eq!(restarts.after(&cause), None);
        restarts.reset();
        assert_eq!(restarts.after(&cause), Some(initial));
    }
}
