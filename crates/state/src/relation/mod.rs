//! Relations: the rows of tables and materialized views, in versions.
//!
//! A relation has one partition per subtask of its Materialize operator. A partition is a persistent ordered map from key bytes to row
//! (`imbl`), so that a version is a clone in constant time and shares all that did not change. At every barrier the [`RelationWriter`]
//! nets the epoch's changes and publishes a version; a scan takes the newest version that is not newer than its epoch; a
//! [`Subscription`] remembers the version it has handed out and takes the *difference* to the next one, which skips what both share.
//! So no changelog is kept, nobody blocks the publisher, and a slow subscriber costs no more than the rows that changed since.
//!
//! Guarantee: at most one row per key in a version (a relation without key is a multiset: the key is the whole row, equal rows are
//! counted). Not guaranteed: intermediate states within an epoch are never seen by anybody.

mod checkpoint;
mod codec;
mod partition;
mod scan;
mod spec;
mod store;
mod subscription;
#[cfg(test)]
mod tests;
mod writer;

pub use scan::{ScanRequest, ScanStream};
pub use spec::RelationSpec;
pub use store::RelationStore;
pub use subscription::{Subscription, SubscriptionPoll};
pub use writer::RelationWriter;
