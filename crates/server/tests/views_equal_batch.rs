//! Random inserts, updates and deletes over the wire: after each step every view equals the batch query over the same rows.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use millstream_server::config::Config;
use millstream_server::start;
use proptest::prelude::*;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// View name and its query; the query is what the batch engine is asked.
const VIEWS: [(&str, &str); 9] = [
    ("filtered", "SELECT k, v + 1 AS next FROM t WHERE v IS NULL OR v > 3"),
    ("grouped", "SELECT g, count(*) AS n, sum(v) AS s, avg(v) AS a, min(v) AS low, max(v) AS high FROM t GROUP BY g"),
    ("distinct_counts", "SELECT g, count(DISTINCT v) AS d, count(v) FILTER (WHERE v > 5) AS f, sum(DISTINCT v) AS s FROM t GROUP BY g"),
    ("flags", "SELECT g, bool_and(v > 2) AS e, bool_or(v > 8) AS o FROM t GROUP BY g"),
    ("whole", "SELECT count(*) AS n, sum(v) AS s, max(g) AS m FROM t"),
    ("groups", "SELECT DISTINCT g FROM t"),
    ("big", "SELECT g, sum(v) AS s FROM t GROUP BY g HAVING count(*) > 2"),
    ("united", "SELECT v AS x FROM t UNION ALL SELECT k FROM t WHERE k % 2 = 0"),
    ("outer_view", "SELECT n, count(*) AS groups FROM grouped GROUP BY n"),
];

#[derive(Debug, Clone)]
enum Step {
    Insert(Vec<(i64, Option<i64>, Option<u8>)>),
    Update(i64, Option<i64>),
    Move(u8, Option<u8>),
    Delete(i64),
    Upsert(i64, i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let value = || prop::option::weighted(0.85, 0i64..12);
    let group = || prop::option::weighted(0.85, 0u8..4);
    let step = prop_oneof![
        3 => prop::collection::vec((0i64..40, value(), group()), 1..6).prop_map(Step::Insert),
        2 => (0i64..40, value()).prop_map(|(k, v)| Step::Update(k, v)),
        1 => (0u8..4, group()).prop_map(|(from, to)| Step::Move(from, to)),
        2 => (0i64..40).prop_map(Step::Delete),
        1 => (0i64..40, 0i64..12).prop_map(|(k, v)| Step::Upsert(k, v)),
    ];
    prop::collection::vec(step, 1..12)
}

fn literal<T: ToString>(value: &Option<T>) -> String {
    value.as_ref().map_or("NULL".into(), ToString::to_string)
}

fn text<T: ToString>(value: &Option<T>) -> String {
    value.as_ref().map_or("NULL".into(), |v| format!("'g{}'", v.to_string()))
}

fn sql(step: &Step) -> String {
    match step {
        Step::Insert(rows) => {
            let rows: Vec<_> = rows.iter().map(|(k, v, g)| format!("({k}, {}, {})", literal(v), text(g))).collect();
            format!("INSERT INTO t VALUES {} ON CONFLICT DO NOTHING", rows.join(", "))
        }
        Step::Update(k, v) => format!("UPDATE t SET v = {} WHERE k >= {k} AND k < {k} + 3", literal(v)),
        Step::Move(from, to) => format!("UPDATE t SET g = {} WHERE g = 'g{from}'", text(to)),
        Step::Delete(k) => format!("DELETE FROM t WHERE k >= {k} AND k < {k} + 2"),
        Step::Upsert(k, v) => {
            format!("INSERT INTO t VALUES ({k}, {v}, 'up') ON CONFLICT (k) DO UPDATE SET v = coalesce(t.v, 0) + excluded.v")
        }
    }
}

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

async fn connect(addr: std::net::SocketAddr) -> Client {
    let config = format!("host={} port={} user=root dbname=dev", addr.ip(), addr.port());
    let (client, connection) = tokio_postgres::connect(&config, NoTls).await.unwrap();
    #[allow(clippy::disallowed_methods)] // The connection's driver ends with its client.
    tokio::spawn(connection);
    client
}

async fn create_views(client: &Client) {
    for (name, query) in VIEWS {
        client.batch_execute(&format!("CREATE MATERIALIZED VIEW {name} AS {query}")).await.unwrap_or_else(|e| panic!("{name}: {e:?}"));
    }
}

#[test]
fn every_view_equals_the_batch_query_after_every_step() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let server = runtime.block_on(start::start(&Config::ephemeral(directory.path()))).unwrap();
    let addr = server.sql_addr;
    let config = ProptestConfig { cases: 12, max_shrink_iters: 40, ..ProptestConfig::default() };
    let strategy = (steps(), steps(), 1u32..4);
    proptest!(config, |((before, after, parallelism) in strategy)| {
        runtime.block_on(async {
            let client = connect(addr).await;
            client.batch_execute("DROP TABLE IF EXISTS t CASCADE").await.unwrap();
            client.batch_execute(&format!("SET parallelism = {parallelism}")).await.unwrap();
            client.batch_execute("CREATE TABLE t (k bigint PRIMARY KEY, v bigint, g text)").await.unwrap();
            // Half of the rows are there before the views, so that a backfill is in the game.
            for step in &before {
                client.batch_execute(&sql(step)).await.unwrap();
            }
            create_views(&client).await;
            for step in [None].into_iter().chain(after.iter().map(Some)) {
                if let Some(step) = step {
                    client.batch_execute(&sql(step)).await.unwrap();
                }
                for (name, query) in VIEWS {
                    let view = rows(&client, &format!("SELECT * FROM {name}")).await;
                    assert_eq!(view, rows(&client, query).await, "{name} after {step:?}");
                }
            }
        });
    });
    runtime.block_on(server.shutdown()).unwrap();
}

/// Writers add to a counter, readers read it through a view on a view: nobody sees an older state than anybody before.
#[test]
fn four_clients_never_see_time_go_back_and_lose_no_update() {
    const ROUNDS: i64 = 60;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let server = runtime.block_on(start::start(&Config::ephemeral(directory.path()))).unwrap();
    let addr = server.sql_addr;
    runtime.block_on(async {
        let setup = connect(addr).await;
        setup.batch_execute("CREATE TABLE c (k bigint PRIMARY KEY, v bigint)").await.unwrap();
        setup.batch_execute("INSERT INTO c VALUES (1, 0)").await.unwrap();
        setup.batch_execute("CREATE MATERIALIZED VIEW s AS SELECT sum(v) AS v FROM c").await.unwrap();
        setup.batch_execute("CREATE MATERIALIZED VIEW o AS SELECT v FROM s").await.unwrap();
        let newest = std::sync::atomic::AtomicI64::new(0);
        let client = |writes: bool| {
            let newest = &newest;
            async move {
                use std::sync::atomic::Ordering::SeqCst;
                let client = connect(addr).await;
                for _ in 0..ROUNDS {
                    if writes {
                        client.batch_execute("UPDATE c SET v = v + 1 WHERE k = 1").await.unwrap();
                    }
                    let before = newest.load(SeqCst);
                    let seen: i64 = rows(&client, "SELECT v FROM o").await[0][0].as_ref().unwrap().parse().unwrap();
                    assert!(seen >= before, "saw {seen} after somebody had seen {before}");
                    newest.fetch_max(seen, SeqCst);
                }
            }
        };
        tokio::join!(client(true), client(true), client(false), client(false));
        assert_eq!(rows(&setup, "SELECT v FROM o").await, [[Some((2 * ROUNDS).to_string())]]);
    });
    runtime.block_on(server.shutdown()).unwrap();
}
