//! What a task shares with those who steer it: mailbox, flags, the one waker.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use millstream_types::{Barrier, Clock, Error, Result, SqlState};
use parking_lot::Mutex;

use super::TaskMetrics;
use crate::task_waker::TaskWaker;

/// Mailbox and flags of one task.
#[derive(Debug)]
pub struct TaskControl {
    pub(crate) waker: TaskWaker,
    pub(crate) metrics: TaskMetrics,
    clock: Arc<dyn Clock>,
    /// Ticks that the source has not cut yet. Bounded by the ticks a job may have under way.
    ticks: Mutex<VecDeque<Barrier>>,
    cancelled: AtomicBool,
    paused: AtomicBool,
}

impl TaskControl {
    /// For a task that runs by `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(TaskControl {
            waker: TaskWaker::new(),
            metrics: TaskMetrics::default(),
            clock,
            ticks: Mutex::new(VecDeque::new()),
            cancelled: AtomicBool::new(false),
            paused: AtomicBool::new(false),
        })
    }

    pub(crate) fn push_tick(&self, barrier: Barrier) {
        self.ticks.lock().push_back(barrier);
        self.waker.wake();
    }

    /// The oldest tick that was not cut yet.
    pub(crate) fn tick(&self) -> Option<Barrier> {
        self.ticks.lock().front().copied()
    }

    pub(crate) fn tick_done(&self) {
        self.ticks.lock().pop_front();
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        self.waker.wake();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    pub(crate) fn set_paused(&self, paused: bool) {
        self.paused.store(paused, Ordering::Release);
        self.waker.wake();
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Acquire)
    }

    /// 57014 once the task was cancelled.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::new(SqlState::QUERY_CANCELED, "the task was cancelled")) } else { Ok(()) }
    }

    /// Monotonic time.
    pub(crate) fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    /// Waits for input.
    pub(crate) fn wait_for_input(&self, timeout: Option<Duration>) {
        self.metrics.begin_idle(self.clock.monotonic());
        self.waker.wait(timeout);
        self.metrics.end_idle(self.clock.monotonic());
    }

    /// Waits for room downstream.
    pub(crate) fn wait_for_room(&self) -> Result<()> {
        self.check()?;
        self.metrics.begin_backpressured(self.clock.monotonic());
        self.waker.wait(None);
        self.metrics.end_backpressured(self.clock.monotonic());
        self.check()
    }
}
