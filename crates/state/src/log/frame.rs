//! The bytes of log files.
//!
//! A file starts with `MSLG`, version (u16) and the position of its first record (u64). A frame is length (u32), checksum (xxh3 of the body,
//! u64), body; length 0 is the end. A body is position (u64), the position up to which everything was durable when it was written (u64),
//! epoch (u64), number of changes (u32), and per change table (u64), number of row kinds (u32; 0: all are inserts), a byte each, length of
//! the rows (u32), the rows as an Arrow IPC stream. All numbers little endian.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use bytes::Buf;
use millstream_types::{ChangeBatch, Error, ObjectId, Result, RowKind, SqlState};
use xxhash_rust::xxh3::xxh3_64;

use super::{LogPosition, LogRecord};

const MAGIC: &[u8; 4] = b"MSLG";
pub(super) const VERSION: u16 = 1;
/// Bytes before the first frame.
pub(super) const HEADER_BYTES: usize = 14;
/// Bytes before a body.
const FRAME_BYTES: usize = 12;

/// The start of a file.
pub(super) fn header(first: LogPosition) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&first.to_le_bytes());
    bytes
}

/// The position of a file's first record; `None` for a file whose header was not written completely.
///
/// # Errors
/// XX001 for another version.
pub(super) fn read_header(bytes: &[u8]) -> Result<Option<LogPosition>> {
    if bytes.len() < HEADER_BYTES || &bytes[..4] != MAGIC {
        return Ok(None);
    }
    let mut rest = &bytes[4..HEADER_BYTES];
    let version = rest.get_u16_le();
    if version > VERSION {
        return Err(Error::new(SqlState::DATA_CORRUPTED, "the log was written by a newer version of Millstream")
            .with_detail(format!("Its files have version {version}, this binary knows up to {VERSION}.")));
    }
    Ok(Some(rest.get_u64_le()))
}

/// A record as a frame.
pub(super) fn encode(position: LogPosition, durable: LogPosition, record: &LogRecord) -> Result<Vec<u8>> {
    let mut bytes = vec![0; FRAME_BYTES];
    for number in [position, durable, record.epoch] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&length(record.changes.len())?);
    for (table, changes) in &record.changes {
        bytes.extend_from_slice(&table.0.to_le_bytes());
        let kinds = changes.kinds().unwrap_or_default();
        bytes.extend_from_slice(&length(kinds.len())?);
        bytes.extend(kinds.iter().map(|k| *k as u8));
        let mut rows = vec![];
        let mut writer = StreamWriter::try_new(&mut rows, &changes.schema())?;
        writer.write(changes.rows())?;
        writer.finish()?;
        drop(writer);
        bytes.extend_from_slice(&length(rows.len())?);
        bytes.extend_from_slice(&rows);
    }
    let body = length(bytes.len() - FRAME_BYTES)?;
    let checksum = xxh3_64(&bytes[FRAME_BYTES..]);
    bytes[..4].copy_from_slice(&body);
    bytes[4..FRAME_BYTES].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

fn length(len: usize) -> Result<[u8; 4]> {
    let len = u32::try_from(len).map_err(|_| Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "a transaction is too large for the log"))?;
    Ok(len.to_le_bytes())
}

/// A frame that is whole.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    /// Bytes of it.
    pub(super) len: usize,
    pub(super) position: LogPosition,
    /// Everything up to here was durable when it was written.
    pub(super) durable: LogPosition,
    body: &'a [u8],
}

/// The frame at the start of `bytes`; `None` if there is none, or it is damaged.
pub(super) fn frame(bytes: &[u8]) -> Option<Frame<'_>> {
    let mut head = bytes.get(..FRAME_BYTES)?;
    let (len, checksum) = (head.get_u32_le() as usize, head.get_u64_le());
    let body = bytes.get(FRAME_BYTES..FRAME_BYTES.checked_add(len)?)?;
    if body.len() < 28 || xxh3_64(body) != checksum {
        return None;
    }
    let mut numbers = body;
    Some(Frame { len: FRAME_BYTES + len, position: numbers.get_u64_le(), durable: numbers.get_u64_le(), body: &body[16..] })
}

impl Frame<'_> {
    /// The record.
    ///
    /// # Errors
    /// XX001 for bytes that are none.
    pub(super) fn record(&self) -> Result<LogRecord> {
        let wrong = || {
            Error::new(SqlState::DATA_CORRUPTED, "a record of the log cannot be read").with_detail(format!("Position {}.", self.position))
        };
        let mut bytes = self.body;
        let take = |bytes: &mut &[u8], len: usize| -> Result<Vec<u8>> {
            if bytes.len() < len {
                return Err(wrong());
            }
            Ok(bytes.copy_to_bytes(len).to_vec())
        };
        let epoch = bytes.get_u64_le();
        let count = bytes.get_u32_le();
        let mut changes = vec![];
        for _ in 0..count {
            if bytes.len() < 12 {
                return Err(wrong());
            }
            let table = ObjectId(bytes.get_u64_le());
            let kinds = bytes.get_u32_le() as usize;
            let kinds = take(&mut bytes, kinds)?.into_iter().map(kind).collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
            if bytes.len() < 4 {
                return Err(wrong());
            }
            let rows = bytes.get_u32_le() as usize;
            let rows = take(&mut bytes, rows)?;
            let mut reader = StreamReader::try_new(rows.as_slice(), None)?;
            let rows: RecordBatch = reader.next().ok_or_else(wrong)??;
            let plain = kinds.is_empty();
            if !plain && kinds.len() != rows.num_rows() {
                return Err(wrong());
            }
            changes.push((table, if plain { ChangeBatch::inserts(rows) } else { ChangeBatch::new(rows, kinds) }));
        }
        if bytes.has_remaining() {
            return Err(wrong());
        }
        Ok(LogRecord { epoch, changes })
    }
}

fn kind(byte: u8) -> Option<RowKind> {
    [RowKind::Insert, RowKind::UpdateBefore, RowKind::UpdateAfter, RowKind::Delete].into_iter().find(|k| *k as u8 == byte)
}

/// What was found in a file.
pub(super) struct Scan {
    pub(super) records: Vec<(LogPosition, usize, Arc<LogRecord>)>,
    /// The first position that was not found.
    pub(super) next: LogPosition,
    /// The largest position that a frame behind the first damaged one says was durable.
    pub(super) durable_behind: Option<LogPosition>,
    /// Where the frames end.
    pub(super) end: usize,
}

/// Reads the frames of a file whose first record has position `first`.
///
/// # Errors
/// XX001 for a whole frame that is no record.
pub(super) fn scan(bytes: &[u8], first: LogPosition) -> Result<Scan> {
    let mut scan = Scan { records: vec![], next: first, durable_behind: None, end: HEADER_BYTES };
    while let Some(frame) = frame(&bytes[scan.end..]).filter(|f| f.position == scan.next) {
        scan.records.push((frame.position, frame.len, Arc::new(frame.record()?)));
        scan.next += 1;
        scan.end += frame.len;
    }
    // What was written together may be torn anywhere; a whole frame behind a hole says what must have been there.
    let rest = &bytes[scan.end..];
    if rest.iter().any(|b| *b != 0) {
        let frames = (1..rest.len()).filter_map(|at| frame(&rest[at..]));
        scan.durable_behind = frames.map(|f| f.durable).max();
    }
    Ok(scan)
}
