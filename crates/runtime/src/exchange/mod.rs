//! Exchange: how batches cross from one task to the next.
//!
//! A producer splits its stream by a partitioner ([`partition`]) into channels ([`channel`]); a consumer's gate ([`gate`]) joins its
//! channels and aligns their barriers. Queues are bounded by number and bytes; bytes come from one pool ([`pool`]) of which every channel
//! owns a fixed reserve, so a blocked job can slow another one but never stop it. [`manager`] joins producers and consumers by name.

pub mod channel;
pub mod gate;
pub mod manager;
pub mod partition;
pub mod pool;
mod splitter;
#[cfg(test)]
mod tests;

pub use channel::Channel;
pub use gate::{GateEvent, InputGate};
pub use manager::ResultPartitionManager;
pub use partition::ResultPartition;
pub use pool::NetworkBufferPool;
