//! The one clock for barriers and visibility.
//!
//! Changes go into the *open* epoch. A tick closes it and addresses a set of jobs that is closed under upstream; when a job has done
//! every tick up to an epoch that was addressed to it, and nothing that it had not seen is older, its relation is readable there.
//!
//! Guarantees: a strictly serializable read gets an epoch that is not before any acknowledged change of what it reads, nor before any
//! epoch ever given to anybody. Jobs without anything to do are never told of a tick. A reader of a job that cannot go on gets an
//! error at once. Not guaranteed: that two jobs over one external source have read it equally far.

mod core;
mod job;
mod lease;
mod service;
#[cfg(test)]
mod tests;

pub use job::{JobRegistration, Restored};
pub use lease::ReadLease;
pub(crate) use service::EpochTimer;
pub use service::{EpochService, Isolation, JobEnd};
