//! Why a run could not happen at all, as opposed to a file that failed.

use std::path::PathBuf;

use crate::options::Address;

/// What stops a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// A path that is not there.
    #[error("no such file or directory: {}", .0.display())]
    NotFound(PathBuf),
    /// A directory or pattern without any suite.
    #[error("no .slt file in {}", .0.display())]
    NothingFound(PathBuf),
    /// A pattern that is none.
    #[error("invalid pattern {pattern}: {reason}")]
    Pattern {
        /// What was typed.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A directory that cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The server does not answer, does not let us in, or refuses a setting.
    #[error("cannot connect to {address} as {} (database {}): {reason}", .address.user, .address.database)]
    Connect {
        /// Which server.
        address: Box<Address>,
        /// What it said.
        reason: String,
    },
    /// The server does not create databases.
    #[error("the server cannot create databases, and every file runs in one of its own: {0}")]
    CreateDatabase(String),
    /// The `JUnit` report could not be written.
    #[error("cannot write the JUnit report {}: {reason}", .path.display())]
    Junit {
        /// Where to.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
}
