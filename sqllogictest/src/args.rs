//! The command line of `millstream test`.

use std::path::PathBuf;

use crate::options::{Address, Options, Setting};

const EXAMPLES: &str = "\
Examples:
  millstream test suites/                        every .slt file below suites/
  millstream test orders.slt 'joins/*.slt'       one file and a pattern
  millstream test --complete orders.slt          write what the server answers into the file
  millstream test --jobs 1 --fail-fast suites/   one after another, stop at the first failure
  millstream test --junit report.xml suites/     a report for the CI server
  millstream test --set parallelism=4 suites/    with a session setting";

/// Run sqllogictest suites against a running server.
///
/// Every file runs in a database of its own, which is dropped at the end. The last line of the output is `N passed, N failed`,
/// counted in files.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct TestArgs {
    /// Files, directories (every .slt file below them) or patterns such as 'joins/*.slt'.
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,

    /// The server's host name or address.
    #[arg(long, default_value = "127.0.0.1")]
    pub host: String,

    /// The server's port.
    #[arg(long, default_value_t = 4510)]
    pub port: u16,

    /// Who to connect as; the password, if there is one, is taken from PGPASSWORD.
    #[arg(long, default_value = "root")]
    pub user: String,

    /// The database to connect to first, from which the databases of the files are created.
    #[arg(long, default_value = "dev")]
    pub database: String,

    /// How many files run at the same time [default: the number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,

    /// Rewrite the expected results in place with what the server answers, one file at a time.
    #[arg(long)]
    pub complete: bool,

    /// Write a junit report to this file, for CI servers.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Keep the databases of the files, to look into them afterwards.
    #[arg(long)]
    pub keep: bool,

    /// Stop at the first file that fails.
    #[arg(long)]
    pub fail_fast: bool,

    /// A label for `skipif` and `onlyif`; `millstream` is always on. May be repeated.
    #[arg(long = "label", value_name = "LABEL")]
    pub labels: Vec<String>,

    /// A session setting, sent as `SET KEY = VALUE` after each connect. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<Setting>,
}

impl TestArgs {
    /// The server these arguments name.
    pub fn address(&self) -> Address {
        Address {
            host: self.host.clone(),
            port: self.port,
            user: self.user.clone(),
            password: std::env::var("PGPASSWORD").ok(),
            database: self.database.clone(),
        }
    }

    /// How these arguments want the files to be run.
    pub fn options(&self) -> Options {
        let defaults = Options::default();
        Options {
            jobs: self.jobs.map_or(defaults.jobs, usize::from),
            complete: self.complete,
            keep: self.keep,
            fail_fast: self.fail_fast,
            labels: self.labels.clone(),
            settings: self.settings.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        test: TestArgs,
    }

    #[test]
    fn defaults_are_the_servers() {
        let args = Cli::try_parse_from(["test", "a.slt"]).unwrap().test;
        let address = args.address();
        assert_eq!((address.host.as_str(), address.port), ("127.0.0.1", 4510));
        assert_eq!((address.user.as_str(), address.database.as_str()), ("root", "dev"));
        assert!(args.options().jobs >= 1);
    }

    #[test]
    fn settings_and_labels_repeat() {
        let line = ["test", "--set", "a=1", "--set", "b.c = x=y", "--label", "slow", "--label", "s3", "a.slt", "b"];
        let options = Cli::try_parse_from(line).unwrap().test.options();
        assert_eq!(options.labels, ["slow", "s3"]);
        let sent: Vec<_> = options.settings.iter().map(Setting::statement).collect();
        assert_eq!(sent, ["SET a = 1", "SET b.c = 'x=y'"]);
    }

    #[test]
    fn help_has_examples_and_paths_are_required() {
        let help = Cli::try_parse_from(["test", "--help"]).unwrap_err().to_string();
        assert!(help.contains("millstream test --complete orders.slt"), "{help}");
        assert!(Cli::try_parse_from(["test"]).is_err());
        assert!(Cli::try_parse_from(["test", "--jobs", "0", "a.slt"]).is_err());
        assert!(Cli::try_parse_from(["test", "--set", "nothing", "a.slt"]).is_err());
    }
}
