//! What the operating system says of this process.

use std::time::Duration;

use millstream_types::clock::process_cpu_time;
use millstream_types::{Clock, SystemClock};

/// Wall time and CPU time since a moment.
pub(super) struct Stopwatch {
    wall: Duration,
    cpu: Duration,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Stopwatch { wall: SystemClock.monotonic(), cpu: process_cpu_time() }
    }

    /// Wall and CPU time since the start.
    pub(super) fn elapsed(&self) -> (Duration, Duration) {
        (SystemClock.monotonic() - self.wall, process_cpu_time() - self.cpu)
    }
}

/// Resident and peak resident memory in bytes; 0 where /proc is not there.
pub(super) fn memory() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|l| l.starts_with(name));
        line.and_then(|l| l.split_whitespace().nth(1)).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
    };
    (field("VmRSS:"), field("VmHWM:"))
}
