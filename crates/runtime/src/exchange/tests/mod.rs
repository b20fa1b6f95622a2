//! The exchange without tasks: gates, channels and partitions, one thread each side at most.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod channel;
mod gate;
mod partition;

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::Int64Type;
use millstream_types::{Barrier, ChangeBatch, Epoch, StreamElement};

use super::channel::Push;
use super::{Channel, GateEvent, InputGate, NetworkBufferPool};
use crate::task_waker::TaskWaker;

/// One column of numbers, all inserts.
fn batch(values: impl IntoIterator<Item = i64>) -> ChangeBatch {
    let column: ArrayRef = Arc::new(values.into_iter().map(Some).collect::<Int64Array>());
    ChangeBatch::inserts(RecordBatch::try_from_iter([("v", column)]).unwrap())
}

/// One row of so many bytes.
fn wide_row(bytes: usize) -> ChangeBatch {
    let column: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(bytes)]));
    ChangeBatch::inserts(RecordBatch::try_from_iter([("v", column)]).unwrap())
}

fn values(batch: &ChangeBatch) -> Vec<i64> {
    batch.column(0).as_primitive::<Int64Type>().values().to_vec()
}

fn barrier(epoch: Epoch) -> StreamElement {
    StreamElement::Barrier(Barrier { epoch, since: 0, checkpoint: None })
}

fn channels(n: usize, pool: usize) -> (Vec<Arc<Channel>>, Arc<NetworkBufferPool>) {
    let pool = Arc::new(NetworkBufferPool::new(pool));
    ((0..n).map(|_| Arc::new(Channel::new(Arc::clone(&pool)))).collect(), pool)
}

/// A gate whose channel i feeds input i.
fn gate(channels: &[Arc<Channel>], waker: &TaskWaker) -> InputGate {
    InputGate::new(channels.iter().cloned().enumerate().collect(), waker)
}

fn push(channel: &Channel, element: StreamElement) {
    match element {
        StreamElement::Batch(batch) => {
            let bytes = batch.logical_bytes();
            assert!(matches!(channel.push(batch, bytes), Push::Done));
        }
        event => channel.push_event(event),
    }
}

/// What a gate gave, as text.
fn show(event: &GateEvent) -> String {
    match event {
        GateEvent::Batch(input, batch) => format!("{input}: {:?}", values(batch)),
        GateEvent::Watermark(w) => format!("watermark {w}"),
        GateEvent::Status { idle } => format!("idle {idle}"),
        GateEvent::Barrier(b) => format!("barrier {}", b.epoch),
        GateEvent::End => "end".into(),
    }
}

fn drain(gate: &mut InputGate) -> Vec<String> {
    std::iter::from_fn(|| gate.poll()).map(|e| show(&e)).collect()
}
