//! What a task counts. Busy, idle and back-pressured time sum to the time since it runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Counters of a running task.
#[derive(Debug, Default)]
pub struct TaskMetrics {
    records_in: AtomicU64,
    records_out: AtomicU64,
    idle_nanos: AtomicU64,
    backpressured_nanos: AtomicU64,
    cpu_nanos: AtomicU64,
    started_nanos: AtomicU64,
    ended_nanos: AtomicU64,
    state_keys: AtomicU64,
    state_bytes: AtomicU64,
}

/// Their values at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskMetricsSnapshot {
    /// Rows that came in (of a source: that it read).
    pub records_in: u64,
    /// Rows that went out over exchanges.
    pub records_out: u64,
    /// Microseconds of work.
    pub busy_us: u64,
    /// Microseconds of waiting for input.
    pub idle_us: u64,
    /// Microseconds of waiting for room downstream.
    pub backpressured_us: u64,
    /// Microseconds on a processor, as of the last barrier or pause.
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

    pub(crate) fn end(&self, now: Duration) {
        self.ended_nanos.store(nanos(now), Ordering::Relaxed);
    }

    pub(crate) fn add_in(&self, rows: usize) {
        self.records_in.fetch_add(rows as u64, Ordering::Relaxed);
    }

    pub(crate) fn add_out(&self, rows: usize) {
        self.records_out.fetch_add(rows as u64, Ordering::Relaxed);
    }

    pub(crate) fn add_idle(&self, d: Duration) {
        self.idle_nanos.fetch_add(nanos(d), Ordering::Relaxed);
    }

    pub(crate) fn add_backpressured(&self, d: Duration) {
        self.backpressured_nanos.fetch_add(nanos(d), Ordering::Relaxed);
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
        let wall = if started == 0 { 0 } else { if ended > 0 { ended } else { nanos(now) }.saturating_sub(started) };
        let (idle, blocked) = (get(&self.idle_nanos), get(&self.backpressured_nanos));
        TaskMetricsSnapshot {
            records_in: get(&self.records_in),
            records_out: get(&self.records_out),
            busy_us: wall.saturating_sub(idle).saturating_sub(blocked) / 1000,
            idle_us: idle / 1000,
            backpressured_us: blocked / 1000,
            cpu_us: get(&self.cpu_nanos) / 1000,
            state_keys: get(&self.state_keys),
            state_bytes: get(&self.state_bytes),
        }
    }
}
