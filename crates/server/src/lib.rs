//! The Millstream server: what clients talk to, over the cluster that runs the jobs.
//!
//! In the order a statement meets them: [`config`] and [`start`] bring the server up, [`pg`] is the wire, a [`session`] keeps what a
//! client said, [`statement`]s do what it wants with the [`catalog`] and the [`database`]; `system` relations show what is going on.
//! [`http`] answers browsers, [`demo`] and [`bench`] are clients of their own.

pub mod bench;
pub mod catalog;
mod client;
pub mod config;
pub mod database;
pub mod demo;
pub mod http;
pub mod pg;
mod query_threads;
pub mod session;
pub mod start;
mod statement;
mod system;
