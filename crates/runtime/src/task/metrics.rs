//! What a task counts. Busy, idle and back-pressured time sum to the time since it runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Counters of a running task.
#[derive(Debug, Default)]
pub struct TaskMetrics {
    records_in: AtomicU64,
    records_out: AtomicU64,
    bytes_out: AtomicU64,
    idle: Waited,
    backpressured: Waited,
    cpu_nanos: AtomicU64,
    started_nanos: AtomicU64,
    ended_nanos: AtomicU64,
    state_keys: AtomicU64,
    state_bytes: AtomicU64,
}

/// Time in one kind of wait, the current wait as well: a task that waits for an hour is not busy meanwhile.
#[derive(Debug, Default)]
struct Waited {
    nanos: AtomicU64,
    /// When the current wait began; 0 if there is none.
    since: AtomicU64,
}

impl Waited {
    fn begin(&self, now: Duration) {
        self.since.store(nanos(now).max(1), Ordering::Relaxed);
    }

    fn end(&self, now: Duration) {
        let waited = nanos(now).saturating_sub(self.since.swap(0, Ordering::Relaxed));
        self.nanos.fetch_add(waited, Ordering::Relaxed);
    }

    fn at(&self, now: u64) -> u64 {
        let current = match self.since.load(Ordering::Relaxed) {
            0 => 0,
            since => now.saturating_sub(since),
        };
        self.nanos.load(Ordering::Relaxed) + current
    }
}

/// Their values at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskMetricsSnapshot {
    /// Rows that came in (of a source: that it read).
    pub records_in: u64,
    /// Rows that went out over exchanges.
    pub records_out: u64,
    /// Bytes that went out over exchanges, as Arrow columns.
    pub bytes_out: u64,
    /// Microseconds of work.
    pub busy_us: u64,
    /// Microseconds of waiting for input.
    pub idle_us: u64,
    /// Microseconds of waiting for room downstream.
    pub backpressured_us: u64,
    /// Microseconds on a processor, as of the last barrier or the end.
    pub cpu_us: u64,
    /// Distinct keys in state, as of the last barrier.
    pub state_keys: u64,
    /// Bytes of state, as of the last barrier.
    pub state_bytes: u64,
}

fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}

impl TaskMetrics {
    pub(crate) fn start(&self, now: Duration) {
        self.started_nanos.store(nanos(now).max(1), Ordering::Relaxed);
    }

    pub(crate) fn end(&self, now: Duration, cpu: Duration) {
        self.ended_nanos.store(nanos(now), Ordering::Relaxed);
        self.cpu_nanos.store(nanos(cpu), Ordering::Relaxed);
    }

    pub(crate) fn add_in(&self, rows: usize) {
        self.records_in.fetch_add(rows as u64, Ordering::Relaxed);
    }

    pub(crate) fn add_out(&self, rows: usize) {
        self.records_out.fetch_add(rows as u64, Ordering::Relaxed);
    }

    pub(crate) fn add_bytes_out(&self, bytes: usize) {
        self.bytes_out.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn begin_idle(&self, now: Duration) {
        self.idle.begin(now);
    }

    pub(crate) fn end_idle(&self, now: Duration) {
        self.idle.end(now);
    }

    pub(crate) fn begin_backpressured(&self, now: Duration) {
        self.backpressured.begin(now);
    }

    pub(crate) fn end_backpressured(&self, now: Duration) {
        self.backpressured.end(now);
    }

    pub(crate) fn set_state(&self, keys: usize, bytes: usize, cpu: Duration) {
        self.state_keys.store(keys as u64, Ordering::Relaxed);
        self.state_bytes.store(bytes as u64, Ordering::Relaxed);
        self.cpu_nanos.store(nanos(cpu), Ordering::Relaxed);
    }

    /// The values at `now` (of the clock that the task runs by).
    pub fn snapshot(&self, now: Duration) -> TaskMetricsSnapshot {
        let get = |a: &AtomicU64| a.load(Ordering::Relaxed);
        let (started, ended) = (get(&self.started_nanos), get(&self.ended_nanos));
        let now = if ended > 0 { ended } else { nanos(now) };
        let wall_us = if started == 0 { 0 } else { now.saturating_sub(started) / 1000 };
        // The counters are read one after the other while the task goes on: the parts never exceed the whole.
        let idle_us = (self.idle.at(now) / 1000).min(wall_us);
        let backpressured_us = (self.backpressured.at(now) / 1000).min(wall_us - idle_us);
        TaskMetricsSnapshot {
            records_in: get(&self.records_in),
            records_out: get(&self.records_out),
            bytes_out: get(&self.bytes_out),
            busy_us: wall_us - idle_us - backpressured_us,
            idle_us,
            backpressured_us,
            cpu_us: get(&self.cpu_nanos) / 1000,
            state_keys: get(&self.state_keys),
            state_bytes: get(&self.state_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(m: &TaskMetrics, second: u64) -> (u64, u64, u64) {
        let s = m.snapshot(Duration::from_secs(second));
        (s.busy_us / 1_000_000, s.idle_us / 1_000_000, s.backpressured_us / 1_000_000)
    }

    #[test]
    fn the_current_wait_counts_and_the_parts_sum_to_the_whole() {
        let second = Duration::from_secs;
        let m = TaskMetrics::default();
        assert_eq!(times(&m, 5), (0, 0, 0));
        m.start(second(10));
        m.begin_idle(second(11));
        assert_eq!(times(&m, 71), (1, 60, 0));
        m.end_idle(second(72));
        m.begin_backpressured(second(75));
        assert_eq!(times(&m, 79), (4, 61, 4));
        m.end_backpressured(second(80));
        m.end(second(82), second(3));
        assert_eq!(times(&m, 1000), (6, 61, 5));
        assert_eq!(m.snapshot(second(1000)).cpu_us, 3_000_000);
    }
}
