//! One JobManager and one TaskManager in this process, over the same gateways and messages as in several.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use millstream_runtime::connector::ConnectorProvider;
use millstream_runtime::exchange::{NetworkBufferPool, ResultPartitionManager};
use millstream_runtime::task::TaskServices;
use millstream_state::{CheckpointStorage, LogStore, MemoryLog, MetadataStore, MetadataWrite, RelationStore, SegmentReader};
use millstream_types::{Clock, Epoch, Error, JobId, Result, SqlState, TaskManagerId};

use crate::checkpoint::{CheckpointClient, CheckpointCoordinator, CheckpointHistory, CheckpointOverview, CheckpointServices};
use crate::config::ClusterConfig;
use crate::dispatcher::{Dispatcher, DispatcherClient, DispatcherServices, JobClient, JobDirectory};
use crate::dml::TableWriter;
use crate::epoch::{EpochService, EpochTimer};
use crate::gateway::{
    DispatcherGateway, FencingToken, JobMasterLocator, LocalServing, RegisterTaskManager, ResourceManagerGateway, ServingGateway,
    TaskExecutorGateway,
};
use crate::job_master::JobMasterServices;
use crate::job_store::JobStore;
use crate::resource_manager::ResourceManager;
use crate::spawn::TaskTracker;
use crate::task_executor::TaskExecutor;

#[cfg(test)]
mod tests;

/// The TaskManager of this process.
const TASK_MANAGER: TaskManagerId = TaskManagerId(1);
/// Epochs of one term of the leader: a million a second for 12 days, and as many terms as there are.
const EPOCHS_PER_TERM: Epoch = 1 << 40;
/// Metadata key of the number of terms so far.
const TERM_KEY: &str = "term";

/// Counts the terms: no epoch, and no message, of an earlier process is taken for one of this.
fn next_term(metadata: &dyn MetadataStore) -> Result<u64> {
    let wrong = || Error::new(SqlState::DATA_CORRUPTED, "the number of terms cannot be read");
    let last = match metadata.get(TERM_KEY)? {
        Some(found) => found.value.try_into().map(u64::from_le_bytes).map_err(|_| wrong())?,
        None => 0,
    };
    metadata.commit(&[], vec![MetadataWrite::Put(TERM_KEY.into(), (last + 1).to_le_bytes().to_vec())])?;
    Ok(last + 1)
}

/// Where a cluster keeps what is to survive it.
#[derive(Clone)]
pub struct Durability {
    /// Jobs, checkpoints, epochs.
    pub metadata: Arc<dyn MetadataStore>,
    /// State.
    pub storage: CheckpointStorage,
    /// Changes to tables.
    pub log: Arc<dyn LogStore>,
}

/// What a cluster is given.
#[derive(Clone)]
pub struct ClusterServices {
    /// Sources and sinks.
    pub connectors: Arc<dyn ConnectorProvider>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// `None`: nothing survives.
    pub durability: Option<Durability>,
}

/// A cluster in one process.
pub struct MiniCluster {
    jobs: JobClient,
    epochs: EpochService,
    serving: LocalServing,
    tables: TableWriter,
    executor: Arc<TaskExecutor>,
    tracker: Arc<TaskTracker>,
    store: JobStore,
    history: Arc<CheckpointHistory>,
}

/// Takes in the jobs that were there, in the order of their numbers: what a job reads from was there before it.
async fn recover(store: &JobStore, dispatcher: &DispatcherClient, jobs: &JobClient, live: &BTreeSet<JobId>) -> Result<()> {
    for record in store.all()? {
        let job = record.graph.job;
        if live.contains(&job) {
            dispatcher.recover(record).await?;
            jobs.wait_started(job).await?;
        } else {
            store.remove(job)?;
        }
    }
    Ok(())
}

