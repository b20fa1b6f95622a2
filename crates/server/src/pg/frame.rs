//! Cuts the byte stream into messages. A length is checked as soon as its four bytes are here, and memory follows the bytes that arrived,
//! never a length that was only announced.

use std::future::pending;

use bytes::{Buf, Bytes, BytesMut};
use millstream_types::limits::MAX_MESSAGE_BYTES;
use millstream_types::{Error, SqlState};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::Hangup;

/// Bytes that one read asks for.
const READ_CHUNK_BYTES: usize = 4 << 10;
/// Most bytes that one growth of the buffer adds.
const MAX_GROWTH_BYTES: usize = 1 << 20;
/// Bytes that are taken from the socket while a statement runs, to notice a client that left; then the socket holds it back.
const READ_AHEAD_BYTES: usize = 64 << 10;
/// A buffer that was larger than this is given back before the next wait.
const KEPT_BUFFER_BYTES: usize = 16 << 10;

/// One message: its type and what follows the length.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) tag: u8,
    pub(super) body: Bytes,
}

/// Reads messages. All its futures may be dropped and called again.
pub(super) struct FrameReader<R> {
    io: R,
    buffer: BytesMut,
    largest: usize,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    pub(super) fn new(io: R) -> Self {
        FrameReader { io, buffer: BytesMut::new(), largest: 0 }
    }

    /// True if bytes are here that nobody has looked at.
    pub(super) fn has_bytes(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// The next message; `None` if the client closed the connection between two messages.
    pub(super) async fn next(&mut self) -> Result<Option<Frame>, Hangup> {
        loop {
            if let Some(total) = self.checked_length()?
                && self.buffer.len() >= total
            {
                self.largest = self.largest.max(total);
                let mut message = self.buffer.split_to(total).freeze();
                let tag = message.get_u8();
                message.advance(4);
                return Ok(Some(Frame { tag, body: message }));
            }
            if !self.fill().await? {
                return if self.buffer.is_empty() { Ok(None) } else { Err(Hangup::Quietly) };
            }
        }
    }

    /// The type of the next message, which stays where it is; `None` if the client closed the connection.
    pub(super) async fn peek(&mut self) -> Result<Option<u8>, Hangup> {
        while self.buffer.is_empty() {
            if !self.fill().await? {
                return Ok(None);
            }
        }
        Ok(self.buffer.first().copied())
    }

    /// Resolves when the client is gone. Meanwhile keeps a bounded number of bytes that it sends.
    pub(super) async fn closed(&mut self) {
        loop {
            if self.buffer.len() >= READ_AHEAD_BYTES {
                return pending().await;
            }
            if !self.fill().await.unwrap_or(false) {
                return;
            }
        }
    }

    /// Throws away what comes until the client closes.
    pub(super) async fn drain(&mut self) -> Result<(), Hangup> {
        self.buffer.clear();
        while self.fill().await? {
            self.buffer.clear();
        }
        Ok(())
    }

    /// The packet that opens a connection, without its length; `None` if the client hung up before a whole one.
    pub(super) async fn start_packet(&mut self, max: usize) -> Result<Option<Bytes>, Hangup> {
        loop {
            if let Some(first) = self.buffer.first_chunk::<4>() {
                let total = start_length(*first, max)?;
                if self.buffer.len() >= total {
                    let mut packet = self.buffer.split_to(total).freeze();
                    packet.advance(4);
                    return Ok(Some(packet));
                }
            }
            if !self.fill().await? {
                return Ok(None);
            }
        }
    }

    /// Bytes of the message at the front, type and length included, once its header is here.
    fn checked_length(&self) -> Result<Option<usize>, Hangup> {
        let Some(header) = self.buffer.first_chunk::<5>() else { return Ok(None) };
        let [tag, length @ ..] = *header;
        if !is_frontend_tag(tag) {
            return Err(Hangup::With(violation(format!("invalid frontend message type {tag}"))));
        }
        match usize::try_from(i32::from_be_bytes(length)) {
            Ok(length) if (4..=MAX_MESSAGE_BYTES).contains(&length) => Ok(Some(length + 1)),
            _ => Err(Hangup::With(
                violation("invalid message length").with_detail(format!("a message may have 4 to {MAX_MESSAGE_BYTES} bytes")),
            )),
        }
    }

    /// Reads once; false at the end of the stream.
    async fn fill(&mut self) -> Result<bool, Hangup> {
        if self.buffer.is_empty() && self.largest > KEPT_BUFFER_BYTES {
            self.buffer = BytesMut::new();
            self.largest = 0;
        }
        self.buffer.reserve(self.buffer.len().clamp(READ_CHUNK_BYTES, MAX_GROWTH_BYTES));
        Ok(self.io.read_buf(&mut self.buffer).await? > 0)
    }
}

/// 08P01.
pub(super) fn violation(message: impl Into<String>) -> Error {
    Error::new(SqlState::PROTOCOL_VIOLATION, message)
}

fn is_frontend_tag(tag: u8) -> bool {
    matches!(tag, b'Q' | b'P' | b'B' | b'D' | b'E' | b'C' | b'H' | b'S' | b'X' | b'F' | b'd' | b'c' | b'f')
}

/// Total length of the opening packet. HTTP and TLS clients are left without a word, as they would not understand it.
fn start_length(header: [u8; 4], max: usize) -> Result<usize, Hangup> {
    let first = header[0];
    if first == 0x16 || first.is_ascii_graphic() {
        return Err(Hangup::Quietly);
    }
    match usize::try_from(i32::from_be_bytes(header)) {
        Ok(length) if (8..=max).contains(&length) => Ok(length),
        _ => Err(Hangup::With(violation("invalid length of startup packet"))),
    }
}
