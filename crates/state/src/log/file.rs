//! The DML log in files, synced for many transactions at once.
//!
//! A record is queued where its position is decided and written by a thread of the log: everything that is queued when a sync is over is
//! written and synced together. Readers read from memory, where records stay until they are truncated, and are given durable records only,
//! so nobody sees a change that a crash could take back.
//!
//! Opening reads all files. A record that was never durable may be torn: it and what is behind it is as if never written. A damaged one that
//! was durable is an error (XX001): positions are without gaps, and every frame says up to where the log was durable when it was written.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use millstream_types::faults::crash_point;
use millstream_types::{ChangeBatch, Epoch, Error, RelationId, Result, SqlState};
use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

use super::files::{LogFile, LogFiles};
use super::index::Index;
use super::{LogPosition, LogRecord, LogState, LogStore, LogWaker, frame};

/// Bytes after which a new file is started.
const FILE_BYTES: usize = 16 << 20;

/// A log in a directory.
pub struct FileLog {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    files: Arc<dyn LogFiles>,
    limit_bytes: usize,
    inner: Mutex<Inner>,
    /// There is something to write, or the log is to be closed.
    work: Condvar,
    state: watch::Sender<LogState>,
    wakers: Mutex<Vec<LogWaker>>,
}

#[derive(Default)]
struct Inner {
    index: Index,
    queue: VecDeque<(LogPosition, LogRecord)>,
    segments: VecDeque<Segment>,
    /// Bytes queued and in files.
    bytes: usize,
    closed: bool,
    failed: Option<Error>,
}

/// A file, with what is in it that is not truncated.
struct Segment {
    name: String,
    bytes: usize,
    /// The newest epoch of each table.
    tables: BTreeMap<RelationId, Epoch>,
}

impl FileLog {
    /// Opens the log of a directory and starts its thread.
    ///
    /// # Errors
    /// XX001 for records that were durable and are damaged, or of a newer version, naming the file; 58030.
    pub fn open(files: Arc<dyn LogFiles>, limit_bytes: usize) -> Result<Self> {
        let mut inner = Inner::default();
        let mut names = files.list().map_err(|e| failed("the log directory", &e))?;
        names.retain(|n| n.ends_with(".log"));
        names.sort();
        let mut next: Option<LogPosition> = None;
        for name in names {
            let bytes = files.read(&name).map_err(|e| failed(&name, &e))?;
            let Some(first) = frame::read_header(&bytes).map_err(|e| e.context(format!("log file \"{name}\"")))? else {
                files.remove(&name).map_err(|e| failed(&name, &e))?;
                continue;
            };
            if let Some(next) = next.filter(|next| *next != first) {
                return Err(damaged(&name, frame::HEADER_BYTES, &format!("It starts at position {first}, and {next} is missing")));
            }
            let scan = frame::scan(&bytes, first).map_err(|e| e.context(format!("log file \"{name}\"")))?;
            if let Some(durable) = scan.durable_behind.filter(|durable| *durable >= scan.next) {
                let what = format!("Position {} is damaged, and everything up to {durable} was durable", scan.next);
                return Err(damaged(&name, scan.end, &what));
            }
            next = Some(scan.next);
            let mut segment = Segment { name, bytes: scan.end, tables: BTreeMap::new() };
            for (position, _, record) in scan.records {
                let record = Arc::unwrap_or_clone(record);
                record.changes.iter().for_each(|(table, _)| segment.saw(*table, record.epoch));
                inner.index.push(position, record);
            }
            inner.bytes += segment.bytes;
            inner.segments.push_back(segment);
        }
        let last = next.map_or(0, |n| n - 1);
        (inner.index.last, inner.index.durable) = (last, last);
        let shared = Arc::new(Shared {
            files,
            limit_bytes,
            inner: Mutex::new(inner),
            work: Condvar::new(),
            state: watch::Sender::new(LogState { durable: last, failed: None }),
            wakers: Mutex::default(),
        });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("log".into()).spawn(move || of_thread.run())?;
        Ok(FileLog { shared, thread: Mutex::new(Some(thread)) })
    }
}

impl Segment {
    fn saw(&mut self, table: RelationId, epoch: Epoch) {
        self.tables.insert(table, epoch);
    }
}

impl Shared {
    /// The thread: writes until the log is closed.
    fn run(&self) {
        let mut file: Option<Box<dyn LogFile>> = None;
        loop {
            let batch: Vec<(LogPosition, LogRecord)> = {
                let mut inner = self.inner.lock();
                while inner.queue.is_empty() && !inner.closed {
                    self.work.wait(&mut inner);
                }
                if inner.queue.is_empty() {
                    return;
                }
                inner.queue.drain(..).collect()
            };
            let last = batch.last().map_or(0, |(position, _)| *position);
            match self.write(&mut file, batch) {
                Ok(()) => {
                    self.inner.lock().index.durable = last;
                    self.state.send_modify(|s| s.durable = last);
                }
                // Nobody knows what is on the disk now: nothing is ever appended behind it.
                Err(error) => {
                    tracing::error!(%error, "the log cannot be written any more");
                    self.inner.lock().failed = Some(error.clone());
                    self.state.send_modify(|s| s.failed = Some(error));
                }
            }
            let wakers: Vec<LogWaker> = self.wakers.lock().clone();
            wakers.iter().for_each(|wake| wake());
            if self.state.borrow().failed.is_some() {
                return;
            }
        }
    }

