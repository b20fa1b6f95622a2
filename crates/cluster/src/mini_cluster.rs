//! One JobManager and one TaskManager in this process, over the same gateways and messages as in several.

use std::fmt;
use std::sync::Arc;

use millstream_runtime::connector::ConnectorProvider;
use millstream_runtime::exchange::{NetworkBufferPool, ResultPartitionManager};
use millstream_runtime::task::TaskServices;
use millstream_state::{LogStore, MemoryLog, RelationStore};
use millstream_types::{Clock, Result, TaskManagerId};

use crate::config::ClusterConfig;
use crate::dispatcher::{Dispatcher, DispatcherClient, DispatcherServices, JobClient, JobDirectory};
use crate::dml::TableWriter;
use crate::epoch::{EpochService, EpochTimer};
use crate::gateway::{
    DispatcherGateway, FencingToken, JobMasterLocator, LocalServing, RegisterTaskManager, ResourceManagerGateway, ServingGateway,
    TaskExecutorGateway,
};
use crate::job_master::JobMasterServices;
use crate::resource_manager::ResourceManager;
use crate::spawn::TaskTracker;
use crate::task_executor::TaskExecutor;

#[cfg(test)]
mod tests;

/// The TaskManager of this process.
const TASK_MANAGER: TaskManagerId = TaskManagerId(1);

/// What a cluster is given.
#[derive(Clone)]
pub struct ClusterServices {
    /// Sources and sinks.
    pub connectors: Arc<dyn ConnectorProvider>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

/// A cluster in one process.
pub struct MiniCluster {
    jobs: JobClient,
    epochs: EpochService,
    serving: LocalServing,
    tables: TableWriter,
    executor: Arc<TaskExecutor>,
    tracker: Arc<TaskTracker>,
}

impl MiniCluster {
    /// Starts all components. Needs a tokio runtime.
    ///
    /// # Errors
    /// 57P01 if the runtime is going down.
    pub async fn start(config: ClusterConfig, services: ClusterServices) -> Result<Arc<MiniCluster>> {
        let ClusterServices { connectors, clock } = services;
        let token = FencingToken(1);
        let tracker = Arc::new(TaskTracker::new());
        let log: Arc<dyn LogStore> = Arc::new(MemoryLog::new(config.log_bytes));
        let relations = RelationStore::new();
        let epochs = EpochService::new(Arc::clone(&clock), Arc::clone(&log), token, config.max_hold_age);
        let directory = Arc::new(JobDirectory::default());
        let network = Arc::new(NetworkBufferPool::new(config.network_bytes));
        let task_services = TaskServices {
            relations: Arc::clone(&relations),
            log: Arc::clone(&log),
            connectors,
            partitions: Arc::new(ResultPartitionManager::new(Arc::clone(&network))),
            network,
            clock: Arc::clone(&clock),
        };
        let locator = Arc::clone(&directory) as Arc<dyn JobMasterLocator>;
        let executor = TaskExecutor::new(TASK_MANAGER, config.slots, token, task_services, locator, Arc::clone(&tracker));
        let gateway = Arc::clone(&executor) as Arc<dyn TaskExecutorGateway>;
        let resource_manager = ResourceManager::start(token, &tracker)?;
        resource_manager
            .register_task_manager(RegisterTaskManager {
                token,
                task_manager: TASK_MANAGER,
                slots: config.slots,
                gateway: Arc::clone(&gateway),
            })
            .await?;
        let (client, messages) = DispatcherClient::new();
        let dispatcher: Arc<dyn DispatcherGateway> = Arc::new(client);
        let job_master = JobMasterServices {
            token,
            dispatcher: Arc::clone(&dispatcher),
            resource_manager: Arc::new(resource_manager),
            epochs: epochs.clone(),
            log: Arc::clone(&log),
        };
        let actor = Dispatcher::new(DispatcherServices {
            job_master,
            executor: gateway,
            directory: Arc::clone(&directory),
            tracker: Arc::clone(&tracker),
            clock,
        });
        tracker.actor("dispatcher", actor, messages, None)?;
        EpochTimer::start(&epochs, config.tick_interval, &tracker)?;
        let jobs = JobClient::new(token, dispatcher, directory, epochs.clone(), Arc::clone(&executor));
        let tables = TableWriter::new(epochs.clone(), Arc::clone(&relations));
        Ok(Arc::new(MiniCluster { jobs, epochs, serving: LocalServing::new(relations), tables, executor, tracker }))
    }

    /// Stops everything in order: readers are refused, jobs are cancelled, actors end, the threads of tasks are joined.
    ///
    /// # Errors
    /// The first error that any component ended with.
    pub async fn shutdown(&self) -> Result<()> {
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
