//! Jobs as they survive: what was submitted, and how it ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use millstream_graph::StreamGraph;
use millstream_state::{MetadataStore, MetadataWrite};
use millstream_types::{Error, JobId, Result, SqlState};
use serde::{Deserialize, Serialize};

use crate::job::{JobOptions, JobStatus};

/// Version of the record that this binary writes.
const VERSION: u16 = 1;
const KEYS: &str = "job/";

/// A job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JobRecord {
    version: u16,
    /// What to run.
    pub(crate) graph: StreamGraph,
    /// How.
    pub(crate) options: JobOptions,
    /// When it was submitted, in microseconds since 1970-01-01 UTC.
    pub(crate) start_time_micros: i64,
    /// How it ended, if it has.
    pub(crate) ended: Option<JobStatus>,
    /// Why.
    pub(crate) cause: Option<Error>,
    /// True if its sources rest.
    pub(crate) paused: bool,
}

impl JobRecord {
    pub(crate) fn new(graph: StreamGraph, options: JobOptions, start_time_micros: i64) -> Self {
        JobRecord { version: VERSION, graph, options, start_time_micros, ended: None, cause: None, paused: false }
    }
}

/// Keeps the records; nothing where nothing is to survive.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobStore {
    metadata: Option<Arc<dyn MetadataStore>>,
    /// The cluster ends: what becomes of jobs now says nothing about them.
    closed: Arc<AtomicBool>,
}

fn key(job: JobId) -> String {
    format!("{KEYS}{:020}", job.0)
}

impl JobStore {
    pub(crate) fn new(metadata: Option<Arc<dyn MetadataStore>>) -> Self {
        JobStore { metadata, closed: Arc::default() }
    }

    /// Takes nothing any more.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    fn open(&self) -> Option<&Arc<dyn MetadataStore>> {
        self.metadata.as_ref().filter(|_| !self.closed.load(Ordering::Acquire))
    }

    /// Keeps a record, durably.
    pub(crate) fn put(&self, record: &JobRecord) -> Result<()> {
        let Some(metadata) = self.open() else { return Ok(()) };
        let value = serde_json::to_vec(record).map_err(Error::internal)?;
        metadata.commit(&[], vec![MetadataWrite::Put(key(record.graph.job), value)]).map(drop)
    }

    /// Changes a record that is there.
    pub(crate) fn update(&self, job: JobId, change: impl FnOnce(&mut JobRecord)) -> Result<()> {
        let Some(metadata) = self.open() else { return Ok(()) };
        let Some(found) = metadata.get(&key(job))? else { return Ok(()) };
        let mut record = decode(&key(job), &found.value)?;
        change(&mut record);
        self.put(&record)
    }

    /// Forgets a job, durably.
    pub(crate) fn remove(&self, job: JobId) -> Result<()> {
        let Some(metadata) = self.open() else { return Ok(()) };
        metadata.commit(&[], vec![MetadataWrite::Delete(key(job))]).map(drop)
    }

    /// All records, by number.
    pub(crate) fn all(&self) -> Result<Vec<JobRecord>> {
        let Some(metadata) = self.open() else { return Ok(vec![]) };
        metadata.scan(KEYS)?.iter().map(|(key, found)| decode(key, &found.value)).collect()
    }
}

fn decode(key: &str, bytes: &[u8]) -> Result<JobRecord> {
    #[derive(Deserialize)]
    struct Fence {
        version: u16,
    }
    let wrong = |e: serde_json::Error| Error::new(SqlState::DATA_CORRUPTED, format!("\"{key}\" cannot be read")).with_detail(e.to_string());
    let Fence { version } = serde_json::from_slice(bytes).map_err(wrong)?;
    if version > VERSION {
        return Err(Error::new(SqlState::DATA_CORRUPTED, format!("\"{key}\" was written by a newer version of Millstream"))
            .with_detail(format!("It has version {version}, this binary knows up to {VERSION}.")));
    }
    serde_json::from_slice(bytes).map_err(wrong)
}
