//! Another job's table or view: first its rows (backfill), then its changes, cut where it was cut. Retract, or append if the relation never
//! takes rows back.

use millstream_graph::SubscriptionSpec;
use millstream_state::{Subscription, SubscriptionPoll};
use millstream_types::{Epoch, Error, Result, RowKind};

use super::{SourcePoll, SourcePosition, SourceReader};

/// The reader of a [`SubscriptionSpec`].
pub struct SubscriptionReader {
    name: String,
    append_only: bool,
    /// Which subtask, of how many.
    subtask: (u32, u32),
    subscription: Subscription,
}

impl SubscriptionReader {
    /// Wraps a subscription to the spec's relation.
    pub fn new(spec: &SubscriptionSpec, subtask: u32, parallelism: u32, subscription: Subscription) -> Self {
        SubscriptionReader { name: spec.name.clone(), append_only: spec.append_only, subtask: (subtask, parallelism), subscription }
    }
}

impl SourceReader for SubscriptionReader {
    fn poll(&mut self, cut: Option<Epoch>, _max_rows: usize) -> Result<SourcePoll> {
        Ok(match self.subscription.poll(cut)? {
            SubscriptionPoll::Batch(batch) => {
                if self.append_only && batch.kinds().is_some_and(|kinds| kinds.iter().any(|k| *k != RowKind::Insert)) {
                    return Err(Error::internal(format!("relation \"{}\" was planned as append-only and took rows back", self.name)));
                }
                SourcePoll::Batch(batch)
            }
            SubscriptionPoll::Pending => SourcePoll::Pending { wake_after: None },
            SubscriptionPoll::CutReached => SourcePoll::CutReached,
            SubscriptionPoll::Finished => SourcePoll::Finished,
        })
    }

    /// How far the backfill is; otherwise the epoch says it all.
    fn snapshot(&self) -> Result<Vec<u8>> {
        self.subscription.position()
    }

    fn restore(&mut self, positions: &[SourcePosition], epoch: Epoch) -> Result<()> {
        let positions: Vec<_> = positions.iter().map(|p| (p.subtask, p.parallelism, p.bytes.as_slice())).collect();
        self.subscription.restore(&positions, self.subtask, epoch)
    }

    fn backfill_progress(&self) -> Option<(u64, u64)> {
        // Equal only when it is over, also if rows that were passed have gone meanwhile.
        let (done, all) = self.subscription.progress();
        Some(if self.subscription.backfill_done() { (all, all) } else { (done, all.max(done + 1)) })
    }
}
