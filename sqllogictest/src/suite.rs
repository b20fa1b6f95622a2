//! Runs suites: several files at a time, each in a database of its own, which is gone at the end whatever happened.

use std::collections::HashSet;
use std::future::{Future, pending};
use std::path::{Path, PathBuf};
use std::pin::pin;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::Instant;

use crate::complete;
use crate::database_error::DatabaseError;
use crate::databases::Databases;
use crate::discover::discover;
use crate::error::RunnerError;
use crate::options::{Address, Options};
use crate::outcome::{Failure, FileOutcome, Summary};
use crate::report::Reporter;
use crate::run_file;

/// Runs every suite that `paths` mean against the server at `address`.
///
/// # Errors
/// When nothing could run: no files, no connection, or a server that does not create databases. A file that fails is no error; see
/// [`Summary::success`].
pub async fn run_suite(paths: &[PathBuf], address: &Address, options: &Options, reporter: &dyn Reporter) -> Result<Summary, RunnerError> {
    run_suite_until(paths, address, options, reporter, pending()).await
}

/// As [`run_suite`], but gives up when `stop` completes; the databases are dropped all the same.
///
/// # Errors
/// As [`run_suite`].
pub async fn run_suite_until(
    paths: &[PathBuf],
    address: &Address,
    options: &Options,
    reporter: &dyn Reporter,
    stop: impl Future<Output = ()>,
) -> Result<Summary, RunnerError> {
    let files = discover(paths)?;
    let mut stop = pin!(stop);
    let databases = tokio::select! {
        () = &mut stop => {
            let summary = Summary { not_run: files, interrupted: true, ..Summary::default() };
            reporter.finished(&summary);
            return Ok(summary);
        }
        databases = Databases::connect(address, &options.settings) => databases?,
    };
    reporter.started(files.len());
    let mut summary = Summary::default();
    let ended = run_files(&files, &databases, options, reporter, &mut summary, stop).await;
    if !options.keep {
        for left in databases.drop_all().await {
            reporter.warning(&left);
        }
    }
    ended?;
    let ran: HashSet<&PathBuf> = summary.outcomes.iter().map(|outcome| &outcome.path).collect();
    summary.not_run = files.iter().filter(|file| !ran.contains(file)).cloned().collect();
    reporter.finished(&summary);
    Ok(summary)
}

async fn run_files(
    files: &[PathBuf],
    databases: &Databases<'_>,
    options: &Options,
    reporter: &dyn Reporter,
    summary: &mut Summary,
    mut stop: std::pin::Pin<&mut impl Future<Output = ()>>,
) -> Result<(), RunnerError> {
    // Files may share an include, so only one at a time writes.
    let jobs = if options.complete { 1 } else { options.jobs.max(1) };
    let mut waiting = files.iter();
    let mut running = FuturesUnordered::new();
    loop {
        while running.len() < jobs
            && let Some(file) = waiting.next()
        {
            reporter.file_started(file);
            running.push(run_one(file, databases, options));
        }
        tokio::select! {
            biased;
            () = &mut stop => {
                summary.interrupted = true;
                return Ok(());
            }
            ended = running.next() => {
                let Some(outcome) = ended else { return Ok(()) };
                let outcome = outcome?;
                reporter.file_finished(&outcome);
                let stops = options.fail_fast && !outcome.passed();
                summary.add(outcome);
                if stops {
                    return Ok(());
                }
            }
        }
    }
}

async fn run_one(path: &Path, databases: &Databases<'_>, options: &Options) -> Result<FileOutcome, RunnerError> {
    let started = Instant::now();
    let mut outcome =
        FileOutcome { path: path.to_path_buf(), records: 0, rewritten: 0, elapsed: started.elapsed(), kept_database: None, failure: None };
    let database = match databases.create().await {
        Ok(database) => database,
        Err(error @ (DatabaseError::Server(_) | DatabaseError::Protocol(_))) => {
            return Err(RunnerError::CreateDatabase(error.to_string()));
        }
        Err(error) => {
            // The server went away while other files ran; theirs is the interesting failure.
            let place = path.display().to_string();
            outcome.failure = Some(Failure::of_file(place, "no database could be created", error.to_string()));
            return Ok(outcome);
        }
    };
    outcome.failure = run_in(&database, path, databases, options, &mut outcome).await.err();
    if options.keep {
        outcome.kept_database = Some(database);
    } else if let Err(error) = databases.drop(&database).await
        && outcome.failure.is_none()
    {
        let place = path.display().to_string();
        outcome.failure = Some(Failure::of_file(place, "every record passed, but the database could not be dropped", error.to_string()));
    }
    outcome.elapsed = started.elapsed();
    Ok(outcome)
}

async fn run_in(
    database: &str,
    path: &Path,
    databases: &Databases<'_>,
    options: &Options,
    outcome: &mut FileOutcome,
) -> Result<(), Failure> {
    let records = run_file::read(path)?;
    let mut runner = run_file::runner(|| databases.open(database), database, options);
    let ended = if options.complete {
        match complete::complete_records(&mut runner, records, &mut outcome.records).await {
            Ok(edits) => {
                outcome.rewritten = edits.values().map(Vec::len).sum();
                complete::write(&edits)
            }
            Err(failure) => Err(failure),
        }
    } else {
        run_file::run_records(&mut runner, records, &mut outcome.records).await
    };
    runner.shutdown_async().await;
    ended
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::SilentReporter;

    /// A test harness may spawn it; this is checked when it compiles.
    #[tokio::test]
    async fn a_run_can_move_between_threads() {
        fn movable<F: Future + Send>(future: F) -> F {
            future
        }
        let (address, options) = (Address::default(), Options::default());
        let paths = [PathBuf::from("/nowhere/at/all.slt")];
        let ended = movable(run_suite(&paths, &address, &options, &SilentReporter)).await;
        assert!(matches!(ended, Err(RunnerError::NotFound(_))));
    }
}
