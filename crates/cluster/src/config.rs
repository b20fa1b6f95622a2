//! How big a cluster is and how often it ticks.

use std::time::Duration;

use millstream_types::limits;

/// Sizes and intervals of a [`crate::MiniCluster`].
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// Slots of the TaskManager.
    pub slots: u32,
    /// Bytes of managed memory, split evenly over the slots.
    pub managed_memory: u64,
    /// Time between two ticks of jobs that have something to do.
    pub tick_interval: Duration,
    /// Bytes of the network buffer pool.
    pub network_bytes: usize,
    /// Bytes the log of table changes may hold.
    pub log_bytes: usize,
    /// Ticks between two checkpoints.
    pub checkpoint_every: u32,
    /// Time after which a checkpoint is given up.
    pub checkpoint_timeout: Duration,
    /// Age at which a reader loses its hold on old versions.
    pub max_hold_age: Duration,
}

impl Default for ClusterConfig {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        ClusterConfig {
            slots: u32::try_from(cores).unwrap_or(1).saturating_mul(2),
            managed_memory: 512 << 20,
            tick_interval: Duration::from_millis(limits::TICK_INTERVAL_MS),
            network_bytes: limits::NETWORK_POOL_BYTES,
            log_bytes: limits::DML_LOG_MAX_BYTES,
            checkpoint_every: limits::CHECKPOINT_EVERY_TICKS,
            checkpoint_timeout: Duration::from_millis(limits::CHECKPOINT_TIMEOUT_MS),
            max_hold_age: Duration::from_millis(limits::MAX_HOLD_AGE_MS),
        }
    }
}
