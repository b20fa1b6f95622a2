//! The wire layer over in-memory streams, with an engine of a few words.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod clients;
mod encoding;
mod engine;
mod extended;
mod fuzz;
mod negotiation;
mod server;
mod simple;
mod wire;