impl MiniCluster {
    /// Starts all components, and the jobs of an earlier process that are `live`: each continues from its newest checkpoint, tables catch up
    /// with the log. What is kept of other jobs is removed. Needs a tokio runtime.
    ///
    /// # Errors
    /// 57P01 if the runtime is going down; XX001, 58030 if what was kept cannot be read.
    pub async fn start(config: ClusterConfig, services: ClusterServices, live: &BTreeSet<JobId>) -> Result<Arc<MiniCluster>> {
        let ClusterServices { connectors, clock, durability } = services;
        let term = durability.as_ref().map_or(Ok(1), |d| next_term(d.metadata.as_ref()))?;
        let token = FencingToken(term);
        let tracker = Arc::new(TaskTracker::new());
        let memory_log = || Arc::new(MemoryLog::new(config.log_bytes)) as Arc<dyn LogStore>;
        let log = durability.as_ref().map_or_else(memory_log, |d| Arc::clone(&d.log));
        let store = JobStore::new(durability.as_ref().map(|d| Arc::clone(&d.metadata)));
        let history = Arc::new(CheckpointHistory::default());
        let (checkpoints, mailbox) = durability.as_ref().map(|_| CheckpointClient::new()).unzip();
        let relations = RelationStore::new();
        let first = term.saturating_sub(1) * EPOCHS_PER_TERM + 1;
        let epochs = EpochService::new(Arc::clone(&clock), Arc::clone(&log), token, config.max_hold_age, first, checkpoints.clone());
        let directory = Arc::new(JobDirectory::default());
        let network = Arc::new(NetworkBufferPool::new(config.network_bytes));
        let task_services = TaskServices {
            relations: Arc::clone(&relations),
            log: Arc::clone(&log),
            connectors,
            partitions: Arc::new(ResultPartitionManager::new(Arc::clone(&network))),
            network,
            clock: Arc::clone(&clock),
            segments: durability.as_ref().map(|d| Arc::new(d.storage.clone()) as Arc<dyn SegmentReader>),
        };
        let locator = Arc::clone(&directory) as Arc<dyn JobMasterLocator>;
        let storage = durability.as_ref().map(|d| d.storage.clone());
        let executor = TaskExecutor::new(TASK_MANAGER, config.slots, token, task_services, storage, locator, Arc::clone(&tracker));
        let gateway = Arc::clone(&executor) as Arc<dyn TaskExecutorGateway>;
        let resource_manager = ResourceManager::start(token, &tracker)?;
        let registration = RegisterTaskManager { token, task_manager: TASK_MANAGER, slots: config.slots, gateway: Arc::clone(&gateway) };
        resource_manager.register_task_manager(registration).await?;
        let (client, messages) = DispatcherClient::new();
        let dispatcher: Arc<dyn DispatcherGateway> = Arc::new(client.clone());
        let job_master = JobMasterServices {
            token,
            dispatcher: Arc::clone(&dispatcher),
            resource_manager: Arc::new(resource_manager),
            epochs: epochs.clone(),
            log: Arc::clone(&log),
            jobs: store.clone(),
            checkpoints,
            tracker: Arc::clone(&tracker),
        };
        if let (Some(durability), Some(mailbox)) = (durability, mailbox) {
            let (executor, epochs, directory) = (Arc::clone(&gateway), epochs.clone(), Arc::clone(&directory));
            let (clock, history, timeout) = (Arc::clone(&clock), Arc::clone(&history), config.checkpoint_timeout);
            let Durability { metadata, storage, log } = durability;
            let services = CheckpointServices { token, metadata, storage, executor, epochs, directory, log, clock, history, timeout };
            CheckpointCoordinator::start(services, mailbox, live, &tracker).await?;
        }
        let checkpoint_every = job_master.checkpoints.is_some().then_some(config.checkpoint_every);
        let actor = Dispatcher::new(DispatcherServices { job_master, executor: gateway, directory: Arc::clone(&directory), clock });
        tracker.actor("dispatcher", actor, messages, None)?;
        let jobs = JobClient::new(token, dispatcher, directory, epochs.clone(), Arc::clone(&executor));
        recover(&store, &client, &jobs, live).await?;
        EpochTimer::start(&epochs, config.tick_interval, checkpoint_every, &tracker)?;
        let tables = TableWriter::new(epochs.clone(), Arc::clone(&relations));
        Ok(Arc::new(MiniCluster { jobs, epochs, serving: LocalServing::new(relations), tables, executor, tracker, store, history }))
    }

    /// The last checkpoints of a job, oldest first.
    pub fn checkpoints(&self, job: JobId) -> Vec<CheckpointOverview> {
        self.history.of(job)
    }

    /// Stops everything in order: readers are refused, jobs are cancelled, actors end, the threads of tasks are joined.
    ///
    /// # Errors
    /// The first error that any component ended with.
    pub async fn shutdown(&self) -> Result<()> {
        self.store.close();
        self.epochs.close();
        self.jobs.cancel_all().await;
        self.executor.shutdown();
        self.tracker.shutdown().await
    }

    /// Submits, watches and ends jobs.
    pub fn jobs(&self) -> &JobClient {
        &self.jobs
    }

    /// The clock: ticks and reads.
    pub fn epochs(&self) -> &EpochService {
        &self.epochs
    }

    /// The relations.
    pub fn serving(&self) -> &dyn ServingGateway {
        &self.serving
    }

    /// Changes to tables.
    pub fn tables(&self) -> &TableWriter {
        &self.tables
    }
}

impl fmt::Debug for MiniCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MiniCluster").field("epochs", &self.epochs.current()).finish_non_exhaustive()
    }
}
