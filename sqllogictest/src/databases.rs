//! A database per file: created from the admin connection, and dropped whatever happens.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

use crate::connection::DatabaseConnection;
use crate::database_error::DatabaseError;
use crate::error::RunnerError;
use crate::options::{Address, Setting};

/// Numbers the databases of this process, so that suites of one test binary do not meet.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// How many names may be taken (by runs with `--keep` of an earlier process with our id) before giving up.
const MAX_TAKEN_NAMES: usize = 1_000;

const UNDEFINED_DATABASE: &str = "3D000";
const DUPLICATE_DATABASE: &str = "42P04";
const SYNTAX_ERROR: &str = "42601";

/// The databases of a run.
pub(crate) struct Databases<'a> {
    address: &'a Address,
    settings: &'a [Setting],
    admin: Mutex<Admin>,
}

struct Admin {
    connection: DatabaseConnection,
    /// Created, or about to be.
    live: BTreeSet<String>,
}

impl<'a> Databases<'a> {
    /// Connects to the admin database.
    pub(crate) async fn connect(address: &'a Address, settings: &'a [Setting]) -> Result<Self, RunnerError> {
        let connection = DatabaseConnection::open(address, &address.database, settings).await.map_err(|error| {
            let reason = match error {
                DatabaseError::Connect(reason) => reason,
                other => other.to_string(),
            };
            RunnerError::Connect { address: Box::new(address.clone()), reason }
        })?;
        Ok(Databases { address, settings, admin: Mutex::new(Admin { connection, live: BTreeSet::new() }) })
    }

    /// Creates a database with a new name.
    pub(crate) async fn create(&self) -> Result<String, DatabaseError> {
        let mut admin = self.admin.lock().await;
        let mut taken = 0;
        loop {
            let name = format!("slt_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            // Before the statement: a run that is interrupted now must drop it all the same.
            admin.live.insert(name.clone());
            let Err(error) = self.execute(&mut admin, &format!("CREATE DATABASE {name}")).await else {
                return Ok(name);
            };
            admin.live.remove(&name);
            taken += 1;
            if error.sqlstate() != Some(DUPLICATE_DATABASE) || taken == MAX_TAKEN_NAMES {
                return Err(error);
            }
        }
    }

    /// Opens a connection to one of them.
    pub(crate) async fn open(&self, name: &str) -> Result<DatabaseConnection, DatabaseError> {
        DatabaseConnection::open(self.address, name, self.settings).await
    }

    /// Drops one and all that is in it.
    pub(crate) async fn drop(&self, name: &str) -> Result<(), DatabaseError> {
        let mut admin = self.admin.lock().await;
        admin.live.remove(name);
        let mut dropped = self.execute(&mut admin, &format!("DROP DATABASE {name} CASCADE")).await;
        if sqlstate(&dropped) == Some(SYNTAX_ERROR) {
            // PostgreSQL, against which the same suites may run, drops with all contents and wants to hear about open sessions.
            dropped = self.execute(&mut admin, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
        }
        match sqlstate(&dropped) {
            Some(UNDEFINED_DATABASE) => Ok(()),
            _ => dropped,
        }
    }

    /// Drops what is left when files were stopped half way. Says which could not be dropped, and why.
    pub(crate) async fn drop_all(&self) -> Vec<String> {
        let live = self.admin.lock().await.live.clone();
        let mut left = Vec::new();
        for name in live {
            if let Err(error) = self.drop(&name).await {
                left.push(format!("the database {name} could not be dropped: {error}"));
            }
        }
        left
    }

    /// Tries once more on a new connection if the server has been restarted, which a suite may do with a `system` record.
    async fn execute(&self, admin: &mut Admin, sql: &str) -> Result<(), DatabaseError> {
        match admin.connection.execute(sql).await {
            Err(DatabaseError::Lost(_)) => {
                admin.connection = self.open(&self.address.database).await?;
                admin.connection.execute(sql).await.map(|_| ())
            }
            result => result.map(|_| ()),
        }
    }
}

fn sqlstate(result: &Result<(), DatabaseError>) -> Option<&str> {
    result.as_ref().err().and_then(DatabaseError::sqlstate)
}
