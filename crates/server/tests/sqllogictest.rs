//! The project's SQL suites, against a server in this process.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::process::ExitCode;

use millstream_server::config::Config;
use millstream_server::start;
use millstream_sqllogictest::{Address, ConsoleReporter, Options, run_suite};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            println!("{e}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<bool, Box<dyn std::error::Error>> {
    // `cargo test --list` and filters ask for tests by name; the suites are one.
    if std::env::args().any(|a| a == "--list") {
        println!("suites: test");
        return Ok(true);
    }
    let directory = tempfile::tempdir()?;
    let server = start::start(&Config::ephemeral(directory.path())).await?;
    let suites = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sqllogictest/suites");
    let address = Address { host: server.sql_addr.ip().to_string(), port: server.sql_addr.port(), ..Address::default() };
    let summary = run_suite(&[suites], &address, &Options::default(), &ConsoleReporter::plain()).await?;
    println!("{summary}");
    server.shutdown().await?;
    Ok(summary.success())
}
