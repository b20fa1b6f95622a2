//! Time, the only place that asks the system for it, so that the control plane is tested on simulated time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Where time comes from.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Time since an arbitrary fixed point; never goes back.
    fn monotonic(&self) -> Duration;
    /// Microseconds since 1970-01-01 UTC; may jump.
    fn unix_micros(&self) -> i64;
}

/// The machine's clocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn monotonic(&self) -> Duration {
        let t = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        Duration::new(t.tv_sec.unsigned_abs(), u32::try_from(t.tv_nsec).unwrap_or(0))
    }

    fn unix_micros(&self) -> i64 {
        let t = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
        t.tv_sec.saturating_mul(1_000_000).saturating_add(t.tv_nsec / 1_000)
    }
}

/// CPU time that this thread has used so far.
pub fn thread_cpu_time() -> Duration {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(t.tv_sec.unsigned_abs(), u32::try_from(t.tv_nsec).unwrap_or(0))
}

/// CPU time that the whole process has used so far.
pub fn process_cpu_time() -> Duration {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(t.tv_sec.unsigned_abs(), u32::try_from(t.tv_nsec).unwrap_or(0))
}

/// A clock that stands still until a test moves it.
#[derive(Debug, Default)]
pub struct SimulatedClock {
    micros: AtomicU64,
}

impl SimulatedClock {
    /// Moves time forward.
    pub fn advance(&self, by: Duration) {
        self.micros.fetch_add(u64::try_from(by.as_micros()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }
}

impl Clock for SimulatedClock {
    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.micros.load(Ordering::SeqCst))
    }

    fn unix_micros(&self) -> i64 {
        i64::try_from(self.micros.load(Ordering::SeqCst)).unwrap_or(i64::MAX)
    }
}
