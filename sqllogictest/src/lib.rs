//! The runner behind `millstream test PATH...`: sqllogictest suites against a running server, each file in a database of its own.
//!
//! A pure client over the `PostgreSQL` protocol. In the order a run passes them: [`args`] is the command line, [`options`] what is left
//! of it, [`discover`] finds the files and `includes` checks what they include, `databases` creates a database per file, `connection`
//! talks to it and `results` turns the answers into text, `run_file` runs one file (`complete` and `splice` rewrite its
//! expectations instead), [`suite`] runs them all, [`report`] and [`junit`] tell how it went. [`run`](mod@run) ties them together.
//!
//! ```no_run
//! use std::path::PathBuf;
//! use millstream_sqllogictest::{Address, ConsoleReporter, Options, run_suite};
//!
//! # async fn example() -> Result<(), millstream_sqllogictest::RunnerError> {
//! let paths = [PathBuf::from("suites")];
//! let summary = run_suite(&paths, &Address::default(), &Options::default(), &ConsoleReporter::plain()).await?;
//! assert!(summary.success(), "{summary}");
//! # Ok(())
//! # }
//! ```

pub mod args;
mod column;
mod complete;
mod connection;
mod database_error;
mod databases;
mod diff;
pub mod discover;
pub mod error;
mod failure;
mod includes;
pub mod junit;
pub mod options;
pub mod outcome;
pub mod report;
mod results;
pub mod run;
mod run_file;
mod splice;
mod style;
pub mod suite;
#[cfg(test)]
mod tests;

pub use args::TestArgs;
pub use discover::discover;
pub use error::RunnerError;
pub use options::{Address, Options, Setting};
pub use outcome::{Failure, FileOutcome, Summary};
pub use report::{ConsoleReporter, Reporter, SilentReporter};
pub use run::run;
pub use suite::{run_suite, run_suite_until};
