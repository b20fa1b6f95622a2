//! The producing end of an exchange: splits, coalesces small batches, and waits for room.

use std::sync::Arc;
use std::time::Duration;

use millstream_types::{ChangeBatch, Clock, Result, StreamElement, limits};

use super::Channel;
use super::channel::Push;
use super::splitter::Splitter;
use crate::task::TaskControl;
use crate::task::deployment::{ResultPartitionDescriptor, TaskConfig};

/// Writes one data set of one subtask.
pub struct ResultPartition {
    channels: Vec<Arc<Channel>>,
    splitter: Splitter,
    /// Small batches that wait to be sent together, by channel.
    waiting: Vec<Waiting>,
    batch_rows: usize,
    /// Zero: nothing waits.
    linger: Duration,
    /// When the oldest waiting batch came; `None` if none waits.
    since: Option<Duration>,
    control: Arc<TaskControl>,
    clock: Arc<dyn Clock>,
}

#[derive(Default)]
struct Waiting {
    batches: Vec<ChangeBatch>,
    rows: usize,
}

impl ResultPartition {
    /// A partition that writes to these channels.
    pub fn new(
        descriptor: &ResultPartitionDescriptor,
        channels: Vec<Arc<Channel>>,
        subtask: u32,
        config: &TaskConfig,
        control: Arc<TaskControl>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        channels.iter().for_each(|c| c.set_producer(control.waker.clone()));
        ResultPartition {
            splitter: Splitter::new(&descriptor.partitioner, subtask, descriptor.consumer_max_parallelism),
            waiting: channels.iter().map(|_| Waiting::default()).collect(),
            channels,
            batch_rows: config.batch_rows.max(1),
            linger: Duration::from_millis(config.linger_ms),
            since: None,
            control,
            clock,
        }
    }

    /// Sends changes; waits while the consumer is behind.
    ///
    /// # Errors
    /// 57014 if the task is cancelled meanwhile.
    pub fn batch(&mut self, batch: ChangeBatch) -> Result<()> {
        self.control.metrics.add_out(batch.num_rows());
        let mut splitter = std::mem::replace(&mut self.splitter, Splitter::One);
        let channels = self.channels.len();
        let sent = splitter.split(batch, channels, &mut |channel, share| self.offer(channel, share));
        self.splitter = splitter;
        sent
    }

    /// Sends what has waited for the linger.
    ///
    /// # Errors
    /// 57014 if the task is cancelled meanwhile.
    pub fn flush_due(&mut self) -> Result<()> {
        match self.since {
            Some(since) if self.clock.monotonic().saturating_sub(since) >= self.linger => self.flush(),
            _ => Ok(()),
        }
    }

    fn offer(&mut self, channel: usize, share: ChangeBatch) -> Result<()> {
        let waiting = &mut self.waiting[channel];
        if self.linger.is_zero() || (waiting.rows == 0 && share.num_rows() * 2 >= self.batch_rows) {
            return self.send(channel, share);
        }
        waiting.rows += share.num_rows();
        waiting.batches.push(share);
        if waiting.rows >= self.batch_rows {
            return self.flush_channel(channel);
        }
        if self.since.is_none() {
            self.since = Some(self.clock.monotonic());
        }
        Ok(())
    }

    /// Sends what waits.
    ///
    /// # Errors
    /// 57014 if the task is cancelled meanwhile.
    pub fn flush(&mut self) -> Result<()> {
        if self.since.take().is_none() {
            return Ok(());
        }
        (0..self.channels.len()).try_for_each(|c| self.flush_channel(c))
    }

    fn flush_channel(&mut self, channel: usize) -> Result<()> {
        let Waiting { batches, .. } = std::mem::take(&mut self.waiting[channel]);
        match batches.first().map(ChangeBatch::schema) {
            Some(schema) => self.send(channel, ChangeBatch::concat(&schema, &batches)?),
            None => Ok(()),
        }
    }

    /// Sends a watermark, barrier, status or end to every channel, behind everything that waits.
    ///
    /// # Errors
    /// 57014 if the task is cancelled meanwhile.
    pub fn event(&mut self, element: &StreamElement) -> Result<()> {
        self.flush()?;
        self.channels.iter().for_each(|c| c.push_event(element.clone()));
        Ok(())
    }

    fn send(&self, channel: usize, batch: ChangeBatch) -> Result<()> {
        let channel = &self.channels[channel];
        let mut bytes = batch.logical_bytes();
        self.control.metrics.add_bytes_out(bytes);
        let mut batch = batch;
        loop {
            match channel.push(batch, bytes) {
                Push::Done => return Ok(()),
                Push::Full(back) => {
                    batch = back;
                    self.control.wait_for_room()?;
                }
                Push::Split(whole) => {
                    // As many rows as fit the reserve, at least one; the rest is tried again as a whole.
                    let rows = whole.num_rows();
                    let fit = (rows * limits::CHANNEL_RESERVE_BYTES / (bytes + 1)).clamp(1, rows - 1);
                    self.send_slice(channel, whole.slice(0, fit))?;
                    batch = whole.slice(fit, rows - fit);
                    bytes = batch.logical_bytes();
                }
            }
        }
    }

    fn send_slice(&self, channel: &Channel, slice: ChangeBatch) -> Result<()> {
        let mut slice = slice;
        loop {
            let bytes = slice.logical_bytes();
            match channel.push(slice, bytes) {
                Push::Done => return Ok(()),
                Push::Full(back) => {
                    slice = back;
                    self.control.wait_for_room()?;
                }
                Push::Split(whole) => {
                    let half = (whole.num_rows() / 2).max(1);
                    self.send_slice(channel, whole.slice(0, half))?;
                    slice = whole.slice(half, whole.num_rows() - half);
                }
            }
        }
    }
}
