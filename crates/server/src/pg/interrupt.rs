//! What may end a statement from outside: cancel, the client leaving, the server stopping.

use std::future::pending;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use millstream_types::{Error, SqlState};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{oneshot, watch};

use super::frame::FrameReader;
use super::outbox::Outbox;
use super::{Failure, Hangup};

/// Resolves when the server stops.
#[derive(Clone)]
pub(super) struct Stop(pub(super) watch::Receiver<bool>);

impl Stop {
    pub(super) async fn stopped(&mut self) {
        // An error means that the server is gone, which is a stop as well.
        drop(self.0.wait_for(|stop| *stop).await);
    }
}

/// Resolves when the running statement is cancelled; never without one.
pub(super) struct Cancel(pub(super) Option<oneshot::Receiver<()>>);

impl Cancel {
    async fn cancelled(&mut self) {
        if let Some(receiver) = &mut self.0 {
            let cancelled = receiver.await.is_ok();
            self.0 = None;
            if cancelled {
                return;
            }
        }
        pending().await
    }
}

/// 57P01.
pub(super) fn shutdown() -> Hangup {
    Hangup::With(Error::new(SqlState::ADMIN_SHUTDOWN, "terminating connection due to administrator command"))
}

/// Runs `work` until it ends or something ends it; then it is dropped. A panic inside ends only this connection.
pub(super) async fn interruptible<R, F>(
    reader: &mut FrameReader<R>,
    stop: &mut Stop,
    cancel: &mut Cancel,
    work: F,
) -> Result<F::Output, Failure>
where
    R: AsyncRead + Unpin,
    F: Future,
{
    tokio::select! {
        biased;
        () = stop.stopped() => Err(shutdown().into()),
        () = cancel.cancelled() => Err(canceled().into()),
        () = reader.closed() => Err(Hangup::Quietly.into()),
        result = AssertUnwindSafe(work).catch_unwind() => result.map_err(|panic| {
            let message = panic.downcast_ref::<&str>().map(|m| (*m).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned());
            let message = message.unwrap_or_else(|| "unknown".to_owned());
            Hangup::With(Error::internal(format!("the statement ran into a panic: {message}"))).into()
        }),
    }
}

/// Writes all replies, unless the statement is cancelled or the server stops first. A client that left shows in the write itself.
pub(super) async fn flushed<W>(out: &mut Outbox<W>, stop: &mut Stop, cancel: &mut Cancel) -> Result<(), Failure>
where
    W: AsyncWrite + Unpin,
{
    tokio::select! {
        biased;
        result = out.flush() => Ok(result?),
        () = stop.stopped() => Err(shutdown().into()),
        () = cancel.cancelled() => Err(canceled().into()),
    }
}

fn canceled() -> Error {
    Error::new(SqlState::QUERY_CANCELED, "canceling statement due to user request")
}
