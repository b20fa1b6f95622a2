//! The Dispatcher: takes jobs in, starts a JobMaster for each, forgets them.
//!
//! [`directory`] is the list of jobs that everybody may read; [`handler`] is the actor that changes it; [`client`] is what the SQL front
//! door uses.

mod client;
mod directory;
mod gateway;
mod handler;

pub use client::JobClient;
pub(crate) use directory::JobDirectory;
pub(crate) use gateway::DispatcherClient;
pub(crate) use handler::{Dispatcher, DispatcherServices};
