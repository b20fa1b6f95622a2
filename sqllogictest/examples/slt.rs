//! The runner by itself: `cargo run -p millstream-sqllogictest --example slt -- --port 5432 --user postgres --database postgres PATH...`.

use std::process::ExitCode;

use clap::Parser;
use millstream_sqllogictest::{TestArgs, run};

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    test: TestArgs,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(Cli::parse().test).await {
        Ok(summary) => ExitCode::from(summary.exit_code()),
        Err(error) => {
            std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("error: {error}\n")).ok();
            ExitCode::from(2)
        }
    }
}
