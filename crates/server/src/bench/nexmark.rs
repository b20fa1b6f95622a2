//! Nexmark queries to their end: generator, operators and a blackhole sink in one process.
//!
//! Latency: while the job runs, ticks are asked for one after the other; a tick's time from the source until its barrier has left the
//! last operator is how long a row that arrives now takes, queues included (Flink's latency markers measure the same).

use clap::Args;
use millstream_types::{Error, JobId, Result, SqlState};

use super::latency::Latencies;
use super::process::{Stopwatch, memory};
use super::{Format, print};
use crate::client::Client;
use crate::config::Config;
use crate::start::{self, RunningServer};

#[derive(Args, Clone, Debug)]
pub(super) struct NexmarkArgs {
    /// Which queries
    #[arg(long, value_delimiter = ',', default_value = "q0,q1,q2")]
    queries: Vec<String>,
    /// Events of all kinds (of 50 events 46 are bids)
    #[arg(long, default_value_t = 10_000_000)]
    events: u64,
    /// Parallel subtasks
    #[arg(long, default_value_t = 2)]
    parallelism: u32,
    /// Operator chaining; both in one run if not given
    #[arg(long, value_parser = ["on", "off"])]
    chaining: Option<String>,
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Query, sink columns, SELECT.
const QUERIES: [(&str, &str, &str); 3] = [
    (
        "q0",
        "auction bigint, bidder bigint, price bigint, channel text, url text, date_time timestamp, extra text",
        "SELECT auction, bidder, price, channel, url, date_time, extra FROM bid",
    ),
    (
        "q1",
        "auction bigint, bidder bigint, price numeric(23, 3), date_time timestamp, extra text",
        "SELECT auction, bidder, 0.908 * price, date_time, extra FROM bid",
    ),
    ("q2", "auction bigint, price bigint", "SELECT auction, price FROM bid WHERE auction % 123 = 0"),
];

struct Figures {
    seconds: f64,
    cpu_seconds: f64,
    peak_mib: f64,
    latencies: Latencies,
}

pub(super) async fn run(args: NexmarkArgs) -> Result<()> {
    if args.format == Format::Text {
        print(&format!(
            "Nexmark, {} events, parallelism {}, generator in process, blackhole sink, no checkpoints",
            args.events, args.parallelism
        ));
        print("query  chaining     events/s  events/CPU s  CPU s/M events  peak MiB  p50 ms  p99 ms");
    }
    for query in &args.queries {
        let known = || QUERIES.map(|q| q.0).join(", ");
        let found = QUERIES.iter().find(|q| q.0 == query).ok_or_else(|| {
            Error::new(SqlState::INVALID_PARAMETER_VALUE, format!("query \"{query}\" is not there"))
                .with_hint(format!("known: {}", known()))
        })?;
        for chaining in ["on", "off"] {
            if args.chaining.as_deref().is_none_or(|c| c == chaining) {
                let figures = measure(&args, *found, chaining).await?;
                report(&args, query, chaining, &figures);
            }
        }
    }
    Ok(())
}

async fn measure(args: &NexmarkArgs, (query, columns, select): (&str, &str, &str), chaining: &str) -> Result<Figures> {
    let directory = tempfile::tempdir()?;
    let server = start::start(&Config::ephemeral(directory.path())).await?;
    let client = Client::connect(server.sql_addr).await?;
    client.execute(&format!("CREATE SOURCE bid WITH (connector = 'nexmark', table = 'bid', events = '{}')", args.events)).await?;
    client.execute(&format!("CREATE SINK out ({columns}) WITH (connector = 'blackhole')")).await?;
    let watch = Stopwatch::start();
    let options = format!("parallelism = {}, chaining = {chaining}", args.parallelism);
    client.execute(&format!("CREATE STREAMING JOB {query} WITH ({options}) AS INSERT INTO out {select}")).await?;
    let job = server.database().cluster().jobs().list().into_iter().find(|j| j.name == query).map(|j| j.job);
    let job = job.ok_or_else(|| Error::internal("the job is not listed"))?;
    let latencies = follow(&server, job).await?;
    let (wall, cpu) = watch.elapsed();
    let peak_mib = memory().1 as f64 / f64::from(1 << 20);
    server.shutdown().await?;
    Ok(Figures { seconds: wall.as_secs_f64(), cpu_seconds: cpu.as_secs_f64(), peak_mib, latencies })
}

/// Asks for ticks until the job has finished.
async fn follow(server: &RunningServer, job: JobId) -> Result<Latencies> {
    let cluster = server.database().cluster();
    let mut latencies = Latencies::new()?;
    let finished = cluster.jobs().wait_finished(job);
    tokio::pin!(finished);
    loop {
        let tick = async {
            let watch = Stopwatch::start();
            let lease = cluster.epochs().read(&[job], millstream_cluster::Isolation::StrictSerializable).await;
            lease.is_ok().then(|| watch.elapsed().0)
        };
        tokio::select! {
            status = &mut finished => {
                let status = status?;
                if status.to_string() != "FINISHED" {
                    return Err(Error::internal(format!("the job ended {status}")));
                }
                return Ok(latencies);
            }
            // Not running yet, or just finished: no figure.
            latency = tick => if let Some(latency) = latency { latencies.record(latency) },
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

fn report(args: &NexmarkArgs, query: &str, chaining: &str, f: &Figures) {
    let events = args.events as f64;
    let (per_s, per_cpu, cpu_per_m) = (events / f.seconds, events / f.cpu_seconds, f.cpu_seconds / (events / 1e6));
    let (p50, p99) = (f.latencies.micros(0.5) / 1000.0, f.latencies.micros(0.99) / 1000.0);
    match args.format {
        Format::Text => print(&format!(
            "{query:<6} {chaining:<8} {per_s:>12.0}  {per_cpu:>12.0}  {cpu_per_m:>14.3}  {:>8.0}  {p50:>6.2}  {p99:>6.2}",
            f.peak_mib
        )),
        Format::Json => {
            let line = serde_json::json!({"benchmark": "nexmark", "query": query, "chaining": chaining, "events": args.events,
                "parallelism": args.parallelism, "events_per_s": per_s, "events_per_cpu_s": per_cpu, "cpu_s_per_million_events": cpu_per_m,
                "peak_mib": f.peak_mib, "p50_ms": p50, "p99_ms": p99});
            print(&line.to_string());
        }
    }
}
