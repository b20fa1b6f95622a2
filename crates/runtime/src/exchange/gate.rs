//! The consuming end: joins the channels of all inputs and aligns their barriers.

use std::sync::Arc;

use millstream_types::{Barrier, ChangeBatch, StreamElement, WATERMARK_MAX, Watermark};

use super::Channel;
use crate::task_waker::TaskWaker;

/// What a task gets from its gate.
#[derive(Debug)]
pub enum GateEvent {
    /// Changes from an input.
    Batch(usize, ChangeBatch),
    /// Event time of all inputs together has advanced.
    Watermark(Watermark),
    /// All inputs together became idle, or active again.
    Status {
        /// Idle or not.
        idle: bool,
    },
    /// All inputs have delivered this barrier.
    Barrier(Barrier),
    /// All inputs have ended.
    End,
}

/// Several channels as one stream.
pub struct InputGate {
    channels: Vec<GateChannel>,
    /// Where the next look begins, so that no channel starves another.
    next: usize,
    aligning: Option<Barrier>,
    watermark: Watermark,
    idle: bool,
    /// A channel's watermark or status changed: the gate's may have to.
    changed: bool,
    ended: bool,
}

struct GateChannel {
    channel: Arc<Channel>,
    input: usize,
    /// Has delivered the barrier that the others still owe.
    blocked: bool,
    ended: bool,
    idle: bool,
    watermark: Watermark,
}

impl InputGate {
    /// A gate over `(input, channel)` pairs, waking `waker`.
    pub fn new(channels: Vec<(usize, Arc<Channel>)>, waker: &TaskWaker) -> Self {
        let channels = channels.into_iter().map(|(input, channel)| {
            channel.set_consumer(waker.clone());
            GateChannel { channel, input, blocked: false, ended: false, idle: false, watermark: Watermark::MIN }
        });
        InputGate {
            channels: channels.collect(),
            next: 0,
            aligning: None,
            watermark: Watermark::MIN,
            idle: false,
            changed: false,
            ended: false,
        }
    }

    /// The next event; `None` if nothing can be read now.
    pub fn poll(&mut self) -> Option<GateEvent> {
        if self.ended {
            return None;
        }
        // What the last element changed besides the event it gave.
        if let Some(event) = self.advance() {
            return Some(event);
        }
        let count = self.channels.len();
        let mut looked = 0;
        while looked < count {
            let i = self.next % count;
            let c = &mut self.channels[i];
            let element = if c.blocked || c.ended { None } else { c.channel.pop() };
            let Some(element) = element else {
                self.next = i + 1;
                looked += 1;
                continue;
            };
            looked = 0;
            if let Some(event) = self.take(i, element) {
                return Some(event);
            }
        }
        None
    }

    fn take(&mut self, i: usize, element: StreamElement) -> Option<GateEvent> {
        let c = &mut self.channels[i];
        match element {
            StreamElement::Batch(batch) => {
                let input = c.input;
                // One batch, then the next channel: fair among inputs.
                self.next = i + 1;
                Some(GateEvent::Batch(input, batch))
            }
            StreamElement::Watermark(w) => {
                c.watermark = c.watermark.max(w);
                self.changed = true;
                self.advance()
            }
            StreamElement::WatermarkStatus { idle } => {
                c.idle = idle;
                self.changed = true;
                self.advance()
            }
            StreamElement::Barrier(barrier) => {
                debug_assert!(self.aligning.is_none_or(|b| b.epoch == barrier.epoch), "channels deliver the same barriers");
                c.blocked = true;
                self.aligning = Some(barrier);
                self.aligned()
            }
            StreamElement::EndOfInput => {
                c.ended = true;
                c.watermark = WATERMARK_MAX;
                self.changed = true;
                if self.channels.iter().all(|c| c.ended) {
                    self.ended = true;
                    return Some(GateEvent::End);
                }
                self.aligned().or_else(|| self.advance())
            }
        }
    }

    /// The barrier, once every channel that has not ended has delivered it.
    fn aligned(&mut self) -> Option<GateEvent> {
        let barrier = self.aligning?;
        if !self.channels.iter().all(|c| c.blocked || c.ended) {
            return None;
        }
        self.aligning = None;
        self.channels.iter_mut().for_each(|c| c.blocked = false);
        Some(GateEvent::Barrier(barrier))
    }

    /// A new status, then a new watermark.
    fn advance(&mut self) -> Option<GateEvent> {
        if !self.changed {
            return None;
        }
        let event = self.advance_status().or_else(|| self.advance_watermark());
        self.changed = event.is_some();
        event
    }

    /// The smallest watermark of the channels that are not idle; never goes back. A channel whose event time is over says nothing about the
    /// others: while they are idle the watermark stays, and it is over only when it is over on all of them.
    fn advance_watermark(&mut self) -> Option<GateEvent> {
        let over = |c: &GateChannel| c.watermark == WATERMARK_MAX;
        let min = if self.channels.iter().all(over) {
            WATERMARK_MAX
        } else {
            self.channels.iter().filter(|c| !c.idle && !over(c)).map(|c| c.watermark).min()?
        };
        (min > self.watermark).then(|| {
            self.watermark = min;
            GateEvent::Watermark(min)
        })
    }

    fn advance_status(&mut self) -> Option<GateEvent> {
        let mut open = self.channels.iter().filter(|c| !c.ended).peekable();
        let idle = open.peek().is_some() && open.all(|c| c.idle);
        (idle != self.idle).then(|| {
            self.idle = idle;
            GateEvent::Status { idle }
        })
    }
}

impl Drop for InputGate {
    fn drop(&mut self) {
        self.channels.iter().for_each(|c| c.channel.close());
    }
}
