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

    /// Waits until woken, or for `timeout`. Only for the registered thread. With a timeout it may return early.
    pub fn wait(&self, timeout: Option<Duration>) {
        match timeout {
            None => {
                while !self.take() {
                    std::thread::park();
                }
            }
            Some(timeout) => {
                if !self.take() {
                    std::thread::park_timeout(timeout);
                    self.take();
                }
            }
        }
    }

    /// Takes the flag back. A swap and not a store: it sees what was done before the wake-up it takes, so that none is taken unseen.
    pub(crate) fn take(&self) -> bool {
        self.inner.woken.swap(false, Ordering::AcqRel)
    }

    /// True if both wake the same task.
    pub(crate) fn is_same(&self, other: &TaskWaker) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}
