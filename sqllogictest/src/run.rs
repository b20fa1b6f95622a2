//! `millstream test`, from the arguments to the summary.

use crate::args::TestArgs;
use crate::error::RunnerError;
use crate::junit;
use crate::outcome::Summary;
use crate::report::ConsoleReporter;
use crate::suite::run_suite_until;

/// Runs the suites, tells on standard output how it goes, and writes the `JUnit` report. Ctrl-C drops the databases and stops; a second
/// one stops at once and may leave some behind.
///
/// The process is to exit with [`Summary::exit_code`], or 2 on an error.
///
/// # Errors
/// When nothing could run, or the report could not be written.
pub async fn run(args: TestArgs) -> Result<Summary, RunnerError> {
    let reporter = ConsoleReporter::new();
    let (address, options) = (args.address(), args.options());
    let interrupted = tokio::sync::Notify::new();
    let suite = run_suite_until(&args.paths, &address, &options, &reporter, interrupted.notified());
    let summary = tokio::select! {
        summary = suite => summary?,
        // No report: what has run so far is no result.
        () = two_interrupts(&interrupted) => return Ok(Summary { interrupted: true, ..Summary::default() }),
    };
    if let Some(path) = &args.junit {
        junit::write(path, &summary)?;
    }
    Ok(summary)
}

/// Passes the first Ctrl-C on and returns at the second.
async fn two_interrupts(first: &tokio::sync::Notify) {
    for _ in 0..2 {
        if tokio::signal::ctrl_c().await.is_err() {
            // No handler, so Ctrl-C ends the process by itself.
            std::future::pending::<()>().await;
        }
        first.notify_one();
    }
}