    fn write(&self, file: &mut Option<Box<dyn LogFile>>, batch: Vec<(LogPosition, LogRecord)>) -> Result<()> {
        let durable = self.state.borrow().durable;
        let Some(first) = batch.first().map(|(position, _)| *position) else { return Ok(()) };
        let full = self.inner.lock().segments.back().is_none_or(|s| s.bytes >= FILE_BYTES);
        let mut bytes = vec![];
        if full || file.is_none() {
            let name = format!("{first:020}.log");
            *file = Some(self.files.create(&name).map_err(|e| failed(&name, &e))?);
            bytes = frame::header(first);
            self.inner.lock().segments.push_back(Segment { name, bytes: 0, tables: BTreeMap::new() });
        }
        let mut saw = vec![];
        for (position, record) in &batch {
            bytes.extend(frame::encode(*position, durable, record)?);
            saw.extend(record.changes.iter().map(|(table, _)| (*table, record.epoch)));
        }
        if let Some(file) = file {
            crash_point("log-before-write");
            file.append(&bytes).map_err(|e| failed("the newest log file", &e))?;
            crash_point("log-before-sync");
            file.sync().map_err(|e| failed("the newest log file", &e))?;
            crash_point("log-synced");
        }
        let mut inner = self.inner.lock();
        let (queued, written) = (batch.iter().map(|(_, r)| size(r)).sum::<usize>(), bytes.len());
        inner.bytes = (inner.bytes + written).saturating_sub(queued);
        if let Some(segment) = inner.segments.back_mut() {
            segment.bytes += written;
            saw.into_iter().for_each(|(table, epoch)| segment.saw(table, epoch));
        }
        Ok(())
    }
}

fn size(record: &LogRecord) -> usize {
    record.changes.iter().map(|(_, c)| c.logical_bytes()).sum()
}

impl LogStore for FileLog {
    fn append(&self, record: LogRecord) -> Result<LogPosition> {
        let bytes = size(&record);
        let mut inner = self.shared.inner.lock();
        if let Some(error) = &inner.failed {
            return Err(error.clone());
        }
        // An empty log takes any transaction: otherwise one that is larger than the limit could never commit.
        if !inner.index.is_empty() && inner.bytes + bytes > self.shared.limit_bytes {
            return Err(super::full(inner.bytes, self.shared.limit_bytes));
        }
        inner.bytes += bytes;
        let position = inner.index.last + 1;
        inner.index.push(position, record.clone());
        inner.queue.push_back((position, record));
        self.shared.work.notify_one();
        Ok(position)
    }

    fn watch(&self) -> watch::Receiver<LogState> {
        self.shared.state.subscribe()
    }

    fn read(
        &self,
        table: RelationId,
        from: LogPosition,
        up_to: Epoch,
        max: usize,
    ) -> Result<Option<Vec<(LogPosition, Epoch, ChangeBatch)>>> {
        let inner = self.shared.inner.lock();
        if let Some(error) = &inner.failed {
            return Err(error.clone());
        }
        Ok(inner.index.read(table, from, up_to, max))
    }

    fn truncate(&self, table: RelationId, up_to: Epoch) {
        let mut inner = self.shared.inner.lock();
        inner.index.truncate(table, up_to);
        for segment in &mut inner.segments {
            segment.tables.retain(|t, epoch| *t != table || *epoch > up_to);
        }
        // Positions have no gaps, so files go from the oldest on; the newest one is being written.
        let mut removed = vec![];
        while inner.segments.len() > 1 && inner.segments.front().is_some_and(|s| s.tables.is_empty()) {
            removed.extend(inner.segments.pop_front());
        }
        inner.bytes = inner.bytes.saturating_sub(removed.iter().map(|s| s.bytes).sum());
        drop(inner);
        for segment in removed {
            if let Err(error) = self.shared.files.remove(&segment.name) {
                tracing::warn!(file = segment.name, %error, "a log file that is not needed any more cannot be removed");
            }
        }
    }

    fn last_epoch(&self, table: RelationId) -> Option<Epoch> {
        self.shared.inner.lock().index.last_epoch(table)
    }

    fn bytes(&self) -> usize {
        self.shared.inner.lock().bytes
    }

    fn on_durable(&self, waker: LogWaker) {
        self.shared.wakers.lock().push(waker);
    }

    fn forget_waker(&self, waker: &LogWaker) {
        self.shared.wakers.lock().retain(|w| !Arc::ptr_eq(w, waker));
    }
}

impl Drop for FileLog {
    fn drop(&mut self) {
        self.shared.inner.lock().closed = true;
        self.shared.work.notify_one();
        if let Some(thread) = self.thread.lock().take() {
            // Its failures were told to whoever waited.
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for FileLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileLog").field("files", &self.shared.files).finish_non_exhaustive()
    }
}

fn failed(file: &str, error: &io::Error) -> Error {
    let state = if error.kind() == io::ErrorKind::StorageFull { SqlState::DISK_FULL } else { SqlState::IO_ERROR };
    Error::new(state, format!("the log of table changes cannot be used: {file}"))
        .with_detail(error.to_string())
        .with_hint("make room or repair the disk, then start the server again: what was acknowledged is kept")
}

fn damaged(file: &str, at: usize, what: &str) -> Error {
    Error::new(SqlState::DATA_CORRUPTED, format!("log file \"{file}\" is damaged"))
        .with_detail(format!("{what}. Byte {at}."))
        .with_hint("restore the file from a backup of the data directory")
}
