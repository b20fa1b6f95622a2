//! From file to file: which are this subtask's, how far each was read, and what to do when one ends.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use millstream_graph::SourceSpec;
use millstream_runtime::connector::SourceContext;
use millstream_runtime::source::{SourcePoll, SourcePosition, SourceReader};
use millstream_types::{ChangeBatch, Clock, Epoch, Error, Result, Schema, SqlState, limits};
use serde::{Deserialize, Serialize};

use super::config::{FileFormat, SourceConfig};
use super::csv::{self, CsvDecoder};
use super::decode::Decoder;
use super::json::JsonDecoder;
use super::parquet::ParquetFile;
use super::records::{RecordFile, replaced, truncated};
use super::root::{Head, Location, OpenFile, Root};
use crate::random::mix;

/// How far a file was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Progress {
    inode: u64,
    /// How it started when it was opened, or ended, last.
    head: Head,
    /// Bytes (unpacked); rows of a Parquet file.
    offset: u64,
    line: u64,
    /// Its size when its end was reached; `None`: not yet.
    size_at_end: Option<u64>,
}

/// The file that is being read.
struct Current {
    name: String,
    contents: Contents,
}

enum Contents {
    Records(Box<RecordFile>, Box<Decoder>),
    Parquet(Box<ParquetFile>),
}

/// Reads the files of one subtask.
pub struct FileReader {
    config: SourceConfig,
    location: Location,
    root: Root,
    declared: Schema,
    /// The columns that are read.
    schema: Schema,
    subtask: u64,
    parallelism: u64,
    clock: Arc<dyn Clock>,
    progress: BTreeMap<String, Progress>,
    queue: VecDeque<String>,
    current: Option<Current>,
    /// When the files were listed last.
    listed: Option<Duration>,
    skipped: u64,
}

impl FileReader {
    /// A reader that has read nothing.
    ///
    /// # Errors
    /// 42704, 22023 for options, 42501 outside the roots, 58P01 if the root is not there.
    pub fn new(spec: &SourceSpec, ctx: &SourceContext, roots: &[PathBuf]) -> Result<Self> {
        let config = SourceConfig::parse(&spec.options)?;
        let location = Location::parse(&config.path, roots)?;
        let root = location.open(false)?;
        Ok(FileReader {
            config,
            location,
            root,
            declared: spec.schema.clone(),
            schema: spec.schema.project(&spec.projection),
            subtask: u64::from(ctx.subtask),
            parallelism: u64::from(ctx.parallelism.max(1)),
            clock: Arc::clone(&ctx.clock),
            progress: BTreeMap::new(),
            queue: VecDeque::new(),
            current: None,
            listed: None,
            skipped: 0,
        })
    }

    /// Rows left out because they were malformed.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Queues this subtask's files that have something new.
    fn list(&mut self) -> Result<()> {
        self.listed = Some(self.clock.monotonic());
        let names = match self.root.list(self.location.path()) {
            Err(e) if self.config.watch && e.state() == SqlState::UNDEFINED_FILE => vec![],
            names => names?,
        };
        for name in names {
            if self.is_own(&name) && self.has_more(&name)? {
                self.queue.push_back(name);
            }
        }
        Ok(())
    }

    /// Files go to subtasks by the hash of their names.
    fn is_own(&self, name: &str) -> bool {
        let hash = name.bytes().fold(0, |h, b| mix(h ^ u64::from(b)));
        hash % self.parallelism == self.subtask
    }

    /// Whether a listed file has something to read; that it is the file it was.
    fn has_more(&self, name: &str) -> Result<bool> {
        let Some(progress) = self.progress.get(name) else { return Ok(true) };
        let Some(size_at_end) = progress.size_at_end else { return Ok(true) };
        let now = self.root.open_file(name)?;
        self.check(name, progress, &now)?;
        if now.size != size_at_end && self.is_read_whole(name) {
            return Err(Error::new(SqlState::IO_ERROR, format!("file \"{name}\" changed after it was read"))
                .with_detail(format!("It had {size_at_end} bytes and has {} now.", now.size)));
        }
        Ok(now.size > size_at_end)
    }

