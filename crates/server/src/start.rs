//! Starting and stopping a server: one process with a JobManager and a TaskManager.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use millstream_types::{Error, Result, SqlState};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::config::{Config, StartArgs};
use crate::database::{Database, DatabaseConfig};

/// A server that accepts clients.
pub struct RunningServer {
    /// Where SQL clients connect.
    pub sql_addr: SocketAddr,
    /// Where the HTTP server answers.
    pub http_addr: SocketAddr,
    database: Arc<Database>,
    stop: watch::Sender<bool>,
    listeners: Vec<JoinHandle<Result<()>>>,
}

/// `millstream start`: runs until Ctrl-C or SIGTERM, then stops in order.
///
/// # Errors
/// Whatever keeps it from starting, or a listener that failed.
pub async fn run(args: StartArgs) -> Result<()> {
    let filter = tracing_subscriber::EnvFilter::try_from_env("MILLSTREAM_LOG").unwrap_or_else(|_| "warn,millstream=info".into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let config = Config::resolve(args)?;
    if config.insecure {
        tracing::warn!(target: "millstream", "insecure: anyone who reaches {} or {} can do anything here", config.sql_addr, config.http_addr);
    }
    let mut terminate = signal(SignalKind::terminate())?;
    let server = start(&config).await?;
    let port = server.sql_addr.port();
    tracing::info!(target: "millstream", "ready: psql -h {} -p {port} -d dev -U root (HTTP on {})", server.sql_addr.ip(), server.http_addr);
    tokio::select! {
        ended = tokio::signal::ctrl_c() => ended?,
        _ = terminate.recv() => (),
    }
    tracing::info!(target: "millstream", "stopping");
    server.shutdown().await?;
    tracing::info!(target: "millstream", "stopped");
    Ok(())
}

/// Starts a server. When it returns, psql gets answers.
///
/// # Errors
/// A port that is taken, a directory that cannot be written, by name.
pub async fn start(config: &Config) -> Result<RunningServer> {
    // Ports first: a second server must fail before it touches the data directory of the first.
    let sql = bind("sql_addr", config.sql_addr).await?;
    let http = bind("http_addr", config.http_addr).await?;
    let files = config.data_dir.join("files");
    writable(&files)?;
    let mut file_roots = vec![files];
    for root in &config.allow_files {
        if !root.is_dir() {
            return Err(Error::new(SqlState::CONFIG_FILE_ERROR, format!("allow_files: {} is no directory", root.display())));
        }
        file_roots.push(root.clone());
    }
    let (sql_addr, http_addr) = (sql.local_addr()?, http.local_addr()?);
    let database = Database::open(DatabaseConfig {
        data_dir: config.data_dir.clone(),
        file_roots,
        slots: config.slots,
        managed_memory: config.managed_memory,
        durable: true,
        ..DatabaseConfig::default()
    })
    .await?;
    let (stop, stopped) = watch::channel(false);
    let listeners = vec![
        spawn(crate::pg::serve(sql, Arc::clone(&database), stopped.clone())),
        spawn(crate::http::serve(http, Arc::clone(&database), stopped)),
    ];
    Ok(RunningServer { sql_addr, http_addr, database, stop, listeners })
}

/// The listeners live as long as the server, which joins them in [`RunningServer::shutdown`].
#[allow(clippy::disallowed_methods)]
fn spawn(future: impl Future<Output = Result<()>> + Send + 'static) -> JoinHandle<Result<()>> {
    tokio::spawn(future)
}

impl RunningServer {
    /// The database inside.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// Stops in order: no new clients, running statements end with 57P01, jobs stop, then everything is closed.
    ///
    /// # Errors
    /// What a listener failed with.
    pub async fn shutdown(self) -> Result<()> {
        let _ = self.stop.send(true);
        let mut result = Ok(());
        for listener in self.listeners {
            result = match listener.await {
                Ok(ended) => result.and(ended),
                Err(e) => result.and(Err(Error::internal(e))),
            };
        }
        self.database.shutdown().await;
        result
    }
}

async fn bind(key: &str, addr: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(addr).await.map_err(|e| {
        let what = match e.kind() {
            std::io::ErrorKind::AddrInUse => "the port is taken".to_owned(),
            _ => e.to_string().to_lowercase(),
        };
        let flag = key.replace('_', "-");
        Error::new(SqlState::CONFIG_FILE_ERROR, format!("cannot listen on {addr} ({key}): {what}"))
            .with_hint(format!("stop the other program or choose another address with --{flag}"))
    })
}

/// Makes the directory and proves that files can be made in it.
fn writable(dir: &Path) -> Result<()> {
    let failed = |e: std::io::Error| {
        Error::new(SqlState::CONFIG_FILE_ERROR, format!("cannot write to {}: {}", dir.display(), e.to_string().to_lowercase()))
            .with_hint("choose another directory with --data-dir")
    };
    std::fs::create_dir_all(dir).map_err(failed)?;
    tempfile::tempfile_in(dir).map(drop).map_err(failed)
}
