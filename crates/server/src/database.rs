//! The database: catalog, cluster, connectors and the batch engine, for all sessions.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::execution::context::SessionState;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionContext;
use millstream_cluster::{ClusterConfig, ClusterServices, Durability, Isolation, MiniCluster, TableInfo};
use millstream_connectors::ConnectorRegistry;
use millstream_functions::from_datafusion;
use millstream_planner::batch::session_state;
use millstream_sql::catalog::{ObjectKind, TableDescriptor};
use millstream_state::log::{Directory, FileLog};
use millstream_state::{CheckpointStorage, MetadataStore, RocksMetadata};
use millstream_types::{Clock, JobId, ObjectId, Result, SystemClock};
use parking_lot::Mutex;

use crate::catalog::{Catalog, CatalogState, DurableStore};
use crate::query_threads::QueryThreads;

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
    /// Everything survives in the data directory; otherwise nothing does.
    pub durable: bool,
}

impl Default for DatabaseConfig {
    fn default() -> Self {
        DatabaseConfig {
            data_dir: PathBuf::new(),
            file_roots: vec![],
            slots: None,
            managed_memory: 512 << 20,
            read_memory: 1 << 30,
            durable: false,
        }
    }
}

/// Everything that sessions share.
pub struct Database {
    catalog: Arc<Catalog>,
    cluster: Arc<MiniCluster>,
    connectors: Arc<ConnectorRegistry>,
    batch: SessionState,
    query_threads: QueryThreads,
    clock: Arc<dyn Clock>,
    default_parallelism: u32,
    /// Contexts of catalog queries by database, made when they are first needed.
    catalog_contexts: Mutex<HashMap<String, SessionContext>>,
}

/// What survives in a data directory.
fn stores(config: &DatabaseConfig, log_bytes: usize) -> Result<(Catalog, Option<Durability>)> {
    let metadata: Arc<dyn MetadataStore> = Arc::new(RocksMetadata::open(&config.data_dir.join("metadata"))?);
    let storage = CheckpointStorage::local(&config.data_dir.join("checkpoints"))?;
    let files = Arc::new(Directory::open(&config.data_dir.join("log"))?);
    let log = Arc::new(FileLog::open(files, log_bytes)?);
    let catalog = Catalog::new(DurableStore::open(Arc::clone(&metadata))?);
    Ok((catalog, Some(Durability { metadata, storage, log })))
}

/// Tables take changes when they have all that is in the log. One whose job cannot go on takes none.
async fn open_tables(objects: &CatalogState, cluster: &MiniCluster) -> Result<()> {
    for object in objects.all_objects() {
        let ObjectKind::Table(table) = &object.kind else { continue };
        let info = table_info(object.id, &object.name, table);
        match cluster.epochs().read(&[info.job], Isolation::StrictSerializable).await {
            Ok(_) => cluster.tables().register_table(info)?,
            Err(error) => tracing::error!(target: "millstream", table = object.name, %error, "the table takes no changes"),
        }
    }
    Ok(())
}

/// A table as the writer is told of it.
pub(crate) fn table_info(id: ObjectId, name: &str, table: &TableDescriptor) -> TableInfo {
    TableInfo {
        table: id,
        job: JobId(id.0),
        name: name.to_owned(),
        schema: table.stored_schema(),
        key: table.primary_key.clone(),
        not_null: (0..table.columns.len()).filter(|&i| table.columns[i].not_null).collect(),
        hidden_row_id: table.hidden_row_id,
    }
}

impl Database {
    /// Opens the database of a data directory, where every job goes on, or an empty one.
    ///
    /// # Errors
    /// 55006 if another server has the directory; XX001, 58030 if it cannot be read; when the cluster cannot start.
    pub async fn open(config: DatabaseConfig) -> Result<Arc<Database>> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let connectors = Arc::new(ConnectorRegistry::new(config.file_roots.clone()));
        let defaults = ClusterConfig::default();
        let slots = config.slots.unwrap_or(defaults.slots);
        let cluster_config = ClusterConfig { slots, managed_memory: config.managed_memory, ..defaults };
        let (catalog, durability) = if config.durable { stores(&config, cluster_config.log_bytes)? } else { (Catalog::default(), None) };
        let catalog = Arc::new(catalog);
        let objects = catalog.snapshot();
        let jobs = objects.all_objects().map(|o| JobId(o.id.0)).collect();
        let services = ClusterServices { connectors: Arc::clone(&connectors) as _, clock: Arc::clone(&clock), durability };
        let cluster = MiniCluster::start(cluster_config, services, &jobs).await?;
        open_tables(&objects, &cluster).await?;
        let pool = Arc::new(FairSpillPool::new(config.read_memory));
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc().map_err(from_datafusion)?;
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let default_parallelism = u32::try_from(cores).unwrap_or(1).min(slots / 2).max(1);
        Ok(Arc::new(Database {
            catalog,
            cluster,
            connectors,
            batch: session_state(runtime),
            query_threads: QueryThreads::start()?,
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

    /// Where the plans of ad hoc reads run.
    pub(crate) fn query_threads(&self) -> &QueryThreads {
        &self.query_threads
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
