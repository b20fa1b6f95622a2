//! A reader's hold on an epoch, released when it is dropped, wherever the reader stopped.

use std::sync::Arc;

use millstream_types::{Epoch, HoldId};

use super::service::Shared;

/// As long as it lives (at most [`millstream_types::limits::MAX_HOLD_AGE_MS`]) the versions of its epoch stay readable.
#[derive(Debug)]
pub struct ReadLease {
    shared: Arc<Shared>,
    hold: HoldId,
    epoch: Epoch,
}

impl ReadLease {
    pub(super) fn new(shared: Arc<Shared>, hold: HoldId) -> Self {
        ReadLease { shared, hold, epoch: 0 }
    }

    pub(super) fn at(mut self, epoch: Epoch) -> Self {
        self.epoch = epoch;
        self
    }

    /// The epoch to scan at.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }
}

impl Drop for ReadLease {
    fn drop(&mut self) {
        self.shared.release(self.hold);
    }
}
