//! `millstream bench`: figures with their conditions, in one run. Never part of the tests.

mod chain;
mod freshness;
mod idle;
mod latency;
mod nexmark;
mod probe;
mod process;

use clap::{Args, Subcommand, ValueEnum};
use millstream_types::Result;

/// Options of `millstream bench`.
#[derive(Args, Clone, Debug)]
pub struct BenchArgs {
    #[command(subcommand)]
    what: Benchmark,
}

#[derive(Subcommand, Clone, Debug)]
enum Benchmark {
    /// Nexmark queries from the in-process generator into a blackhole sink, to their end
    Nexmark(nexmark::NexmarkArgs),
    /// One row per batch through a source, Calc operators and a sink, chained and unchained
    Chain(chain::ChainArgs),
    /// INSERT, then SELECT through a view on a view
    Freshness(freshness::FreshnessArgs),
    /// An idle server with many views: CPU and memory
    Idle(idle::IdleArgs),
}

/// How figures are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Runs a benchmark.
///
/// # Errors
/// When the server cannot start or a statement fails.
pub async fn run(args: BenchArgs) -> Result<()> {
    match args.what {
        Benchmark::Nexmark(args) => nexmark::run(args).await,
        Benchmark::Chain(args) => chain::run(args).await,
        Benchmark::Freshness(args) => freshness::run(args).await,
        Benchmark::Idle(args) => idle::run(args).await,
    }
}

/// Benchmarks print their figures on standard output.
#[allow(clippy::print_stdout)]
fn print(line: &str) {
    println!("{line}");
}
