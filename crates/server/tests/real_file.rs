//! A real CSV file, as its authors wrote it, goes through a streaming job into a Parquet file whose rows are those of the batch query.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use millstream_server::config::Config;
use millstream_server::start;
use millstream_types::JobId;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

const QUERY: &str = "SELECT species, island, nullif(bill_length_mm, 'NA')::double precision AS bill_mm,
  nullif(body_mass_g, 'NA')::int AS grams, coalesce(nullif(sex, 'NA'), 'unknown') AS sex, year::int AS year
  FROM penguins WHERE island <> 'Dream' OR year::int > 2007";

async fn rows(client: &Client, query: &str) -> Vec<Vec<Option<String>>> {
    let messages = client.simple_query(query).await.unwrap_or_else(|e| panic!("{query}: {e:?}"));
    let mut rows: Vec<Vec<Option<String>>> = messages
        .iter()
        .filter_map(|m| match m {
            SimpleQueryMessage::Row(row) => Some((0..row.len()).map(|i| row.get(i).map(str::to_owned)).collect()),
            _ => None,
        })
        .collect();
    rows.sort();
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn a_csv_file_goes_through_a_job_into_a_parquet_file() {
    let directory = tempfile::tempdir().unwrap();
    let server = start::start(&Config::ephemeral(directory.path())).await.unwrap();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/penguins.csv");
    std::fs::copy(data, directory.path().join("files/penguins.csv")).unwrap();
    let config = format!("host=127.0.0.1 port={} user=root dbname=dev", server.sql_addr.port());
    let (client, connection) = tokio_postgres::connect(&config, NoTls).await.unwrap();
    #[allow(clippy::disallowed_methods)] // The connection's driver ends with its client.
    tokio::spawn(connection);
    let columns =
        "species text, island text, bill_length_mm text, bill_depth_mm text, flipper_length_mm text, body_mass_g text, sex text, year text";
    for statement in [
        &format!("CREATE SOURCE penguins ({columns}) WITH (connector = 'filesystem', path = 'penguins.csv', format = 'csv')"),
        "CREATE SINK out (species text, island text, bill_mm double precision, grams int, sex text, year int)
           WITH (connector = 'filesystem', path = 'out.parquet', format = 'parquet')",
        &format!("CREATE STREAMING JOB convert WITH (parallelism = 1) AS INSERT INTO out {QUERY}"),
    ] {
        client.batch_execute(statement).await.unwrap_or_else(|e| panic!("{statement}: {e:?}"));
    }
    let jobs = server.database().cluster().jobs();
    let job: JobId = jobs.list().iter().find(|j| j.name == "convert").unwrap().job;
    assert_eq!(jobs.wait_finished(job).await.unwrap().to_string(), "FINISHED");
    client
        .batch_execute("CREATE SOURCE converted WITH (connector = 'filesystem', path = 'out.parquet', format = 'parquet')")
        .await
        .unwrap();
    let expected = rows(&client, QUERY).await;
    assert!(expected.len() > 250, "{} rows", expected.len());
    assert_eq!(rows(&client, "SELECT * FROM converted").await, expected);
    server.shutdown().await.unwrap();
}
