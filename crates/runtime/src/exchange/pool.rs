//! The byte budget of all channels of a process, beyond each channel's own reserve.

use std::sync::atomic::{AtomicUsize, Ordering};

use millstream_types::limits;
use parking_lot::Mutex;

use crate::task_waker::TaskWaker;

/// Bytes that channels borrow beyond their reserve and give back.
#[derive(Debug)]
pub struct NetworkBufferPool {
    available: AtomicUsize,
    total: usize,
    waiting: Mutex<Vec<TaskWaker>>,
}

impl Default for NetworkBufferPool {
    fn default() -> Self {
        NetworkBufferPool::new(limits::NETWORK_POOL_BYTES)
    }
}

impl NetworkBufferPool {
    /// A pool of so many bytes.
    pub fn new(total: usize) -> Self {
        NetworkBufferPool { available: AtomicUsize::new(total), total, waiting: Mutex::new(vec![]) }
    }

    /// Takes bytes if they are there.
    pub fn try_acquire(&self, bytes: usize) -> bool {
        self.available.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(bytes)).is_ok()
    }

    /// Takes bytes if they are there; otherwise the waker is called when some come back.
    pub(crate) fn acquire_or_wait(&self, bytes: usize, waker: &TaskWaker) -> bool {
        if self.try_acquire(bytes) {
            return true;
        }
        let mut waiting = self.waiting.lock();
        if !waiting.iter().any(|w| w.is_same(waker)) {
            waiting.push(waker.clone());
        }
        drop(waiting);
        // They may have come back between the two.
        self.try_acquire(bytes)
    }

    /// Gives bytes back.
    pub fn release(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.available.fetch_add(bytes, Ordering::AcqRel);
        let waiting = std::mem::take(&mut *self.waiting.lock());
        waiting.iter().for_each(TaskWaker::wake);
    }

    /// Bytes that are lent out, and bytes in all.
    pub fn usage(&self) -> (usize, usize) {
        (self.total - self.available.load(Ordering::Acquire), self.total)
    }
}
