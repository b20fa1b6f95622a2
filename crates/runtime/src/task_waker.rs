//! The one thing a task thread waits on: a flag and the parked thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

/// Wakes a task. Cheap to clone and to call: an idle task costs nothing, and a wake-up between two waits is not lost.
#[derive(Clone, Debug, Default)]
pub struct TaskWaker {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    woken: AtomicBool,
    thread: OnceLock<Thread>,
}

impl TaskWaker {
    /// A waker whose thread is not known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says that the calling thread is the one to wake. Once per waker.
    pub fn register(&self) {
        let _ = self.inner.thread.set(std::thread::current());
    }

    /// Ends the current or the next wait.
    pub fn wake(&self) {
        if !self.inner.woken.swap(true, Ordering::AcqRel)
            && let Some(thread) = self.inner.thread.get()
        {
            thread.unpark();
        }
    }

    /// Waits until woken, or for `timeout`. Only for the registered thread. May return early.
    pub fn wait(&self, timeout: Option<Duration>) {
        if self.inner.woken.swap(false, Ordering::AcqRel) {
            return;
        }
        match timeout {
            Some(timeout) => std::thread::park_timeout(timeout),
            None => std::thread::park(),
        }
        self.inner.woken.store(false, Ordering::Release);
    }
}
