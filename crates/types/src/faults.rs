//! Crashes and bugs on demand, for the kill harness (`make chaos`). Debug assertions only: a release build has nothing of it.
//!
//! `MILLSTREAM_CRASH=point:n` ends the process without any clean-up when it passes the point for the n-th time, `MILLSTREAM_BUG=name` makes a
//! known mistake, and `MILLSTREAM_LOSE_UNSYNCED=1` keeps bytes of the log from the file system until they are synced, because a killed
//! process leaves its unsynced bytes to the system, which writes them all the same.

/// Where a process can be made to end. In the order of a checkpoint, then a transaction, then CREATE and DROP, then a start.
pub const CRASH_POINTS: [&str; 15] = [
    "checkpoint-frozen",
    "checkpoint-before-file",
    "checkpoint-after-file",
    "checkpoint-committed",
    "checkpoint-published",
    "sink-prepared",
    "sink-renamed",
    "log-before-write",
    "log-before-sync",
    "log-synced",
    "create-job-recorded",
    "create-before-publish",
    "create-published",
    "drop-unpublished",
    "start-job-recovered",
];

/// A mistake that the harness must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A sync does nothing.
    SkipFsync,
    /// A checkpoint is committed without its file.
    AckBeforeUpload,
    /// A sink publishes before its checkpoint is durable.
    CommitBeforeDurable,
    /// The log forgets records one checkpoint too early.
    TruncateEarly,
    /// A source starts at its beginning after a restart.
    ForgetPosition,
}

impl Bug {
    /// All of them, with their names.
    pub const ALL: [(Bug, &'static str); 5] = [
        (Bug::SkipFsync, "skip-fsync"),
        (Bug::AckBeforeUpload, "ack-before-upload"),
        (Bug::CommitBeforeDurable, "commit-before-durable"),
        (Bug::TruncateEarly, "truncate-early"),
        (Bug::ForgetPosition, "forget-position"),
    ];
}

/// True if this mistake is to be made.
#[cfg(debug_assertions)]
pub fn has_bug(bug: Bug) -> bool {
    static PLANTED: std::sync::OnceLock<Option<Bug>> = std::sync::OnceLock::new();
    let named = || {
        let name = std::env::var("MILLSTREAM_BUG").ok()?;
        Bug::ALL.iter().find(|(_, n)| *n == name).map(|(bug, _)| *bug)
    };
    *PLANTED.get_or_init(named) == Some(bug)
}

/// True if this mistake is to be made.
#[cfg(not(debug_assertions))]
pub fn has_bug(_bug: Bug) -> bool {
    false
}

/// True if unsynced bytes of the log are to be lost with the process.
pub fn loses_unsynced() -> bool {
    cfg!(debug_assertions) && std::env::var_os("MILLSTREAM_LOSE_UNSYNCED").is_some()
}

/// Ends the process here, if it is told to.
#[cfg(debug_assertions)]
pub fn crash_point(name: &str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    static POINT: OnceLock<Option<(String, AtomicU32)>> = OnceLock::new();
    let told = || {
        let text = std::env::var("MILLSTREAM_CRASH").ok()?;
        let (point, passes) = text.split_once(':')?;
        Some((point.to_owned(), AtomicU32::new(passes.parse().ok()?)))
    };
    debug_assert!(CRASH_POINTS.contains(&name), "{name} is in the list");
    if let Some((point, left)) = POINT.get_or_init(told)
        && point == name
        && left.fetch_sub(1, Ordering::Relaxed) == 1
    {
        std::process::abort();
    }
}

/// Ends the process here, if it is told to.
#[cfg(not(debug_assertions))]
pub fn crash_point(_name: &str) {}
