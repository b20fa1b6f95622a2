//! What a server costs that has nothing to do.

use std::time::Duration;

use clap::Args;
use millstream_types::Result;

use super::process::{Stopwatch, memory};
use super::{Format, print};
use crate::client::Client;
use crate::config::Config;
use crate::start;

#[derive(Args, Clone, Debug)]
pub(super) struct IdleArgs {
    /// Materialized views over one table
    #[arg(long, default_value_t = 100)]
    views: u32,
    /// How long to look
    #[arg(long = "for", default_value = "10s", value_parser = humantime::parse_duration)]
    duration: Duration,
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(super) async fn run(args: IdleArgs) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let watch = Stopwatch::start();
    let server = start::start(&Config::ephemeral(directory.path())).await?;
    let client = Client::connect(server.sql_addr).await?;
    client.query("SELECT 1").await?;
    let first_answer = watch.elapsed().0.as_secs_f64() * 1000.0;
    let empty = memory().0;
    client.execute("CREATE TABLE t (k bigint PRIMARY KEY, v bigint)").await?;
    client.execute("INSERT INTO t VALUES (1, 1), (2, 2)").await?;
    for i in 0..args.views {
        client.execute(&format!("CREATE MATERIALIZED VIEW v{i} AS SELECT v, count(*) AS n FROM t GROUP BY v")).await?;
    }
    let with_views = memory().0;
    let watch = Stopwatch::start();
    tokio::time::sleep(args.duration).await;
    let (wall, cpu) = watch.elapsed();
    let percent = 100.0 * cpu.as_secs_f64() / wall.as_secs_f64();
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    match args.format {
        Format::Text => print(&format!(
            "start to first answer {first_answer:.0} ms; empty server {:.0} MiB; {} idle views: {percent:.2} % of one core, {:.0} MiB",
            mib(empty),
            args.views,
            mib(with_views)
        )),
        Format::Json => {
            let line = serde_json::json!({"benchmark": "idle", "first_answer_ms": first_answer, "empty_mib": mib(empty),
                "views": args.views, "cpu_percent": percent, "mib": mib(with_views)});
            print(&line.to_string());
        }
    }
    server.shutdown().await
}
