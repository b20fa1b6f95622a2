//! Files in a temporary root: a harness, and one file of tests per question.

mod malformed;
mod round_trip;
mod sandbox;
mod watch;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::util::pretty::pretty_format_batches;
use millstream_graph::{SinkSpec, SourceSpec};
use millstream_runtime::connector::{SinkContext, SourceContext};
use millstream_runtime::source::{SourcePoll, SourcePosition, SourceReader};
use millstream_runtime::task_waker::TaskWaker;
use millstream_types::{Clock, Column, ExecutionAttemptId, ExecutionVertexId, JobId, JobVertexId, Result, Schema, SimulatedClock, SqlType};
use tempfile::TempDir;

use super::{FileReader, FileWriter, check_source, commit};

struct Files {
    root: TempDir,
    clock: Arc<SimulatedClock>,
}

fn options(list: &[(&str, &str)]) -> BTreeMap<String, String> {
    list.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect()
}

fn schema(columns: &[(&str, SqlType)]) -> Schema {
    Schema::new(columns.iter().map(|(n, t)| Column::new(*n, t.clone())).collect())
}

impl Files {
    fn new() -> Self {
        Files { root: tempfile::tempdir().unwrap(), clock: Arc::default() }
    }

    fn path(&self) -> &Path {
        self.root.path()
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path().join(name), bytes).unwrap();
    }

    fn source(
        &self,
        list: &[(&str, &str)],
        declared: &Schema,
        projection: Vec<usize>,
        subtask: u32,
        parallelism: u32,
    ) -> Result<FileReader> {
        let spec =
            SourceSpec { name: "f".into(), connector: "filesystem".into(), options: options(list), schema: declared.clone(), projection };
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let ctx = SourceContext { subtask, parallelism, waker: TaskWaker::new(), clock, job_name: "j".into() };
        FileReader::new(&spec, &ctx, &[self.path().to_path_buf()])
    }

    fn sink(&self, list: &[(&str, &str)], columns: &Schema, parallelism: u32, attempt: u32) -> Result<FileWriter> {
        self.sink_with(list, columns, parallelism, attempt, false)
    }

    fn sink_with(&self, list: &[(&str, &str)], columns: &Schema, parallelism: u32, attempt: u32, checkpoints: bool) -> Result<FileWriter> {
        let spec = SinkSpec { name: "s".into(), connector: "filesystem".into(), options: options(list), columns: columns.columns.clone() };
        let vertex = ExecutionVertexId { job: JobId(7), vertex: JobVertexId(1), subtask: 0 };
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let attempt = ExecutionAttemptId { vertex, attempt };
        let ctx = SinkContext { subtask: 0, parallelism, clock, job_name: "j".into(), attempt, checkpoints, restored: None };
        FileWriter::new(&spec, &ctx, &[self.path().to_path_buf()])
    }

    fn infer(&self, list: &[(&str, &str)]) -> Result<Schema> {
        check_source(&options(list), &Schema::default(), &[self.path().to_path_buf()]).map(|(schema, _)| schema)
    }

    /// All rows of a bounded source.
    fn read(&self, list: &[(&str, &str)], declared: &Schema) -> Result<String> {
        let mut reader = self.source(list, declared, (0..declared.len()).collect(), 0, 1)?;
        Ok(text(&drain(&mut reader, 3)?))
    }

    /// Names in a directory, hidden ones too.
    fn names(&self, dir: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path().join(dir)) else { return vec![] };
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Until the reader has nothing more now.
fn drain(reader: &mut FileReader, max_rows: usize) -> Result<Vec<RecordBatch>> {
    let mut out = vec![];
    loop {
        match reader.poll(None, max_rows)? {
            SourcePoll::Batch(batch) => out.push(batch.rows().clone()),
            SourcePoll::Finished | SourcePoll::Pending { .. } => return Ok(out),
            other => panic!("{other:?}"),
        }
    }
}

/// Rows as `a|b`, one a line.
fn text(batches: &[RecordBatch]) -> String {
    let table = pretty_format_batches(batches).unwrap().to_string();
    let rows = table.lines().skip(3).filter(|l| l.starts_with('|'));
    rows.map(|l| l.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>().join("|")).collect::<Vec<_>>().join("\n")
}
