//! The database: catalog, cluster, connectors and the batch engine, for all sessions.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::execution::context::SessionState;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionContext;
use millstream_cluster::{ClusterConfig, ClusterServices, MiniCluster};
use millstream_connectors::ConnectorRegistry;
use millstream_functions::from_datafusion;
use millstream_planner::batch::session_state;
use millstream_types::{Clock, Result, SystemClock};
use parking_lot::Mutex;

use crate::catalog::Catalog;

/// How a database is opened.
#[derive(Clone, Debug)]
pub struct DatabaseConfig {
    /// Where everything is kept.
    pub data_dir: PathBuf,
    /// Directories that the filesystem connector may use; relative paths are below the first one.
    pub file_roots: Vec<PathBuf>,
    /// Task slots; `None` is 2 x cores.
    pub slots: Option<u32>,
    /// Bytes of managed memory.
    pub managed_memory: u64,
    /// Bytes that ad hoc reads may use together.
    pub read_memory: usize,
}

impl Default for DatabaseConfig {
    fn default() -> Self {
        DatabaseConfig { data_dir: PathBuf::new(), file_roots: vec![], slots: None, managed_memory: 512 << 20, read_memory: 1 << 30 }
    }
}

/// Everything that sessions share.
pub struct Database {
    catalog: Arc<Catalog>,
    cluster: Arc<MiniCluster>,
    connectors: Arc<ConnectorRegistry>,
    batch: SessionState,
    clock: Arc<dyn Clock>,
    default_parallelism: u32,
    /// Contexts of catalog queries by database, made when they are first needed.
    catalog_contexts: Mutex<HashMap<String, SessionContext>>,
}

impl Database {
    /// Opens an empty database.
    ///
    /// # Errors
    /// When the cluster cannot start.
    pub async fn open(config: DatabaseConfig) -> Result<Arc<Database>> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let connectors = Arc::new(ConnectorRegistry::new(config.file_roots));
        let defaults = ClusterConfig::default();
        let slots = config.slots.unwrap_or(defaults.slots);
        let cluster_config = ClusterConfig { slots, managed_memory: config.managed_memory, ..defaults };
        let services = ClusterServices { connectors: Arc::clone(&connectors) as _, clock: Arc::clone(&clock) };
        let cluster = MiniCluster::start(cluster_config, services).await?;
        let pool = Arc::new(FairSpillPool::new(config.read_memory));
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc().map_err(from_datafusion)?;
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let default_parallelism = u32::try_from(cores).unwrap_or(1).min(slots / 2).max(1);
        Ok(Arc::new(Database {
            catalog: Arc::default(),
            cluster,
            connectors,
            batch: session_state(runtime),
            clock,
            default_parallelism,
            catalog_contexts: Mutex::default(),
        }))
    }

    /// Stops all jobs. Errors of tasks that end now have nobody left to go to.
    pub async fn shutdown(&self) {
        if let Err(e) = self.cluster.shutdown().await {
            tracing::warn!(target: "millstream", "while stopping: {e}");
        }
    }

    /// The jobs.
    pub fn cluster(&self) -> &Arc<MiniCluster> {
        &self.cluster
    }

    /// Names.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Sources and sinks.
    pub fn connectors(&self) -> &Arc<ConnectorRegistry> {
        &self.connectors
    }

    /// The batch engine.
    pub fn batch(&self) -> &SessionState {
        &self.batch
    }

    /// Time.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Parallelism of jobs that say nothing.
    pub fn default_parallelism(&self) -> u32 {
        self.default_parallelism
    }

    /// Where catalog queries of a database run.
    pub(crate) fn catalog_context(&self, database: &str) -> Result<SessionContext> {
        if let Some(context) = self.catalog_contexts.lock().get(database) {
            return Ok(context.clone());
        }
        let context = crate::system::catalog_context(&self.catalog, database)?;
        self.catalog_contexts.lock().insert(database.to_owned(), context.clone());
        Ok(context)
    }

    /// Forgets what is kept for a database that was dropped.
    pub(crate) fn forget(&self, database: &str) {
        self.catalog_contexts.lock().remove(database);
    }
}
