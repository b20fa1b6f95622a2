//! The wire layer over the real engine.

use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, NoTls};

use crate::config::Config;
use crate::start::{RunningServer, start};

/// A server, a client of it, what drives the client, and the directory.
async fn connected() -> (RunningServer, Client, JoinSet<()>, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let server = start(&Config::ephemeral(directory.path())).await.unwrap();
    let (host, port) = (server.sql_addr.ip(), server.sql_addr.port());
    let (client, connection) = tokio_postgres::connect(&format!("host={host} port={port} user=root dbname=dev"), NoTls).await.unwrap();
    let mut driver = JoinSet::new();
    driver.spawn(async {
        // A server that stops says so here too.
        let _ = connection.await;
    });
    (server, client, driver, directory)
}

fn state<T>(result: Result<T, tokio_postgres::Error>) -> SqlState {
    let Err(error) = result else { panic!("an error was expected") };
    error.code().cloned().unwrap_or_else(|| panic!("no error of the server: {error:?}"))
}

async fn count(client: &Client) -> i64 {
    client.query_one("SELECT count(*) FROM v", &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn values_pass_in_binary_both_ways() {
    let (server, client, _driver, _directory) = connected().await;
    let columns = "id int PRIMARY KEY, b boolean, s smallint, g bigint, r real, d double precision, t text, y bytea";
    client.batch_execute(&format!("CREATE TABLE v ({columns})")).await.unwrap();
    let insert = client
        .prepare("INSERT INTO v VALUES ($1::int, $2::boolean, $3::smallint, $4::bigint, $5::real, $6::double precision, $7, $8::bytea)")
        .await
        .unwrap();
    let bytes: &[u8] = &[0, 255];
    let inserted = client.execute(&insert, &[&1_i32, &true, &i16::MIN, &i64::MAX, &0.1_f32, &f64::NAN, &"it's ä", &bytes]).await;
    assert_eq!(inserted.unwrap(), 1);
    let nulls = (None::<bool>, None::<i16>, None::<i64>, None::<f32>, None::<f64>, None::<&str>, None::<&[u8]>);
    client.execute(&insert, &[&2_i32, &nulls.0, &nulls.1, &nulls.2, &nulls.3, &nulls.4, &nulls.5, &nulls.6]).await.unwrap();
    let row = client.query_one("SELECT * FROM v WHERE id = $1", &[&1_i32]).await.unwrap();
    assert_eq!((row.get::<_, bool>(1), row.get::<_, i16>(2), row.get::<_, i64>(3)), (true, i16::MIN, i64::MAX));
    assert_eq!((row.get::<_, f32>(4), row.get::<_, &str>(6), row.get::<_, &[u8]>(7)), (0.1, "it's ä", bytes));
    assert!(row.get::<_, f64>(5).is_nan());
    let row = client.query_one("SELECT * FROM v WHERE id = $1", &[&2_i32]).await.unwrap();
    assert!(row.get::<_, Option<bool>>(1).is_none() && row.get::<_, Option<&str>>(6).is_none());
    assert_eq!(
        state(client.execute(&insert, &[&1_i32, &true, &1_i16, &1_i64, &0_f32, &0_f64, &"", &bytes]).await),
        SqlState::UNIQUE_VIOLATION
    );
    drop(client);
    server.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_transactions_portals_and_cancel() {
    let (server, mut client, _driver, _directory) = connected().await;
    client.batch_execute("CREATE TABLE v (id int PRIMARY KEY)").await.unwrap();
    // One message is one transaction.
    assert_eq!(state(client.batch_execute("INSERT INTO v VALUES (1); INSERT INTO v VALUES (1)").await), SqlState::UNIQUE_VIOLATION);
    assert_eq!(count(&client).await, 0);
    let rows: Vec<String> = (0..2_000).map(|n| format!("({n})")).collect();
    client.batch_execute(&format!("INSERT INTO v VALUES {}", rows.join(","))).await.unwrap();
    assert_eq!(count(&client).await, 2_000);
    // Pipelined statements fail alone.
    let wrong = client.query("SELECT 1 / (id - id) FROM v", &[]);
    let (first, second, third) = futures::join!(client.query("SELECT id FROM v", &[]), wrong, client.query("SELECT nope", &[]));
    assert_eq!((first.unwrap().len(), state(second), state(third)), (2_000, SqlState::DIVISION_BY_ZERO, SqlState::UNDEFINED_COLUMN));
    let transaction = client.transaction().await.unwrap();
    let portal = transaction.bind("SELECT id FROM v ORDER BY id", &[]).await.unwrap();
    let first = transaction.query_portal(&portal, 3).await.unwrap();
    let second = transaction.query_portal(&portal, 0).await.unwrap();
    assert_eq!((first.len(), second.len(), second[0].get::<_, i32>(0)), (3, 1_997, 3));
    assert_eq!(state(transaction.query("SELECT nope", &[]).await), SqlState::UNDEFINED_COLUMN);
    assert_eq!(state(transaction.query("SELECT 1", &[]).await), SqlState::IN_FAILED_SQL_TRANSACTION);
    transaction.rollback().await.unwrap();
    let token = client.cancel_token();
    let endless = client.query("SELECT count(*) FROM v a, v b, v c WHERE a.id + b.id <> c.id + 7", &[]);
    tokio::pin!(endless);
    // The statement is on its way once its first poll sent it; a cancel that comes before it runs does nothing, so it is repeated.
    let cancelled = loop {
        tokio::select! {
            biased;
            result = &mut endless => break result,
            sent = token.cancel_query(NoTls) => sent.unwrap(),
        }
    };
    assert_eq!(state(cancelled), SqlState::QUERY_CANCELED);
    // The last cancel may have been on its way still: it then meets what runs next.
    while client.query("SELECT 1", &[]).await.is_err_and(|e| e.code() == Some(&SqlState::QUERY_CANCELED)) {}
    assert_eq!(count(&client).await, 2_000);
    // A running statement hears that the server stops.
    let endless = client.query("SELECT count(*) FROM v a, v b, v c WHERE a.id + b.id <> c.id + 7", &[]);
    tokio::pin!(endless);
    assert!(futures::poll!(&mut endless).is_pending());
    let (result, stopped) = futures::join!(endless, server.shutdown());
    stopped.unwrap();
    let error = result.unwrap_err();
    assert!(error.is_closed() || error.code() == Some(&SqlState::ADMIN_SHUTDOWN), "{error:?}");
}
