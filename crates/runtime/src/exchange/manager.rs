//! Which channels belong together: by producer attempt and data set, whoever comes first.

use std::collections::HashMap;
use std::sync::Arc;

use millstream_graph::DataSetId;
use millstream_types::{ExecutionAttemptId, JobId};
use parking_lot::Mutex;

use super::{Channel, NetworkBufferPool};

type Partitions = HashMap<(ExecutionAttemptId, DataSetId), Vec<Arc<Channel>>>;

/// The result partitions of a process.
#[derive(Debug)]
pub struct ResultPartitionManager {
    pool: Arc<NetworkBufferPool>,
    partitions: Mutex<Partitions>,
}

impl ResultPartitionManager {
    /// None yet; channels charge `pool`.
    pub fn new(pool: Arc<NetworkBufferPool>) -> Self {
        ResultPartitionManager { pool, partitions: Mutex::new(HashMap::new()) }
    }

    /// Channel `subpartition` of a partition; made if it is not there.
    pub fn channel(&self, producer: ExecutionAttemptId, data_set: DataSetId, subpartition: u32) -> Arc<Channel> {
        let mut partitions = self.partitions.lock();
        let channels = partitions.entry((producer, data_set)).or_default();
        while channels.len() <= subpartition as usize {
            channels.push(Arc::new(Channel::new(Arc::clone(&self.pool))));
        }
        Arc::clone(&channels[subpartition as usize])
    }

    /// Forgets the partitions of a job whose tasks have all ended.
    pub fn release_job(&self, job: JobId) {
        self.partitions.lock().retain(|(producer, _), channels| {
            let keep = producer.vertex.job != job;
            if !keep {
                channels.iter().for_each(|c| c.close());
            }
            keep
        });
    }

    /// How many partitions are known.
    pub fn len(&self) -> usize {
        self.partitions.lock().len()
    }

    /// True without partitions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
