//! Files that appear whole or not at all: written under a hidden name, renamed when their rows are durable.
//!
//! A directory gets one file per subtask and roll. With checkpoints, every checkpoint rolls, and a file gets its name when the checkpoint
//! that its rows are part of is durable ([`commit`]): no row is missing, none is there twice, wherever the process was killed. Without,
//! a barrier rolls when there are enough rows or bytes, or when the last roll is long enough ago. A single file appears at the end, and
//! cannot be continued after a restart. What a killed process leaves are hidden files, removed by the next attempt of the same subtask.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use millstream_graph::SinkSpec;
use millstream_runtime::connector::{SinkContext, SinkWriter};
use millstream_types::faults::{Bug, crash_point, has_bug};
use millstream_types::{Barrier, ChangeBatch, Clock, Epoch, Error, Result, Schema, SqlState};
use rustix::fs::RenameFlags;
use serde::{Deserialize, Serialize};

use super::config::SinkConfig;
use super::encode::{Encoder, check_types};
use super::root::{Location, failed};

/// Names tried for a file before giving up.
const MAX_NAMES: u32 = 1_000;

/// Writes one subtask's rows.
pub struct FileWriter {
    config: SinkConfig,
    schema: SchemaRef,
    dir: Dir,
    /// The name, if the sink is one file.
    one_file: Option<String>,
    /// Job, vertex and subtask: the part of names that no other writer has.
    owner: String,
    /// The cut and the attempt that this writer started with: no file that was prepared for that cut, or before, has the same hidden name.
    start: String,
    part: Option<Part>,
    /// Files started.
    sequence: u32,
    epoch: Epoch,
    clock: Arc<dyn Clock>,
    last_roll: Duration,
    checkpoints: bool,
    /// Files that wait for their checkpoint.
    prepared: Vec<Prepared>,
}

/// A file that is complete and waits for its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Prepared {
    hidden: String,
    name: String,
}

/// Gives files their names that were prepared at a checkpoint which is durable now. Those that have them are left alone.
///
/// # Errors
/// 42710 if a name is taken by another file; 58030.
pub(crate) fn commit(spec: &SinkSpec, committables: &[Vec<u8>], roots: &[PathBuf]) -> Result<()> {
    let config = SinkConfig::parse(&spec.options)?;
    let location = Location::parse(&config.path, roots)?;
    let dir = location.open(true)?.make_dir(location.path())?;
    for committable in committables {
        let wrong =
            |e: serde_json::Error| Error::new(SqlState::DATA_CORRUPTED, "a prepared file cannot be read").with_detail(e.to_string());
        let Prepared { hidden, name } = serde_json::from_slice(committable).map_err(wrong)?;
        match rustix::fs::renameat_with(&dir, &hidden, &dir, &name, RenameFlags::NOREPLACE) {
            Ok(()) => crash_point("sink-renamed"),
            // It has its name, or had it until somebody took the file away.
            Err(rustix::io::Errno::NOENT) => (),
            Err(rustix::io::Errno::EXIST) => return Err(exists(&format!("{}/{name}", config.path))),
            Err(e) => return Err(failed(&name, e.into())),
        }
    }
    dir.open(".").and_then(|dir| dir.sync_all()).map_err(|e| failed(&config.path, e))
}

/// The file that is being written.
struct Part {
    hidden: String,
    encoder: Encoder,
    rows: u64,
    bytes: u64,
}

impl FileWriter {
    /// A writer below a root; makes the directory.
    ///
    /// # Errors
    /// 42704, 22023 for options, 42501 outside the roots, 0A000 for one file at a higher parallelism, 42710 if that file is there already.
    pub fn new(spec: &SinkSpec, ctx: &SinkContext, roots: &[PathBuf]) -> Result<Self> {
        let config = SinkConfig::parse(&spec.options)?;
        check_types(config.format, &spec.columns)?;
        let location = Location::parse(&config.path, roots)?;
        let root = location.open(true)?;
        let path = Path::new(location.path());
        let name = path.file_name().and_then(|n| n.to_str()).filter(|_| config.is_one_file()).map(ToString::to_string);
        let parent = if name.is_some() { path.parent().unwrap_or(Path::new("")) } else { path };
        let dir = root.make_dir(&parent.to_string_lossy())?;
        if let Some(name) = &name {
            if ctx.parallelism > 1 {
                return Err(Error::unsupported(format!("one file written by {} subtasks", ctx.parallelism))
                    .with_hint("Give a directory as path, or set parallelism to 1."));
            }
            if ctx.restored.is_some_and(|epoch| epoch > 0) {
                return Err(Error::unsupported("a sink to one file after a restart of its job")
                    .with_hint("Give a directory as path, drop the job and create it again."));
            }
            if dir.symlink_metadata(name).is_ok() {
                return Err(exists(&config.path));
            }
        }
        let config_is_directory = name.is_none();
        let vertex = ctx.attempt.vertex;
        let owner = format!("{}-{}-{}", vertex.job, vertex.vertex, ctx.subtask);
        remove_left(&dir, &hidden_prefix(&owner));
        Ok(FileWriter {
            schema: Schema::new(spec.columns.clone()).to_arrow(),
            config,
            dir,
            one_file: name,
            owner,
            start: format!("{}-{}", ctx.restored.unwrap_or(0), ctx.attempt.attempt),
            part: None,
            sequence: 0,
            epoch: 0,
            clock: Arc::clone(&ctx.clock),
            last_roll: Duration::ZERO,
            checkpoints: ctx.checkpoints && config_is_directory,
            prepared: vec![],
        })
    }

