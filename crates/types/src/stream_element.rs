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
    /// True if state is to be made durable at this cut.
    pub checkpoint: bool,
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
