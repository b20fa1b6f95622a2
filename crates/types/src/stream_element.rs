//! What flows over an edge: batches in order with the events that cut and time them.

use serde::{Deserialize, Serialize};

use crate::{ChangeBatch, Epoch};

/// Event time in microseconds since 1970-01-01; no row before it is expected any more.
pub type Watermark = i64;

/// The watermark of an input that has ended.
pub const WATERMARK_MAX: Watermark = i64::MAX;

/// The cut of an epoch. Everything before it belongs to epochs `<= epoch`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Barrier {
    /// The tick.
    pub epoch: Epoch,
    /// Versions older than this may be released: no reader holds one.
    pub since: Epoch,
    /// State is to be handed over at this cut, to be made durable.
    pub checkpoint: Option<CheckpointMark>,
}

/// What a barrier says of the checkpoint that it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CheckpointMark {
    /// The checkpoint whose state is there to build on: an operator that handed its state over at this epoch gives what has changed
    /// since, any other one gives everything. 0: everything.
    pub base: Epoch,
}

/// One element of a stream.
#[derive(Clone, Debug)]
pub enum StreamElement {
    /// Changes.
    Batch(ChangeBatch),
    /// Event time has advanced.
    Watermark(Watermark),
    /// An epoch ends.
    Barrier(Barrier),
    /// The input has become idle (`true`) or active again; an idle one does not hold the watermark back.
    WatermarkStatus {
        /// Idle or not.
        idle: bool,
    },
    /// Nothing follows. Always directly behind a [`StreamElement::Barrier`], so that every row is covered by a cut.
    EndOfInput,
}