    /// Packed files and Parquet files cannot grow.
    fn is_read_whole(&self, name: &str) -> bool {
        self.config.format == FileFormat::Parquet || name.ends_with(".gz")
    }

    fn check(&self, name: &str, progress: &Progress, now: &OpenFile) -> Result<()> {
        if now.inode != progress.inode {
            return Err(replaced(name, progress.offset, progress.line));
        }
        if !self.is_read_whole(name) && now.size < progress.offset {
            return Err(truncated(name, now.size, progress.offset, progress.line));
        }
        if !now.starts_with(name, progress.head)? {
            return Err(replaced(name, progress.offset, progress.line));
        }
        Ok(())
    }

    fn open(&mut self, name: String) -> Result<()> {
        let open = self.root.open_file(&name)?;
        let fresh = Progress { inode: open.inode, head: open.head(&name, u64::MAX)?, offset: 0, line: 1, size_at_end: None };
        let progress = self.progress.entry(name.clone()).or_insert(fresh).clone();
        self.check(&name, &progress, &open)?;
        let contents = match self.config.format {
            FileFormat::Parquet => Contents::Parquet(Box::new(ParquetFile::new(&name, open, &self.schema, progress.offset)?)),
            FileFormat::Json => {
                let file = RecordFile::new(&name, open, None, progress.offset, progress.line)?;
                Contents::Records(Box::new(file), Box::new(Decoder::Json(JsonDecoder::new(&self.schema))))
            }
            FileFormat::Csv => match self.open_csv(&name, open, &progress)? {
                Some((file, decoder)) => Contents::Records(Box::new(file), Box::new(Decoder::Csv(decoder))),
                None => return self.ended(&name),
            },
        };
        self.current = Some(Current { name, contents });
        Ok(())
    }

    /// The header comes first, also when reading goes on in the middle. None: it is not there yet.
    fn open_csv(&self, name: &str, open: OpenFile, progress: &Progress) -> Result<Option<(RecordFile, CsvDecoder)>> {
        let style = self.config.csv;
        let quote = Some(style.quote);
        if !style.header {
            let names: Vec<_> = self.declared.columns.iter().map(|c| c.name.clone()).collect();
            let file = RecordFile::new(name, open, quote, progress.offset, progress.line)?;
            return Ok(Some((file, CsvDecoder::new(style, &self.schema, &names)?)));
        }
        let mut file = RecordFile::new(name, open, quote, 0, 1)?;
        let Some(header) = file.next(1, !self.config.watch)?.first().copied() else { return Ok(None) };
        let place = |e: Error| e.context(format!("header of file \"{name}\", line {}", header.line));
        let wrong = |what: &str| place(Error::new(SqlState::BAD_COPY_FILE_FORMAT, what));
        let text = std::str::from_utf8(&file.buffer()[header.start..header.end]).map_err(|_| wrong("it is not UTF-8"))?;
        if text.starts_with('\u{FEFF}') {
            return Err(wrong("the file starts with a byte order mark"));
        }
        let names: Vec<_> = csv::texts(text, style).map_err(place)?.into_iter().map(Option::unwrap_or_default).collect();
        let decoder = CsvDecoder::new(style, &self.schema, &names).map_err(place)?;
        if progress.offset > 0 {
            file = RecordFile::new(name, self.root.open_file(name)?, quote, progress.offset, progress.line)?;
        }
        Ok(Some((file, decoder)))
    }