    fn part(&mut self) -> Result<&mut Part> {
        let part = match self.part.take() {
            Some(part) => part,
            None => self.start()?,
        };
        Ok(self.part.insert(part))
    }

    fn start(&mut self) -> Result<Part> {
        self.sequence += 1;
        let hidden = format!("{}{}-{}", hidden_prefix(&self.owner), self.start, self.sequence);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let file = self.dir.open_with(&hidden, &options).map_err(|e| failed(&hidden, e))?.into_std();
        let encoder = Encoder::new(file, self.config.format, self.config.csv, &self.schema);
        Ok(Part { encoder: encoder.map_err(|e| self.context(e))?, hidden, rows: 0, bytes: 0 })
    }

    fn context(&self, error: Error) -> Error {
        error.context(format!("sink to \"{}\"", self.config.path))
    }

    /// Ends the file, durably; it gets its name when its checkpoint is durable.
    fn prepare(&mut self) -> Result<()> {
        let Some(part) = self.part.take() else { return Ok(()) };
        part.encoder.finish().map_err(|e| self.context(e))?;
        self.prepared.push(Prepared { hidden: part.hidden, name: self.name(self.sequence) });
        Ok(())
    }

    fn name(&self, sequence: u32) -> String {
        format!("part-{}-{:012}-{sequence}.{}", self.owner, self.epoch, self.config.format.ending())
    }

    /// Ends the file and gives it its name, which must be new.
    fn publish(&mut self) -> Result<()> {
        let Some(part) = self.part.take() else { return Ok(()) };
        self.last_roll = self.clock.monotonic();
        let hidden = part.hidden;
        part.encoder.finish().map_err(|e| self.context(e))?;
        for attempt in 0..MAX_NAMES {
            let name = match &self.one_file {
                Some(name) => name.clone(),
                None => self.name(self.sequence + attempt),
            };
            match rustix::fs::renameat_with(&self.dir, &hidden, &self.dir, &name, RenameFlags::NOREPLACE) {
                Ok(()) => {
                    // The name itself must be on the disk, too.
                    return self.dir.open(".").and_then(|dir| dir.sync_all()).map_err(|e| failed(&name, e));
                }
                Err(rustix::io::Errno::EXIST) if self.one_file.is_none() => {}
                Err(rustix::io::Errno::EXIST) => return Err(exists(&self.config.path)),
                Err(e) => return Err(failed(&name, e.into())),
            }
        }
        Err(exists(&self.config.path))
    }
}

fn exists(path: &str) -> Error {
    Error::new(SqlState::DUPLICATE_OBJECT, format!("file \"{path}\" already exists"))
        .with_hint("A sink never overwrites a file: remove it first.")
}

fn hidden_prefix(owner: &str) -> String {
    format!(".part-{owner}-")
}

/// Removes what an earlier attempt left.
fn remove_left(dir: &Dir, prefix: &str) {
    let Ok(entries) = dir.entries() else { return };
    for name in entries.flatten().filter_map(|e| e.file_name().into_string().ok()).filter(|n| n.starts_with(prefix)) {
        if let Err(error) = dir.remove_file(&name) {
            tracing::warn!(target: "millstream::filesystem", file = name, %error, "cannot remove what an earlier attempt left");
        }
    }
}

impl SinkWriter for FileWriter {
    fn write(&mut self, batch: &ChangeBatch) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let rows = RecordBatch::try_new(SchemaRef::clone(&self.schema), batch.rows().columns().to_vec())?;
        let part = self.part()?;
        part.rows += rows.num_rows() as u64;
        match part.encoder.write(&rows) {
            Ok(bytes) => part.bytes += bytes,
            Err(e) => return Err(self.context(e)),
        }
        Ok(())
    }

    fn on_barrier(&mut self, barrier: &Barrier) -> Result<()> {
        self.epoch = barrier.epoch;
        let Some(part) = self.part.as_ref().filter(|_| self.one_file.is_none() && !self.checkpoints) else { return Ok(()) };
        let now = self.clock.monotonic();
        let full = part.rows >= self.config.roll_rows || part.bytes >= self.config.roll_bytes;
        if full || self.last_roll.is_zero() || now >= self.last_roll + self.config.roll_interval {
            self.publish()?;
        }
        Ok(())
    }

    fn pre_commit(&mut self, _epoch: Epoch) -> Result<Vec<Vec<u8>>> {
        if !self.checkpoints {
            return Ok(vec![]);
        }
        if has_bug(Bug::CommitBeforeDurable) {
            self.publish()?;
        }
        self.prepare()?;
        crash_point("sink-prepared");
        // The name itself must be on the disk, too.
        if !self.prepared.is_empty() {
            self.dir.open(".").and_then(|dir| dir.sync_all()).map_err(|e| failed(&self.config.path, e))?;
        }
        std::mem::take(&mut self.prepared).iter().map(|p| serde_json::to_vec(p).map_err(Error::internal)).collect()
    }

    fn finish(&mut self) -> Result<()> {
        if self.checkpoints {
            return Ok(());
        }
        if self.one_file.is_some() {
            self.part()?;
        }
        self.publish()
    }

    fn appends_only(&self) -> bool {
        true
    }
}

impl Drop for FileWriter {
    fn drop(&mut self) {
        if let Some(part) = self.part.take() {
            let hidden = part.hidden.clone();
            drop(part);
            if let Err(error) = self.dir.remove_file(&hidden) {
                tracing::warn!(target: "millstream::filesystem", file = hidden, %error, "cannot remove an unfinished file");
            }
        }
    }
}
