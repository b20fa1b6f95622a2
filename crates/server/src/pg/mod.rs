//! The SQL front door: PostgreSQL's wire protocol 3.0 over TCP.
//!
//! In the order a client meets them: [`listener`] accepts and counts connections; [`startup`] negotiates (no TLS yet, so `N`) and reads
//! the start-up packet; [`frame`] cuts the byte stream into messages and checks every length before anything is allocated for it;
//! [`message`] decodes them without trusting a count; [`connection`] is the message loop with the simple protocol, [`extended`] the
//! extended one over [`portal`]s; [`interrupt`] ends a running statement when the client cancels ([`cancel`]), hangs up, or the server
//! stops; [`outbox`] writes replies; [`types`], [`encode`] and [`parameter`] translate types and values. [`service`] is all that this
//! layer knows of the engine.
//!
//! pgwire gives the replies their bytes. Its decoders and its server loop are not used: they index into messages that are too short and
//! would accept a message of a gigabyte.

mod cancel;
mod connection;
mod encode;
mod extended;
mod frame;
mod interrupt;
mod listener;
mod message;
mod outbox;
mod parameter;
mod portal;
pub mod service;
mod startup;
pub(crate) mod types;

#[cfg(test)]
mod tests;

use millstream_types::Error;

pub use listener::{ConnectionLimits, serve, serve_with};

/// Why a connection ends.
#[derive(Debug)]
pub(crate) enum Hangup {
    /// Nothing is said: the client left, or never spoke PostgreSQL.
    Quietly,
    /// After a FATAL `ErrorResponse`.
    With(Error),
}

/// Why a statement ends.
#[derive(Debug)]
pub(crate) enum Failure {
    /// With an `ErrorResponse`; the connection goes on.
    Statement(Error),
    /// Together with the connection.
    Connection(Hangup),
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        Failure::Statement(e)
    }
}

impl From<Hangup> for Failure {
    fn from(h: Hangup) -> Self {
        Failure::Connection(h)
    }
}

impl From<std::io::Error> for Hangup {
    /// A broken socket: there is nobody to tell.
    fn from(_: std::io::Error) -> Self {
        Hangup::Quietly
    }
}
