//! What clients do while the server lives, and what they have seen when it is gone.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::JoinSet;

use super::Random;
use super::oracle::{APPENDERS, number};
use super::server::{Server, connect};

pub(crate) const ACCOUNTS: u64 = 40;
pub(crate) const MONEY: i64 = 100;
pub(crate) const EVENTS: u64 = 300_000;

/// What the clients of one life of the server know.
#[derive(Default)]
pub(crate) struct Seen {
    /// By appender: the last number that was acknowledged.
    pub(crate) acknowledged: Vec<i64>,
    /// Answers that cannot be.
    pub(crate) wrong: Vec<String>,
}

/// An appender's number with what was acknowledged; answers that cannot be.
type Ended = (Option<(usize, i64)>, Vec<String>);

pub(crate) struct Clients {
    stop: Arc<AtomicBool>,
    tasks: JoinSet<Ended>,
    before: Vec<i64>,
}

pub(crate) async fn set_up(server: &Server) -> Result<(), String> {
    let client = connect(server.address).await.map_err(|e| e.to_string())?;
    for statement in [
        "CREATE TABLE accounts (id bigint PRIMARY KEY, balance bigint)",
        "CREATE TABLE appended (client bigint, n bigint)",
        "CREATE MATERIALIZED VIEW total AS SELECT sum(balance) AS total, count(*) AS n FROM accounts",
        "CREATE MATERIALIZED VIEW per_client AS SELECT client, count(*) AS n, max(n) AS last FROM appended GROUP BY client",
        "CREATE MATERIALIZED VIEW clients AS SELECT count(*) AS clients, sum(n) AS n FROM per_client",
        &format!("INSERT INTO accounts SELECT g, {MONEY} FROM generate_series(1, {ACCOUNTS}) AS x(g)"),
        "CREATE SOURCE numbers (n bigint) WITH (connector = 'datagen', rows_per_second = '2000', 'fields.n.kind' = 'sequence')",
        "CREATE SINK out (n bigint) WITH (connector = 'filesystem', path = 'out', format = 'json')",
        "CREATE STREAMING JOB numbers_out AS INSERT INTO out SELECT n FROM numbers",
        &format!("CREATE SOURCE bid WITH (connector = 'nexmark', table = 'bid', events = '{EVENTS}', rate = '20000')"),
        "CREATE MATERIALIZED VIEW bids AS SELECT channel, count(*) AS n, max(price) AS highest FROM bid GROUP BY channel",
    ] {
        client.batch_execute(statement).await.map_err(|e| format!("{statement}: {e:?}"))?;
    }
    Ok(())
}

impl Clients {
    /// Clients that go on until the server is gone.
    pub(crate) fn start(server: &Server, acknowledged: Vec<i64>, seed: u64) -> Clients {
        let stop = Arc::new(AtomicBool::new(false));
        let mut tasks = JoinSet::new();
        let mut random = Random(seed);
        for _ in 0..2 {
            tasks.spawn(transfer(server.address, Random(random.next()), Arc::clone(&stop)));
        }
        for (client, last) in acknowledged.iter().enumerate() {
            tasks.spawn(append(server.address, client, *last, Arc::clone(&stop)));
        }
        tasks.spawn(read(server.address, Arc::clone(&stop)));
        tasks.spawn(define(server.address, random.below(1 << 40), Arc::clone(&stop)));
        Clients { stop, tasks, before: acknowledged }
    }

    /// Waits for their end.
    pub(crate) async fn stop(mut self) -> Seen {
        self.stop.store(true, Ordering::Relaxed);
        let mut seen = Seen { acknowledged: self.before.clone(), wrong: vec![] };
        while let Some(ended) = self.tasks.join_next().await {
            let (acknowledged, wrong) = ended.unwrap();
            if let Some((client, last)) = acknowledged {
                seen.acknowledged[client] = last;
            }
            seen.wrong.extend(wrong);
        }
        seen
    }
}

/// Moves money in transactions; those that conflict are given up.
async fn transfer(address: SocketAddr, mut random: Random, stop: Arc<AtomicBool>) -> Ended {
    let Ok(client) = connect(address).await else { return (None, vec![]) };
    while !stop.load(Ordering::Relaxed) && !client.is_closed() {
        let (from, to, amount) = (1 + random.below(ACCOUNTS), 1 + random.below(ACCOUNTS), random.below(10));
        let transfer = format!(
            "BEGIN; UPDATE accounts SET balance = balance - {amount} WHERE id = {from};
             UPDATE accounts SET balance = balance + {amount} WHERE id = {to}; COMMIT"
        );
        if client.batch_execute(&transfer).await.is_err() {
            // A conflict, or the end; a failed transaction is rolled back.
            let _ = client.batch_execute("ROLLBACK").await;
        }
    }
    (None, vec![])
}

/// Appends numbers, one after the other; knows which were acknowledged.
async fn append(address: SocketAddr, client_number: usize, mut last: i64, stop: Arc<AtomicBool>) -> Ended {
    let Ok(client) = connect(address).await else { return (Some((client_number, last)), vec![]) };
    // What was under way at the last end may be there or not.
    let there = number(&client, &format!("SELECT coalesce(max(n), 0) FROM appended WHERE client = {client_number}")).await;
    let Ok(mut next) = there.map(|n| n + 1) else { return (Some((client_number, last)), vec![]) };
    while !stop.load(Ordering::Relaxed) {
        if client.batch_execute(&format!("INSERT INTO appended VALUES ({client_number}, {next})")).await.is_err() {
            break;
        }
        last = next;
        next += 1;
    }
    (Some((client_number, last)), vec![])
}

/// Reads what must never change, and what must never go back.
async fn read(address: SocketAddr, stop: Arc<AtomicBool>) -> Ended {
    let Ok(client) = connect(address).await else { return (None, vec![]) };
    let (mut wrong, mut newest) = (vec![], 0);
    let expected = ACCOUNTS as i64 * MONEY;
    while !stop.load(Ordering::Relaxed) {
        for query in ["SELECT sum(balance) FROM accounts", "SELECT total FROM total"] {
            match number(&client, query).await {
                Ok(sum) if sum != expected => wrong.push(format!("{query}: {sum} instead of {expected}")),
                Ok(_) => (),
                Err(_) => return (None, wrong),
            }
        }
        let Ok(n) = number(&client, "SELECT coalesce(max(n), 0) FROM clients").await else { break };
        if n < newest {
            wrong.push(format!("a view went back from {newest} to {n} rows"));
        }
        newest = n;
    }
    (None, wrong)
}

/// Makes views and drops them.
async fn define(address: SocketAddr, name: u64, stop: Arc<AtomicBool>) -> Ended {
    let Ok(client) = connect(address).await else { return (None, vec![]) };
    let mut i = 0;
    while !stop.load(Ordering::Relaxed) {
        i += 1;
        let view = format!("ddl_{name}_{i}");
        let create =
            format!("CREATE MATERIALIZED VIEW {view} AS SELECT balance % 5 AS b, count(*) AS n FROM accounts GROUP BY balance % 5");
        if client.batch_execute(&create).await.is_err() || client.batch_execute(&format!("DROP MATERIALIZED VIEW {view}")).await.is_err() {
            break;
        }
    }
    (None, vec![])
}

const _: () = assert!(APPENDERS > 0);
