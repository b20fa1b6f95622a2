//! What needs several sessions at once, or a statement that is given up: no server in between, sessions straight on a database.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::sync::Arc;

use futures::{FutureExt, StreamExt};
use millstream_server::database::{Database, DatabaseConfig};
use millstream_server::pg::service::{QueryService, QuerySession, Response, StartupParams};
use millstream_server::session::Session;
use millstream_types::{Error, Result, SqlState};

async fn database() -> Arc<Database> {
    Database::open(DatabaseConfig { slots: Some(4), ..DatabaseConfig::default() }).await.unwrap()
}

async fn session(db: &Arc<Database>) -> Session {
    let params = StartupParams { user: "root".into(), ..StartupParams::default() };
    <Database as QueryService>::open(db, params).await.unwrap()
}

/// Runs one statement; the rows of its answer.
async fn run(session: &mut Session, sql: &str) -> Result<Vec<Vec<String>>> {
    let parsed = session.parse(sql)?;
    let mut rows = vec![];
    for statement in &parsed {
        match session.run(statement).await? {
            Response::Rows { mut stream, .. } | Response::RowsWithTag { mut stream, .. } => {
                while let Some(batch) = stream.next().await {
                    let batch = batch.map_err(millstream_functions::from_datafusion)?;
                    let columns: Vec<_> = batch.columns().iter().map(millstream_functions::to_text).collect::<Result<_>>()?;
                    rows.extend((0..batch.num_rows()).map(|row| columns.iter().map(|c| c.value(row).to_owned()).collect()));
                }
            }
            Response::Command { .. } | Response::Empty => (),
        }
    }
    Ok(rows)
}