    /// The next rows of the current file; `None` if it has no more.
    fn read(&mut self, max_rows: usize) -> Result<Option<RecordBatch>> {
        let Some(current) = &mut self.current else { return Ok(None) };
        let (batch, (offset, line)) = match &mut current.contents {
            Contents::Parquet(file) => {
                let batch = file.next(max_rows)?;
                (batch, (file.rows, 1))
            }
            Contents::Records(file, decoder) => {
                let records = file.next(max_rows, !self.config.watch || current.name.ends_with(".gz"))?;
                let batch = if records.is_empty() {
                    None
                } else {
                    Some(decoder.decode(&current.name, file.buffer(), &records, self.config.skip, &mut self.skipped)?)
                };
                (batch, file.position())
            }
        };
        if let Some(progress) = self.progress.get_mut(&current.name) {
            (progress.offset, progress.line) = (offset, line);
        }
        Ok(batch)
    }

    /// The end of a file was reached: it must still be the one that was opened. One that was removed meanwhile was read to its end.
    fn ended(&mut self, name: &str) -> Result<()> {
        self.current = None;
        let now = match self.root.open_file(name) {
            Err(e) if e.state() == SqlState::UNDEFINED_FILE => None,
            now => Some(now?),
        };
        if let (Some(now), Some(progress)) = (&now, self.progress.get(name)) {
            self.check(name, progress, now)?;
        }
        let whole = self.is_read_whole(name);
        if let Some(progress) = self.progress.get_mut(name) {
            // What was appended since the end was seen is found by the next listing.
            let read = if whole { now.as_ref().map_or(0, |n| n.size) } else { progress.offset };
            progress.size_at_end = Some(read);
            if let Some(now) = &now {
                progress.head = now.head(name, if whole { u64::MAX } else { read })?;
            }
        }
        if self.skipped > 0 {
            tracing::warn!(target: "millstream::filesystem", file = name, skipped = self.skipped, "malformed rows skipped so far");
        }
        Ok(())
    }

    /// What to do when no file is open and none is queued.
    fn idle(&mut self) -> Result<Option<SourcePoll>> {
        let now = self.clock.monotonic();
        match self.listed {
            Some(_) if !self.config.watch => return Ok(Some(SourcePoll::Finished)),
            Some(listed) if now < listed + self.config.poll_interval => {
                return Ok(Some(SourcePoll::Pending { wake_after: Some(listed + self.config.poll_interval - now) }));
            }
            _ => self.list()?,
        }
        Ok(None)
    }
}

impl SourceReader for FileReader {
    fn poll(&mut self, cut: Option<Epoch>, max_rows: usize) -> Result<SourcePoll> {
        if cut.is_some() {
            return Ok(SourcePoll::CutReached);
        }
        loop {
            if let Some(name) = self.current.as_ref().map(|c| c.name.clone()) {
                match self.read(max_rows.clamp(1, limits::BATCH_TARGET_ROWS))? {
                    Some(batch) if batch.num_rows() > 0 => return Ok(SourcePoll::Batch(ChangeBatch::inserts(batch))),
                    Some(_) => {}
                    None => self.ended(&name)?,
                }
            } else if let Some(name) = self.queue.pop_front() {
                self.open(name)?;
            } else if let Some(poll) = self.idle()? {
                return Ok(poll);
            }
        }
    }

    fn snapshot(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(&self.progress).map_err(Error::internal)
    }

    /// Each file's progress goes to the subtask that the file goes to now.
    fn restore(&mut self, positions: &[SourcePosition], _epoch: Epoch) -> Result<()> {
        let wrong = |e: serde_json::Error| {
            Error::new(SqlState::DATA_CORRUPTED, "stored position of a filesystem source cannot be read").with_detail(e.to_string())
        };
        self.progress.clear();
        for position in positions {
            let files: BTreeMap<String, Progress> = serde_json::from_slice(&position.bytes).map_err(wrong)?;
            let own: Vec<_> = files.into_iter().filter(|(name, _)| self.is_own(name)).collect();
            self.progress.extend(own);
        }
        Ok(())
    }
}
