//! `millstream demo`: a server of its own, a Nexmark source, a streaming job and a view, and the view's live rows.

mod table;

use std::io::IsTerminal;
use std::time::Duration;

use clap::Args;
use millstream_types::{Clock, Result, SystemClock};

use crate::client::Client;
use crate::config::Config;
use crate::start;
use table::{Frame, Screen};

/// Options of `millstream demo`.
#[derive(Args, Clone, Debug)]
pub struct DemoArgs {
    /// Stop after this time [default: run until Ctrl-C]
    #[arg(long = "for", value_name = "DURATION", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,
}

/// The statements, exactly as a user could type them.
const STATEMENTS: [&str; 4] = [
    "CREATE SOURCE bid WITH (connector = 'nexmark', table = 'bid')",
    "CREATE MATERIALIZED VIEW channels AS
  SELECT channel, count(*) AS bids, max(price) AS highest, round(avg(price), 2) AS average FROM bid GROUP BY channel",
    "CREATE SINK big_bids (auction bigint, bidder bigint, price bigint) WITH (connector = 'blackhole')",
    "CREATE STREAMING JOB watch_big_bids AS
  INSERT INTO big_bids SELECT auction, bidder, price FROM bid WHERE price > 50000000",
];

const TOP: &str = "SELECT channel, bids, highest, average FROM channels ORDER BY bids DESC, channel LIMIT 8";
const TOTAL: &str = "SELECT sum(bids) FROM channels";

/// Runs the demo.
///
/// # Errors
/// When the server cannot start or a statement fails.
pub async fn run(args: DemoArgs) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let server = start::start(&Config::ephemeral(directory.path())).await?;
    let mut screen = Screen::new(std::io::stdout().is_terminal());
    let join = format!("psql -h 127.0.0.1 -p {} -d dev -U root", server.sql_addr.port());
    screen.line(&format!("Millstream runs. Join in:  {join}\n"));
    let client = Client::connect(server.sql_addr).await?;
    for statement in STATEMENTS {
        screen.line(&format!("{statement};"));
        client.execute(statement).await?;
    }
    screen.line("");
    let shown = tokio::select! {
        shown = show(&client, &mut screen, args.duration) => shown,
        interrupted = tokio::signal::ctrl_c() => interrupted.map_err(Into::into),
    };
    screen.line(&format!("\nWhile it ran, anyone could join in with:  {join}"));
    server.shutdown().await?;
    shown
}

async fn show(client: &Client, screen: &mut Screen, duration: Option<Duration>) -> Result<()> {
    let clock = SystemClock;
    let start = clock.monotonic();
    let mut ticks = tokio::time::interval(screen.pace());
    let (mut last_at, mut last_total) = (start, 0.0);
    loop {
        ticks.tick().await;
        let rows = client.query(TOP).await?;
        let total = client.number(TOTAL).await?;
        let now = clock.monotonic();
        let seconds = (now - last_at).as_secs_f64().max(1e-3);
        screen.show(&Frame { elapsed: now - start, total, per_second: (total - last_total) / seconds, rows: &rows });
        (last_at, last_total) = (now, total);
        if duration.is_some_and(|d| now - start >= d) {
            return Ok(());
        }
    }
}
