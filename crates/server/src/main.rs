//! The binary `millstream`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use millstream_server::bench::BenchArgs;
use millstream_server::config::StartArgs;
use millstream_server::demo::DemoArgs;
use millstream_sqllogictest::TestArgs;
use millstream_types::{Error, Result};

/// A SQL-first streaming database: always-fresh, always-consistent views over streams and tables.
#[derive(Parser)]
#[command(name = "millstream", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  millstream demo --for 20s            see it work
  millstream start                     then: psql -h 127.0.0.1 -p 4510 -d dev -U root
  millstream test my-suite/            run sqllogictest files against a running server
  millstream bench nexmark --queries q0,q1,q2 --events 10000000";

#[derive(Subcommand)]
enum Command {
    /// Run a server until Ctrl-C or SIGTERM
    #[command(
        after_help = "Examples:\n  millstream start\n  millstream start --data-dir /var/lib/millstream --slots 8 --managed-memory 2GiB\n  millstream start --config millstream.toml --allow-files /data/in"
    )]
    Start(StartArgs),
    /// Start a server in a temporary directory and show live results of a streaming job
    #[command(after_help = "Examples:\n  millstream demo\n  millstream demo --for 20s")]
    Demo(DemoArgs),
    /// Run sqllogictest suites against a running server
    Test(TestArgs),
    /// Measure this machine
    #[command(
        after_help = "Examples:\n  millstream bench nexmark --queries q0,q1,q2 --events 10000000 --parallelism 2\n  millstream bench chain --operators 6\n  millstream bench freshness --rounds 1000\n  millstream bench idle --views 100"
    )]
    Bench(BenchArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let ended = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(run(cli.command)),
        Err(e) => Err(Error::from(e)),
    };
    ended.unwrap_or_else(|e| {
        report(&e);
        ExitCode::FAILURE
    })
}

async fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Start(args) => millstream_server::start::run(args).await?,
        Command::Demo(args) => millstream_server::demo::run(args).await?,
        Command::Bench(args) => millstream_server::bench::run(args).await?,
        Command::Test(args) => return Ok(test(args).await),
    }
    Ok(ExitCode::SUCCESS)
}

async fn test(args: TestArgs) -> ExitCode {
    match millstream_sqllogictest::run(args).await {
        Ok(summary) => ExitCode::from(summary.exit_code()),
        Err(e) => {
            eprintln!("millstream: {e}");
            ExitCode::from(2)
        }
    }
}

/// One line that names what is wrong, and if known the way out.
fn report(error: &Error) {
    let hint = error.hint().map(|h| format!(" (hint: {h})")).unwrap_or_default();
    let detail = error.detail().map(|d| format!("; {d}")).unwrap_or_default();
    eprintln!("millstream: {}{detail}{hint}", error.message());
}
