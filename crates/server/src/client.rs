//! A SQL client over the wire, for the demo and the benchmarks: they see what users see.

use std::net::SocketAddr;

use millstream_types::{Error, Result, SqlState};
use tokio_postgres::{NoTls, SimpleQueryMessage};

/// A connection.
pub(crate) struct Client {
    client: tokio_postgres::Client,
}

impl Client {
    /// Connects as psql would.
    ///
    /// # Errors
    /// When the server refuses.
    #[allow(clippy::disallowed_methods)] // The connection's driver ends by itself when the client is dropped.
    pub(crate) async fn connect(addr: SocketAddr) -> Result<Client> {
        let config = format!("host={} port={} user=root dbname=dev", addr.ip(), addr.port());
        let (client, connection) = tokio_postgres::connect(&config, NoTls).await.map_err(from_postgres)?;
        tokio::spawn(connection);
        Ok(Client { client })
    }

    /// Runs statements; nothing comes back.
    ///
    /// # Errors
    /// The server's.
    pub(crate) async fn execute(&self, sql: &str) -> Result<()> {
        self.client.batch_execute(sql).await.map_err(from_postgres)
    }

    /// Runs a query: rows of text, NULL as `None`.
    ///
    /// # Errors
    /// The server's.
    pub(crate) async fn query(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let messages = self.client.simple_query(sql).await.map_err(from_postgres)?;
        let rows = messages.iter().filter_map(|m| match m {
            SimpleQueryMessage::Row(row) => Some((0..row.len()).map(|i| row.get(i).map(str::to_owned)).collect()),
            _ => None,
        });
        Ok(rows.collect())
    }

    /// The first column of the first row as a number; 0 without rows.
    ///
    /// # Errors
    /// The server's.
    pub(crate) async fn number(&self, sql: &str) -> Result<f64> {
        let rows = self.query(sql).await?;
        let first = rows.first().and_then(|r| r.first()).and_then(Option::as_deref);
        Ok(first.and_then(|t| t.parse().ok()).unwrap_or(0.0))
    }
}

fn from_postgres(e: tokio_postgres::Error) -> Error {
    match e.as_db_error() {
        Some(db) => {
            let state = SqlState::from_code(db.code().code()).unwrap_or(SqlState::INTERNAL_ERROR);
            let error = Error::new(state, db.message());
            let error = db.detail().map_or(error.clone(), |d| error.clone().with_detail(d));
            db.hint().map_or(error.clone(), |h| error.clone().with_hint(h))
        }
        None => Error::new(SqlState::IO_ERROR, e.to_string()),
    }
}
