//! Bytes of a file cut into whole records: lines of JSON, or CSV records, whose quoted fields may contain line ends.

use std::io::{self, Read, Seek, SeekFrom};

use flate2::read::MultiGzDecoder;
use millstream_types::{Error, Result, SqlState, limits};

use super::root::{OpenFile, failed};

/// Bytes read ahead.
const READ_BYTES: usize = 1 << 20;

/// A record in the buffer, without its line end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) start: usize,
    pub(super) end: usize,
    /// 1-based number of its first line.
    pub(super) line: u64,
}

enum Input {
    Plain(std::fs::File),
    Gzip(Box<MultiGzDecoder<std::fs::File>>),
}

/// A file being read.
pub(super) struct RecordFile {
    name: String,
    input: Input,
    /// For asking its size.
    handle: std::fs::File,
    /// Line ends inside these do not end a record.
    quote: Option<u8>,
    buffer: Vec<u8>,
    /// Bytes of the buffer that were handed out as records.
    taken: usize,
    /// Bytes of the file (unpacked) before the buffer.
    before: u64,
    /// Line of the first byte that was not handed out.
    line: u64,
    ended: bool,
}

impl RecordFile {
    /// Starts at `offset` (unpacked bytes), which is where line `line` starts. Gzip by the name's ending.
    pub(super) fn new(name: &str, open: OpenFile, quote: Option<u8>, offset: u64, line: u64) -> Result<Self> {
        let handle = open.file.try_clone().map_err(|e| failed(name, e))?;
        let mut file = open.file;
        let input = if name.ends_with(".gz") {
            let mut unpacked = MultiGzDecoder::new(file);
            io::copy(&mut unpacked.by_ref().take(offset), &mut io::sink()).map_err(|e| failed(name, e))?;
            Input::Gzip(Box::new(unpacked))
        } else {
            if open.size < offset {
                return Err(truncated(name, open.size, offset, line));
            }
            file.seek(SeekFrom::Start(offset)).map_err(|e| failed(name, e))?;
            Input::Plain(file)
        };
        Ok(RecordFile { name: name.into(), input, handle, quote, buffer: vec![], taken: 0, before: offset, line, ended: false })
    }

    /// Unpacked bytes handed out, and the line behind them.
    pub(super) fn position(&self) -> (u64, u64) {
        (self.before + self.taken as u64, self.line)
    }

    /// What the records of the last call point into.
    pub(super) fn buffer(&self) -> &[u8] {
        &self.buffer
    }

    /// The next records, at most `most`, blank lines left out. None: the end of the file was reached. The last record needs its line end
    /// unless `last_is_whole`.
    ///
    /// # Errors
    /// 54000 for a record that is too long, 22P04 for broken compression, 58030 for a file that became shorter.
    pub(super) fn next(&mut self, most: usize, last_is_whole: bool) -> Result<Vec<Record>> {
        self.buffer.drain(..self.taken);
        self.before += self.taken as u64;
        self.taken = 0;
        let mut records = vec![];
        let mut wanted = READ_BYTES;
        loop {
            self.fill(wanted)?;
            self.cut(most, &mut records)?;
            if !records.is_empty() {
                return Ok(records);
            }
            if self.buffer.len() - self.taken > limits::MAX_ROW_BYTES {
                return Err(self.too_long());
            }
            if self.ended {
                break;
            }
            wanted = (self.buffer.len() - self.taken) * 2 + READ_BYTES;
        }
        if last_is_whole && self.taken < self.buffer.len() {
            let (start, end) = (self.taken, self.buffer.len());
            self.push(start, end, &mut records)?;
            self.line += newlines(&self.buffer[start..end]) + 1;
            self.taken = end;
        }
        Ok(records)
    }

    /// Hands out complete records.
    fn cut(&mut self, most: usize, records: &mut Vec<Record>) -> Result<()> {
        while records.len() < most {
            let Some(length) = record_len(&self.buffer[self.taken..], self.quote) else { return Ok(()) };
            let (start, end) = (self.taken, self.taken + length);
            self.push(start, end, records)?;
            self.line += newlines(&self.buffer[start..end]) + 1;
            self.taken = end + 1;
        }
        Ok(())
    }

    fn push(&self, start: usize, end: usize, records: &mut Vec<Record>) -> Result<()> {
        let end = if self.buffer[start..end].last() == Some(&b'\r') { end - 1 } else { end };
        if end - start > limits::MAX_ROW_BYTES {
            return Err(self.too_long());
        }
        if !self.buffer[start..end].iter().all(u8::is_ascii_whitespace) {
            records.push(Record { start, end, line: self.line });
        }
        Ok(())
    }

    fn too_long(&self) -> Error {
        Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("row in file \"{}\", line {} is too long", self.name, self.line))
            .with_detail(format!("A row has at most {} bytes.", limits::MAX_ROW_BYTES))
    }

    fn fill(&mut self, wanted: usize) -> Result<()> {
        self.ended = false;
        while self.buffer.len() - self.taken < wanted {
            let missing = (wanted - (self.buffer.len() - self.taken)) as u64;
            let read = match &mut self.input {
                Input::Plain(file) => file.by_ref().take(missing).read_to_end(&mut self.buffer),
                Input::Gzip(unpacked) => unpacked.by_ref().take(missing).read_to_end(&mut self.buffer),
            };
            let read = read.map_err(|e| match e.kind() {
                io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                    Error::new(SqlState::BAD_COPY_FILE_FORMAT, format!("file \"{}\" is no whole gzip file", self.name))
                        .with_detail(e.to_string())
                }
                _ => failed(&self.name, e),
            })?;
            if read == 0 {
                self.ended = true;
                return self.check_size();
            }
        }
        Ok(())
    }

    /// A file that is shorter than what was read of it was truncated under us.
    fn check_size(&self) -> Result<()> {
        let read = self.before + self.buffer.len() as u64;
        let size = self.handle.metadata().map_err(|e| failed(&self.name, e))?.len();
        if matches!(self.input, Input::Plain(_)) && size < read {
            return Err(truncated(&self.name, size, read, self.line));
        }
        Ok(())
    }
}

/// The error for a file that lost bytes.
pub(super) fn truncated(name: &str, size: u64, read: u64, line: u64) -> Error {
    Error::new(SqlState::IO_ERROR, format!("file \"{name}\" became shorter while it was read"))
        .with_detail(format!("It has {size} bytes, and {read} were read, up to line {line}."))
}

/// The error for a file that is another one now.
pub(super) fn replaced(name: &str, offset: u64, line: u64) -> Error {
    Error::new(SqlState::IO_ERROR, format!("file \"{name}\" was replaced while it was read"))
        .with_detail(format!("Of the old file {offset} bytes were read, up to line {line}."))
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Length of the first record without its line end; `None` if it has none yet.
fn record_len(bytes: &[u8], quote: Option<u8>) -> Option<usize> {
    let Some(quote) = quote else { return memchr::memchr(b'\n', bytes) };
    let mut quoted = false;
    for at in memchr::memchr2_iter(b'\n', quote, bytes) {
        if bytes[at] == quote {
            quoted = !quoted;
        } else if !quoted {
            return Some(at);
        }
    }
    None
}