async fn number(session: &mut Session, sql: &str) -> i64 {
    match run(session, sql).await.unwrap().as_slice() {
        [row] => row[0].parse().unwrap(),
        other => panic!("{sql}: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_creates_that_race_for_a_name_one_wins() {
    let db = database().await;
    for round in 0..5 {
        let racing = (0..6).map(|i| {
            let db = Arc::clone(&db);
            async move {
                let mut session = session(&db).await;
                let kinds = [format!("CREATE TABLE r{round} (a int)"), format!("CREATE MATERIALIZED VIEW r{round} AS SELECT 1 AS a")];
                run(&mut session, &kinds[i % 2]).await
            }
        });
        let ended: Vec<Result<_>> = futures::future::join_all(racing.map(tokio::spawn)).await.into_iter().map(|r| r.unwrap()).collect();
        assert_eq!(ended.iter().filter(|r| r.is_ok()).count(), 1, "{ended:?}");
        let states: Vec<_> = ended.iter().filter_map(|r| r.as_ref().err().map(Error::state)).collect();
        assert!(states.iter().all(|s| *s == SqlState::DUPLICATE_TABLE), "{states:?}");
    }
    assert_eq!(db.cluster().jobs().list().len(), 5, "losers left no jobs");
    db.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_increments_are_never_lost() {
    let db = database().await;
    let mut first = session(&db).await;
    run(&mut first, "CREATE TABLE t (k int PRIMARY KEY, v bigint); INSERT INTO t VALUES (1, 0)").await.unwrap();
    let writers = (0..4).map(|_| {
        let db = Arc::clone(&db);
        tokio::spawn(async move {
            let mut session = session(&db).await;
            for _ in 0..25 {
                run(&mut session, "UPDATE t SET v = v + 1 WHERE k = 1").await.unwrap();
            }
        })
    });
    for writer in futures::future::join_all(writers).await {
        writer.unwrap();
    }
    assert_eq!(number(&mut first, "SELECT v FROM t").await, 100);
    db.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn transactions_that_conflict_retry_to_the_right_sum() {
    let db = database().await;
    let mut first = session(&db).await;
    run(&mut first, "CREATE TABLE t (k int PRIMARY KEY, v bigint); INSERT INTO t VALUES (1, 0), (2, 0)").await.unwrap();
    let writers = (0..3).map(|_| {
        let db = Arc::clone(&db);
        tokio::spawn(async move {
            let mut session = session(&db).await;
            let mut done = 0;
            while done < 10 {
                // The conflict may show in a statement as well as at COMMIT.
                let transfer = async {
                    run(&mut session, "BEGIN").await?;
                    run(&mut session, "UPDATE t SET v = v + 1 WHERE k = 1").await?;
                    run(&mut session, "UPDATE t SET v = v - 1 WHERE k = 2").await?;
                    run(&mut session, "COMMIT").await
                };
                match transfer.await {
                    Ok(_) => done += 1,
                    Err(e) => {
                        assert_eq!(e.state(), SqlState::SERIALIZATION_FAILURE, "{e}");
                        run(&mut session, "ROLLBACK").await.unwrap();
                    }
                }
            }
        })
    });
    for writer in futures::future::join_all(writers).await {
        writer.unwrap();
    }
    assert_eq!(number(&mut first, "SELECT v FROM t WHERE k = 1").await, 30);
    assert_eq!(number(&mut first, "SELECT sum(v)::bigint FROM t").await, 0);
    db.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_reader_sees_an_older_state_than_one_before() {
    let db = database().await;
    let mut first = session(&db).await;
    run(&mut first, "CREATE TABLE t (k int PRIMARY KEY)").await.unwrap();
    run(&mut first, "CREATE MATERIALIZED VIEW a AS SELECT count(*) AS n FROM t").await.unwrap();
    run(&mut first, "CREATE MATERIALIZED VIEW b AS SELECT n FROM a WHERE n >= 0").await.unwrap();
    let newest = Arc::new(std::sync::atomic::AtomicI64::new(0));
    let clients = (0..4).map(|client| {
        let (db, newest) = (Arc::clone(&db), Arc::clone(&newest));
        tokio::spawn(async move {
            let mut session = session(&db).await;
            for i in 0..50 {
                run(&mut session, &format!("INSERT INTO t VALUES ({})", client * 1000 + i)).await.unwrap();
                let seen_before = newest.load(std::sync::atomic::Ordering::SeqCst);
                let n = number(&mut session, "SELECT n FROM b").await;
                assert!(n >= seen_before, "{n} after {seen_before}");
                newest.fetch_max(n, std::sync::atomic::Ordering::SeqCst);
            }
        })
    });
    for client in futures::future::join_all(clients).await {
        client.unwrap();
    }
    assert_eq!(number(&mut first, "SELECT n FROM b").await, 200);
    db.shutdown().await;
}

/// Polls a statement some times, then gives it up.
async fn give_up_after(session: &mut Session, sql: &str, polls: usize) {
    let parsed = session.parse(sql).unwrap();
    let mut running = Box::pin(session.run(&parsed[0]));
    for _ in 0..polls {
        if (&mut running).now_or_never().is_some() {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn statements_can_be_given_up_at_any_point() {
    let db = database().await;
    let mut s = session(&db).await;
    run(&mut s, "CREATE TABLE t (k int PRIMARY KEY, v int); INSERT INTO t SELECT i AS k, 1 AS v FROM generate_series(1, 1000) AS g(i)")
        .await
        .unwrap();
    for polls in [0, 1, 2, 3, 5, 8, 13, 30] {
        give_up_after(&mut s, "CREATE MATERIALIZED VIEW m AS SELECT v, count(*) AS n FROM t GROUP BY v", polls).await;
        // Made or not, the name can be used again and nothing is left of a view that was not made.
        run(&mut s, "DROP MATERIALIZED VIEW IF EXISTS m").await.unwrap();
        run(&mut s, "CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM t").await.unwrap();
        assert_eq!(number(&mut s, "SELECT n FROM m").await, 1000);
        give_up_after(&mut s, "DROP MATERIALIZED VIEW m", polls).await;
        run(&mut s, "DROP MATERIALIZED VIEW IF EXISTS m").await.unwrap();
        give_up_after(&mut s, "UPDATE t SET v = v + 1", polls).await;
        give_up_after(&mut s, "SELECT count(*) FROM t", polls).await;
        let spread = number(&mut s, "SELECT max(v) - min(v) FROM t").await;
        assert_eq!(spread, 0, "an UPDATE is done whole or not at all");
    }
    // Jobs of views that were given up end on their own; a read waits for nothing of theirs.
    for _ in 0..1000 {
        if db.cluster().jobs().list().len() == 1 {
            break;
        }
        tokio::task::yield_now().await;
        run(&mut s, "SELECT 1").await.unwrap();
    }
    assert_eq!(db.cluster().jobs().list().len(), 1);
    db.shutdown().await;
}

#[tokio::test]
async fn hostile_statements_end_with_an_error() {
    let db = database().await;
    let mut s = session(&db).await;
    run(&mut s, "CREATE TABLE t (k int PRIMARY KEY); INSERT INTO t VALUES (1), (9999)").await.unwrap();
    let deep = format!("SELECT {}1{}", "(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(run(&mut s, &deep).await.unwrap_err().state(), SqlState::STATEMENT_TOO_COMPLEX);
    let nots = format!("SELECT {} true", "NOT ".repeat(10_000));
    assert_eq!(run(&mut s, &nots).await.unwrap_err().state(), SqlState::STATEMENT_TOO_COMPLEX);
    let list: Vec<String> = (0..10_000).map(|i| i.to_string()).collect();
    assert_eq!(number(&mut s, &format!("SELECT count(*) FROM t WHERE k IN ({})", list.join(", "))).await, 2);
    let columns: Vec<String> = (0..10_000).map(|i| format!("c{i} int")).collect();
    let wide = format!("CREATE TABLE wide ({})", columns.join(", "));
    assert_eq!(run(&mut s, &wide).await.unwrap_err().state(), SqlState::TOO_MANY_COLUMNS);
    let ands = format!("SELECT count(*) FROM t WHERE {}", vec!["k > 0"; 200].join(" AND "));
    assert_eq!(number(&mut s, &ands).await, 2);
    let rows: Vec<String> = (10_000..20_000).map(|i| format!("({i})")).collect();
    run(&mut s, &format!("INSERT INTO t VALUES {}", rows.join(", "))).await.unwrap();
    assert_eq!(number(&mut s, "SELECT count(*) FROM t").await, 10_002);
    db.shutdown().await;
}
