//! Sink `blackhole`: takes every change and counts it. For measuring, and for jobs that only keep a source going.

use std::collections::BTreeMap;

use millstream_runtime::connector::{SinkContext, SinkWriter};
use millstream_types::{Barrier, ChangeBatch, Result};

use crate::options::Options;

/// Counts rows.
#[derive(Debug)]
pub struct BlackholeWriter {
    job_name: String,
    subtask: u32,
    rows: u64,
}

/// It has no options.
///
/// # Errors
/// 42704.
pub(crate) fn check(options: &BTreeMap<String, String>) -> Result<()> {
    Options::new("blackhole", options, &[]).map(|_| ())
}

impl BlackholeWriter {
    /// A sink that has seen nothing.
    pub fn new(ctx: &SinkContext) -> Self {
        BlackholeWriter { job_name: ctx.job_name.clone(), subtask: ctx.subtask, rows: 0 }
    }

    /// Changes taken so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

impl SinkWriter for BlackholeWriter {
    fn write(&mut self, batch: &ChangeBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    fn on_barrier(&mut self, _barrier: &Barrier) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        tracing::debug!(target: "millstream::blackhole", job = self.job_name, subtask = self.subtask, rows = self.rows, "finished");
        Ok(())
    }

    fn appends_only(&self) -> bool {
        false
    }

    fn nets_epochs(&self) -> bool {
        false
    }
}
