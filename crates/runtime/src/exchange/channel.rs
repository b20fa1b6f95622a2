//! One channel: a bounded queue from one producer subtask to one consumer subtask.

use std::collections::VecDeque;
use std::sync::Arc;

use millstream_types::{ChangeBatch, StreamElement, limits};
use parking_lot::{Mutex, MutexGuard};

use super::NetworkBufferPool;
use crate::task_waker::TaskWaker;

/// A queue of elements. Batches are charged to the channel's reserve or to the pool; events cost nothing and never wait.
#[derive(Debug)]
pub struct Channel {
    pool: Arc<NetworkBufferPool>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    queue: VecDeque<Queued>,
    batches: usize,
    bytes: usize,
    reserve_used: usize,
    producer: Option<TaskWaker>,
    /// The producer found no room: it is woken once no more batches than these are queued. Otherwise a pop wakes nobody.
    producer_waits: Option<usize>,
    consumer: Option<TaskWaker>,
    /// The consumer has gone: what is pushed is dropped.
    closed: bool,
}

#[derive(Debug)]
struct Queued {
    element: StreamElement,
    bytes: usize,
    /// True if `bytes` were borrowed from the pool, false if they are the reserve's.
    borrowed: bool,
}

/// What became of a push.
#[derive(Debug)]
pub enum Push {
    /// It is in.
    Done,
    /// Full for now; the producer will be woken when there is room again.
    Full(ChangeBatch),
    /// The pool is used up, and the batch is larger than the reserve of an empty channel: a slice of it would fit.
    Split(ChangeBatch),
}

impl Channel {
    /// An empty channel.
    pub fn new(pool: Arc<NetworkBufferPool>) -> Self {
        Channel { pool, inner: Mutex::new(Inner::default()) }
    }

    /// Who is woken when there is room.
    pub fn set_producer(&self, waker: TaskWaker) {
        self.inner.lock().producer = Some(waker);
    }

    /// Who is woken when there is something.
    pub fn set_consumer(&self, waker: TaskWaker) {
        let mut inner = self.inner.lock();
        let waiting = !inner.queue.is_empty();
        if waiting {
            waker.wake();
        }
        inner.consumer = Some(waker);
    }

    /// Queues a batch of `bytes` logical bytes, or says why not.
    pub fn push(&self, batch: ChangeBatch, bytes: usize) -> Push {
        let mut inner = self.inner.lock();
        if inner.closed {
            return Push::Done;
        }
        let full = inner.batches >= limits::CHANNEL_MAX_BATCHES || (inner.bytes > 0 && inner.bytes + bytes > limits::CHANNEL_MAX_BYTES);
        if full {
            // Not at the first pop: one wake-up for many batches.
            inner.producer_waits = Some(inner.batches / 2);
            return Push::Full(batch);
        }
        let borrowed = if inner.reserve_used + bytes <= limits::CHANNEL_RESERVE_BYTES {
            inner.reserve_used += bytes;
            false
        } else {
            let granted = match &inner.producer {
                Some(producer) => self.pool.acquire_or_wait(bytes, producer),
                None => self.pool.try_acquire(bytes),
            };
            if !granted {
                let alone = inner.batches == 0;
                if !alone {
                    inner.producer_waits = Some(inner.batches - 1);
                    return Push::Full(batch);
                }
                if batch.num_rows() > 1 {
                    return Push::Split(batch);
                }
                // One row that is larger than the reserve: it may pass alone, or it never would.
                enqueue(inner, StreamElement::Batch(batch), 0, false);
                return Push::Done;
            }
            true
        };
        inner.bytes += bytes;
        enqueue(inner, StreamElement::Batch(batch), bytes, borrowed);
        Push::Done
    }

    /// Queues a watermark, barrier, status or end.
    pub fn push_event(&self, element: StreamElement) {
        let inner = self.inner.lock();
        if !inner.closed {
            enqueue(inner, element, 0, false);
        }
    }

    /// The next element.
    pub fn pop(&self) -> Option<StreamElement> {
        let (queued, producer) = {
            let mut inner = self.inner.lock();
            let queued = inner.queue.pop_front()?;
            let mut producer = None;
            if matches!(queued.element, StreamElement::Batch(_)) {
                inner.batches -= 1;
                inner.bytes -= queued.bytes;
                if !queued.borrowed {
                    inner.reserve_used -= queued.bytes;
                }
                if inner.producer_waits.is_some_and(|at| inner.batches <= at) {
                    inner.producer_waits = None;
                    producer.clone_from(&inner.producer);
                }
            }
            (queued, producer)
        };
        if queued.borrowed {
            self.pool.release(queued.bytes);
        }
        if let Some(producer) = producer {
            producer.wake();
        }
        Some(queued.element)
    }

    /// The consumer goes: drops what is queued and everything that is still pushed.
    pub fn close(&self) {
        let (borrowed, producer) = {
            let mut inner = self.inner.lock();
            inner.closed = true;
            let queue = std::mem::take(&mut inner.queue);
            (inner.batches, inner.bytes, inner.reserve_used) = (0, 0, 0);
            (queue.iter().filter(|q| q.borrowed).map(|q| q.bytes).sum(), inner.producer.clone())
        };
        self.pool.release(borrowed);
        if let Some(producer) = producer {
            producer.wake();
        }
    }
}

fn enqueue(mut inner: MutexGuard<'_, Inner>, element: StreamElement, bytes: usize, borrowed: bool) {
    if matches!(element, StreamElement::Batch(_)) {
        inner.batches += 1;
    }
    inner.queue.push_back(Queued { element, bytes, borrowed });
    let consumer = inner.consumer.clone();
    // The consumer must not wake up to a lock that is still held.
    drop(inner);
    if let Some(consumer) = consumer {
        consumer.wake();
    }
}
