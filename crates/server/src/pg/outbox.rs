//! Replies on their way to the client: encoded into one buffer, written when it is full or the protocol says so.

use bytes::{Buf, BufMut, BytesMut};
use millstream_types::{Error, Result, Schema};
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::data::{FieldDescription, RowDescription};
use pgwire::messages::response::{self, CommandComplete, ErrorResponse, NoticeResponse, ReadyForQuery};
use pgwire::messages::startup::ParameterStatus;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::Hangup;
use super::encode::{Format, RowEncoder};
use super::service::{Notice, Severity, TransactionStatus};
use super::types::{oid, type_modifier, type_size};

/// Bytes after which rows are written out.
const FULL_BYTES: usize = 64 << 10;
/// A buffer that was larger than this is given back once it is empty.
const KEPT_BUFFER_BYTES: usize = 16 << 10;

/// Collects replies and writes them. `flush` may be dropped and called again: what was written is not written twice.
pub(super) struct Outbox<W> {
    io: W,
    buffer: BytesMut,
}

impl<W: AsyncWrite + Unpin> Outbox<W> {
    pub(super) fn new(io: W) -> Self {
        Outbox { io, buffer: BytesMut::new() }
    }

    /// True if it is time to flush.
    pub(super) fn is_full(&self) -> bool {
        self.buffer.len() >= FULL_BYTES
    }

    /// Writes everything.
    pub(super) async fn flush(&mut self) -> Result<(), Hangup> {
        let large = self.buffer.capacity() > KEPT_BUFFER_BYTES;
        while self.buffer.has_remaining() {
            if self.io.write_buf(&mut self.buffer).await? == 0 {
                return Err(Hangup::Quietly);
            }
        }
        self.io.flush().await?;
        if large {
            self.buffer = BytesMut::new();
        } else {
            self.buffer.clear();
        }
        Ok(())
    }

    /// Flushes and says that nothing more comes.
    pub(super) async fn close(&mut self) -> Result<(), Hangup> {
        self.flush().await?;
        Ok(self.io.shutdown().await?)
    }

    /// One byte outside all messages: the answer of a negotiation.
    pub(super) fn put_byte(&mut self, byte: u8) {
        self.buffer.put_u8(byte);
    }

    /// A message.
    ///
    /// # Errors
    /// XX000 if it is larger than the protocol allows.
    pub(super) fn send(&mut self, message: PgWireBackendMessage) -> Result<()> {
        message.encode(&mut self.buffer).map_err(Error::internal)
    }

    /// `ErrorResponse`.
    pub(super) fn error(&mut self, severity: &str, error: &Error) -> Result<()> {
        let mut fields = report(severity, error.state().as_str(), error.message(), error.detail(), error.hint());
        if let Some(position) = error.position() {
            fields.push((b'P', position.to_string()));
        }
        self.send(PgWireBackendMessage::ErrorResponse(ErrorResponse::new(fields)))
    }

    /// `NoticeResponse`.
    pub(super) fn notice(&mut self, notice: &Notice) -> Result<()> {
        let severity = match notice.severity {
            Severity::Notice => "NOTICE",
            Severity::Warning => "WARNING",
        };
        let fields = report(severity, notice.state.as_str(), &notice.message, notice.detail.as_deref(), notice.hint.as_deref());
        self.send(PgWireBackendMessage::NoticeResponse(NoticeResponse::new(fields)))
    }

    /// `ParameterStatus`.
    pub(super) fn parameter(&mut self, name: String, value: String) -> Result<()> {
        self.send(PgWireBackendMessage::ParameterStatus(ParameterStatus::new(name, value)))
    }

    /// `ReadyForQuery`.
    pub(super) fn ready(&mut self, status: TransactionStatus) -> Result<()> {
        let status = match status {
            TransactionStatus::Idle => response::TransactionStatus::Idle,
            TransactionStatus::InTransaction => response::TransactionStatus::Transaction,
            TransactionStatus::Failed => response::TransactionStatus::Error,
        };
        self.send(PgWireBackendMessage::ReadyForQuery(ReadyForQuery::new(status)))
    }

    /// `CommandComplete`.
    pub(super) fn complete(&mut self, tag: String) -> Result<()> {
        self.send(PgWireBackendMessage::CommandComplete(CommandComplete::new(tag)))
    }

    /// `RowDescription`; `formats` has one entry per column.
    pub(super) fn describe(&mut self, schema: &Schema, formats: &[Format]) -> Result<()> {
        let fields = schema.columns.iter().zip(formats).map(|(c, format)| {
            let t = &c.sql_type;
            let name = c.name.replace('\0', "");
            FieldDescription::new(name, 0, 0, oid(t), type_size(t), type_modifier(t), format.code())
        });
        self.send(PgWireBackendMessage::RowDescription(RowDescription::new(fields.collect())))
    }

    /// `DataRow`; nothing is left behind if it fails.
    ///
    /// # Errors
    /// As [`RowEncoder::put`].
    pub(super) fn row(&mut self, rows: &RowEncoder, row: usize) -> Result<()> {
        let start = self.buffer.len();
        rows.put(row, &mut self.buffer).inspect_err(|_| self.buffer.truncate(start))
    }
}

/// The fields that errors and notices share. A NUL would end a field early.
fn report(severity: &str, state: &str, message: &str, detail: Option<&str>, hint: Option<&str>) -> Vec<(u8, String)> {
    let fields = [(b'S', Some(severity)), (b'V', Some(severity)), (b'C', Some(state)), (b'M', Some(message)), (b'D', detail), (b'H', hint)];
    fields.into_iter().filter_map(|(code, text)| Some((code, text?.replace('\0', "\u{fffd}")))).collect()
}
