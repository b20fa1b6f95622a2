//! How long until an inserted row is in a view on a view: INSERT, then SELECT, over the wire, no waiting in between.

use clap::Args;
use millstream_types::{Error, Result};

use super::latency::Latencies;
use super::process::Stopwatch;
use super::{Format, print};
use crate::client::Client;
use crate::config::Config;
use crate::start;

#[derive(Args, Clone, Debug)]
pub(super) struct FreshnessArgs {
    /// Round trips of each client
    #[arg(long, default_value_t = 1000)]
    rounds: u32,
    /// Clients at once
    #[arg(long, default_value_t = 1)]
    clients: u32,
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

const SETUP: &str = "CREATE TABLE t (k bigint PRIMARY KEY, v bigint);
CREATE MATERIALIZED VIEW per_group AS SELECT k % 1000 AS g, sum(v) AS total, count(*) AS n FROM t GROUP BY k % 1000;
CREATE MATERIALIZED VIEW outer_view AS SELECT g, total, n FROM per_group WHERE n > 0";

pub(super) async fn run(args: FreshnessArgs) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let server = start::start(&Config::ephemeral(directory.path())).await?;
    let addr = server.sql_addr;
    let setup = Client::connect(addr).await?;
    for statement in SETUP.split(';') {
        setup.execute(statement).await?;
    }
    let clients = (0..args.clients).map(|c| one_client(addr, c, args.rounds));
    let mut all = Latencies::new()?;
    for latencies in futures::future::try_join_all(clients).await? {
        latencies.into_iter().for_each(|l| all.record(l));
    }
    let (p50, p99) = (all.micros(0.5) / 1000.0, all.micros(0.99) / 1000.0);
    match args.format {
        Format::Text => print(&format!(
            "INSERT + SELECT through a view on a view, {} client(s), {} round trips: median {p50:.2} ms, p99 {p99:.2} ms; every SELECT saw its row",
            args.clients,
            all.count()
        )),
        Format::Json => {
            let line =
                serde_json::json!({"benchmark": "freshness", "clients": args.clients, "rounds": all.count(), "p50_ms": p50, "p99_ms": p99});
            print(&line.to_string());
        }
    }
    server.shutdown().await
}

/// Every client has groups of its own, so each knows the sum that it must see; it never sees an older state either.
async fn one_client(addr: std::net::SocketAddr, number: u32, rounds: u32) -> Result<Vec<std::time::Duration>> {
    let client = Client::connect(addr).await?;
    let mut latencies = Vec::with_capacity(rounds as usize);
    for round in 0..rounds {
        let key = u64::from(round) * 1000 + u64::from(number);
        let watch = Stopwatch::start();
        client.execute(&format!("INSERT INTO t VALUES ({key}, 1)")).await?;
        let seen = client.number(&format!("SELECT total FROM outer_view WHERE g = {number}")).await?;
        latencies.push(watch.elapsed().0);
        if seen != f64::from(round + 1) {
            return Err(Error::internal(format!("client {number} inserted {} rows and then saw {seen}", round + 1)));
        }
    }
    Ok(latencies)
}
