//! One client connection, as sqllogictest wants a database to be.

use std::process::{Command, Output};
use std::time::Duration;

use async_trait::async_trait;
use sqllogictest::{AsyncDB, DBOutput};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_postgres::{Client, Config, NoTls};

use crate::column::ColumnLetter;
use crate::database_error::DatabaseError;
use crate::options::{Address, Setting};
use crate::results;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection. Dropping it closes the socket; [`AsyncDB::shutdown`] says goodbye first.
pub(crate) struct DatabaseConnection {
    client: Option<Client>,
    /// Moves the bytes; ends with the connection.
    driver: JoinSet<()>,
}

impl DatabaseConnection {
    /// Connects to `database` and sends the settings.
    pub(crate) async fn open(address: &Address, database: &str, settings: &[Setting]) -> Result<Self, DatabaseError> {
        let mut config = Config::new();
        config
            .host(&address.host)
            .port(address.port)
            .user(&address.user)
            .dbname(database)
            .application_name("millstream test")
            .connect_timeout(CONNECT_TIMEOUT);
        if let Some(password) = &address.password {
            config.password(password);
        }
        let (client, connection) = config.connect(NoTls).await.map_err(|error| DatabaseError::from_connect(&error))?;
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            // An error here also reaches the statement that waits for an answer, which reports it.
            connection.await.ok();
        });
        let mut connection = DatabaseConnection { client: Some(client), driver };
        for setting in settings {
            let statement = setting.statement();
            connection.execute(&statement).await.map_err(|e| DatabaseError::Connect(format!("{statement}: {e}")))?;
        }
        Ok(connection)
    }

    /// Runs a statement over the simple query protocol.
    pub(crate) async fn execute(&mut self, sql: &str) -> Result<DBOutput<ColumnLetter>, DatabaseError> {
        let Some(client) = &self.client else {
            return Err(DatabaseError::Lost("it was closed".into()));
        };
        match client.simple_query(sql).await {
            Ok(messages) => Ok(results::output(&messages)),
            Err(error) => Err(DatabaseError::from_statement(&error)),
        }
    }
}

#[async_trait]
impl AsyncDB for DatabaseConnection {
    type Error = DatabaseError;
    type ColumnType = ColumnLetter;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<ColumnLetter>, DatabaseError> {
        self.execute(sql).await
    }

    async fn shutdown(&mut self) {
        self.client = None;
        // A server that does not read the goodbye in time loses the socket with `driver`.
        timeout(GOODBYE_TIMEOUT, self.driver.join_next()).await.ok();
    }

    async fn sleep(duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    async fn run_command(command: Command) -> std::io::Result<Output> {
        let mut command = tokio::process::Command::from(command);
        command.kill_on_drop(true).output().await
    }

    fn error_sql_state(error: &DatabaseError) -> Option<String> {
        error.sqlstate().map(str::to_owned)
    }
}
