//! One client's connection: the message loop and the simple protocol.

use std::collections::HashMap;
use std::sync::Arc;

use millstream_types::{Error, Result};
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::response::EmptyQueryResponse;
use tokio::io::{AsyncRead, AsyncWrite};

use super::cancel::Registration;
use super::encode::Format;
use super::frame::FrameReader;
use super::interrupt::{Cancel, Stop, flushed, interruptible, shutdown};
use super::message::{Message, is_extended};
use super::outbox::Outbox;
use super::portal::{Portal, PreparedStatement, RowCursor};
use super::service::{QuerySession, Response, TransactionStatus};
use super::{Failure, Hangup};

/// A connection with its session.
pub(super) struct Connection<S: QuerySession, R, W> {
    pub(super) reader: FrameReader<R>,
    pub(super) out: Outbox<W>,
    pub(super) session: S,
    pub(super) registration: Registration,
    pub(super) stop: Stop,
    pub(super) statements: HashMap<String, Arc<PreparedStatement<S>>>,
    pub(super) portals: HashMap<String, Portal<S>>,
    /// An error happened in the extended protocol: nothing is done until Sync.
    skipping: bool,
    /// An implicit transaction is open.
    pub(super) implicit: bool,
}

impl<S, R, W> Connection<S, R, W>
where
    S: QuerySession,
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
{
    pub(super) fn new(reader: FrameReader<R>, out: Outbox<W>, session: S, registration: Registration, stop: Stop) -> Self {
        let (statements, portals) = (HashMap::new(), HashMap::new());
        Connection { reader, out, session, registration, stop, statements, portals, skipping: false, implicit: false }
    }

    /// Serves the client until it leaves.
    pub(super) async fn serve(&mut self) -> Result<(), Hangup> {
        self.ready().await?;
        loop {
            let frame = tokio::select! {
                biased;
                () = self.stop.stopped() => return Err(shutdown()),
                frame = self.reader.next() => frame?,
            };
            let Some(frame) = frame else { return Ok(()) };
            let tag = frame.tag;
            if self.skipping && !matches!(tag, b'S' | b'X') {
                continue;
            }
            let result = match Message::decode(frame) {
                Ok(Message::Terminate) => return Ok(()),
                Ok(message) => self.handle(message).await,
                Err(e) => Err(e.into()),
            };
            match result {
                Ok(()) => (),
                Err(Failure::Connection(hangup)) => return Err(hangup),
                Err(Failure::Statement(error)) => {
                    self.fail(&error).await?;
                    if is_extended(tag) {
                        self.skipping = true;
                        self.flush().await?;
                    } else {
                        self.ready().await?;
                    }
                }
            }
        }
    }

    async fn handle(&mut self, message: Message) -> Result<(), Failure> {
        match message {
            Message::Query(sql) => {
                self.simple_query(&sql).await?;
                self.ready().await?;
            }
            Message::Parse(parse) => self.parse(parse)?,
            Message::Bind(bind) => self.bind(bind)?,
            Message::Describe(target) => self.describe(&target)?,
            Message::Execute { portal, max_rows } => self.execute(&portal, max_rows).await?,
            Message::Close(target) => self.close(&target)?,
            Message::Flush => self.flush().await?,
            Message::Sync => self.sync().await?,
            Message::FunctionCall => return Err(Error::unsupported("the function call message").into()),
            Message::StrayCopy | Message::Terminate => (),
        }
        Ok(())
    }

    async fn simple_query(&mut self, sql: &str) -> Result<(), Failure> {
        self.statements.remove("");
        self.portals.remove("");
        let statements = self.session.parse(sql)?;
        if statements.is_empty() {
            self.out.send(PgWireBackendMessage::EmptyQueryResponse(EmptyQueryResponse::new()))?;
        }
        for statement in &statements {
            if statements.len() > 1 && self.session.transaction_status() == TransactionStatus::Idle {
                self.session.begin_implicit();
                self.implicit = true;
            }
            self.run(statement).await.map_err(|failure| shifted(failure, S::offset(statement)))?;
        }
        self.commit_implicit().await
    }

    async fn run(&mut self, statement: &S::Statement) -> Result<(), Failure> {
        let mut cancel = Cancel(Some(self.registration.begin()));
        let response = interruptible(&mut self.reader, &mut self.stop, &mut cancel, self.session.run(statement)).await??;
        self.forward_notices()?;
        let (schema, stream, tag) = match response {
            Response::Empty => return Ok(self.out.send(PgWireBackendMessage::EmptyQueryResponse(EmptyQueryResponse::new()))?),
            Response::Command { tag } => return Ok(self.complete(tag)?),
            Response::Rows { schema, stream } => (schema, stream, None),
            Response::RowsWithTag { schema, stream, tag } => (schema, stream, Some(tag)),
        };
        let formats = vec![Format::Text; schema.len()];
        self.out.describe(&schema, &formats)?;
        let mut rows = RowCursor::new(schema, formats, stream);
        let (count, _) = self.send_rows(&mut rows, usize::MAX, &mut cancel).await?;
        Ok(self.complete(tag.unwrap_or_else(|| format!("SELECT {count}")))?)
    }

    /// Sends up to `max` rows: how many, and whether that was the last.
    pub(super) async fn send_rows(&mut self, rows: &mut RowCursor, max: usize, cancel: &mut Cancel) -> Result<(usize, bool), Failure> {
        let mut count = 0;
        while count < max {
            if let Some((batch, row)) = rows.next() {
                self.out.row(batch, row)?;
                count += 1;
                if self.out.is_full() {
                    flushed(&mut self.out, &mut self.stop, cancel).await?;
                }
            } else if !interruptible(&mut self.reader, &mut self.stop, cancel, rows.fetch()).await?? {
                return Ok((count, true));
            }
        }
        Ok((count, false))
    }

    /// `CommandComplete`, and what the command means for this layer.
    pub(super) fn complete(&mut self, tag: String) -> Result<()> {
        if tag == "DISCARD ALL" || tag == "DEALLOCATE ALL" {
            self.statements.clear();
        }
        self.out.complete(tag)
    }

    /// Commits the implicit transaction, if one is open.
    pub(super) async fn commit_implicit(&mut self) -> Result<(), Failure> {
        if self.implicit {
            let mut cancel = Cancel(Some(self.registration.begin()));
            interruptible(&mut self.reader, &mut self.stop, &mut cancel, self.session.end_implicit(true)).await??;
            self.implicit = false;
        }
        Ok(())
    }

    /// Reports an error of a statement; whatever transaction there was has failed.
    async fn fail(&mut self, error: &Error) -> Result<(), Hangup> {
        self.session.fail_transaction();
        if std::mem::take(&mut self.implicit) {
            // The statement's error is the one to report.
            let _ = self.session.end_implicit(false).await;
        }
        self.forward_notices().and_then(|()| self.out.error("ERROR", error)).map_err(Hangup::With)
    }

    pub(super) fn forward_notices(&mut self) -> Result<()> {
        self.session.take_notices().iter().try_for_each(|notice| self.out.notice(notice))
    }

    /// Ends a cycle: `ReadyForQuery`.
    pub(super) async fn ready(&mut self) -> Result<(), Hangup> {
        self.skipping = false;
        let status = self.session.transaction_status();
        if status == TransactionStatus::Idle {
            self.portals.clear();
        }
        let changed = self.session.take_changed_parameters();
        let sent = changed.into_iter().try_for_each(|(name, value)| self.out.parameter(name, value));
        sent.and_then(|()| self.forward_notices()).and_then(|()| self.out.ready(status)).map_err(Hangup::With)?;
        self.flush().await
    }

    async fn flush(&mut self) -> Result<(), Hangup> {
        match flushed(&mut self.out, &mut self.stop, &mut Cancel(None)).await {
            Err(Failure::Connection(hangup)) => Err(hangup),
            Ok(()) | Err(Failure::Statement(_)) => Ok(()),
        }
    }
}

/// A position in a statement as one in the message.
pub(super) fn shifted(failure: Failure, offset: usize) -> Failure {
    match failure {
        Failure::Statement(error) => match error.position() {
            Some(position) => {
                let offset = u32::try_from(offset).unwrap_or(u32::MAX);
                Failure::Statement(error.with_position(position.saturating_add(offset)))
            }
            None => Failure::Statement(error),
        },
        other => other,
    }
}
