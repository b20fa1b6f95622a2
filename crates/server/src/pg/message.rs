//! Decodes messages of clients. Every count and length is checked against the bytes that are there.

use bytes::{Buf, Bytes};
use millstream_types::{Error, Result, SqlState};

use super::frame::{Frame, violation};

/// A value of Bind; `None` is NULL.
pub(super) type RawValue = Option<Bytes>;

/// Parse.
#[derive(Debug, PartialEq)]
pub(super) struct Parse {
    pub(super) name: String,
    pub(super) sql: String,
    pub(super) types: Vec<u32>,
}

/// Bind.
#[derive(Debug, PartialEq)]
pub(super) struct Bind {
    pub(super) portal: String,
    pub(super) statement: String,
    pub(super) formats: Vec<i16>,
    pub(super) values: Vec<RawValue>,
    pub(super) result_formats: Vec<i16>,
}

/// What Describe and Close name.
#[derive(Debug, PartialEq)]
pub(super) enum Target {
    Statement(String),
    Portal(String),
}

/// A message.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    Query(String),
    Parse(Parse),
    Bind(Bind),
    Describe(Target),
    Execute {
        portal: String,
        max_rows: usize,
    },
    Close(Target),
    Flush,
    Sync,
    Terminate,
    /// `CopyData`, `CopyDone`, `CopyFail`: nothing copies, so they are strays.
    StrayCopy,
    FunctionCall,
}

impl Message {
    /// Decodes; the frame's type is one of the protocol's.
    ///
    /// # Errors
    /// 08P01 if the body is not what the type says, 22021 for text that is not UTF-8.
    pub(super) fn decode(frame: Frame) -> Result<Message> {
        let mut body = Body(frame.body);
        let message = match frame.tag {
            b'Q' => Message::Query(body.text()?),
            b'P' => Message::Parse(Parse { name: body.text()?, sql: body.text()?, types: body.list(4, |b| b.0.get_u32())? }),
            b'B' => Message::Bind(body.bind()?),
            b'D' => Message::Describe(body.target("DESCRIBE")?),
            b'E' => {
                let portal = body.text()?;
                // PostgreSQL takes zero and negative numbers as "all".
                let max_rows = usize::try_from(body.int()?).ok().filter(|n| *n > 0).unwrap_or(usize::MAX);
                Message::Execute { portal, max_rows }
            }
            b'C' => Message::Close(body.target("CLOSE")?),
            b'H' => Message::Flush,
            b'S' => Message::Sync,
            b'X' => Message::Terminate,
            b'F' => return Ok(Message::FunctionCall),
            b'd' | b'c' | b'f' => return Ok(Message::StrayCopy),
            tag => return Err(violation(format!("invalid frontend message type {tag}"))),
        };
        if body.0.has_remaining() { Err(violation("invalid message format")) } else { Ok(message) }
    }
}

/// True for the messages after whose errors everything up to Sync is skipped.
pub(super) fn is_extended(tag: u8) -> bool {
    matches!(tag, b'P' | b'B' | b'D' | b'E' | b'C' | b'H')
}

/// Text from the client.
///
/// # Errors
/// 22021 if it is not UTF-8, naming the first bytes that are wrong.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|e| {
        let wrong = bytes.iter().skip(e.valid_up_to()).take(e.error_len().unwrap_or(1));
        let wrong: Vec<String> = wrong.map(|b| format!("0x{b:02x}")).collect();
        Error::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, format!("invalid byte sequence for encoding \"UTF8\": {}", wrong.join(" ")))
    })
}

/// What is left of a body.
pub(super) struct Body(pub(super) Bytes);

impl Body {
    fn need(&self, bytes: usize) -> Result<()> {
        if self.0.remaining() < bytes { Err(violation("insufficient data left in message")) } else { Ok(()) }
    }

    /// Text up to a NUL.
    pub(super) fn text(&mut self) -> Result<String> {
        let end = self.0.iter().position(|b| *b == 0).ok_or_else(|| violation("invalid string in message"))?;
        let bytes = self.0.split_to(end);
        self.0.advance(1);
        utf8(&bytes).map(str::to_owned)
    }

    fn int(&mut self) -> Result<i32> {
        self.need(4)?;
        Ok(self.0.get_i32())
    }

    fn count(&mut self) -> Result<usize> {
        self.need(2)?;
        Ok(usize::from(self.0.get_u16()))
    }

    fn list<T>(&mut self, size: usize, mut item: impl FnMut(&mut Self) -> T) -> Result<Vec<T>> {
        let count = self.count()?;
        self.need(count * size)?;
        Ok((0..count).map(|_| item(self)).collect())
    }

    fn value(&mut self) -> Result<RawValue> {
        match self.int()? {
            -1 => Ok(None),
            length => {
                let length = usize::try_from(length).map_err(|_| violation("invalid parameter length in bind message"))?;
                self.need(length)?;
                Ok(Some(self.0.split_to(length)))
            }
        }
    }

    fn bind(&mut self) -> Result<Bind> {
        let (portal, statement) = (self.text()?, self.text()?);
        let formats = self.list(2, |b| b.0.get_i16())?;
        let count = self.count()?;
        self.need(count * 4)?;
        let values = (0..count).map(|_| self.value()).collect::<Result<_>>()?;
        Ok(Bind { portal, statement, formats, values, result_formats: self.list(2, |b| b.0.get_i16())? })
    }

    fn target(&mut self, what: &str) -> Result<Target> {
        self.need(1)?;
        match self.0.get_u8() {
            b'S' => self.text().map(Target::Statement),
            b'P' => self.text().map(Target::Portal),
            other => Err(violation(format!("invalid {what} message subtype {other}"))),
        }
    }
}
