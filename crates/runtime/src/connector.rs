//! What connectors implement: sources and sinks of external systems, behind one provider.

use std::sync::Arc;

use millstream_graph::{SinkSpec, SourceSpec};
use millstream_types::{Barrier, ChangeBatch, Clock, Epoch, ExecutionAttemptId, Result, Schema};

use crate::source::SourceReader;
pub use crate::task_waker::TaskWaker;

/// All connectors of a process.
pub trait ConnectorProvider: Send + Sync {
    /// A reader for one subtask.
    ///
    /// # Errors
    /// 42704 for an unknown connector, 22023 for wrong options, 58xxx if the system cannot be reached.
    fn source(&self, spec: &SourceSpec, ctx: &SourceContext) -> Result<Box<dyn SourceReader>>;

    /// A writer for one subtask, taking rows of `schema`.
    ///
    /// # Errors
    /// As [`ConnectorProvider::source`].
    fn sink(&self, spec: &SinkSpec, schema: &Schema, ctx: &SinkContext) -> Result<Box<dyn SinkWriter>>;

    /// Publishes what writers of this sink have prepared at a checkpoint that is durable now. Comes again after every restore, so what is
    /// published already stays as it is.
    ///
    /// # Errors
    /// XX001 if something prepared is not there any more; 58xxx if the system refuses it.
    fn commit_sink(&self, _spec: &SinkSpec, _committables: &[Vec<u8>]) -> Result<()> {
        Ok(())
    }
}

/// What a source may know of its task.
#[derive(Clone)]
pub struct SourceContext {
    /// 0-based.
    pub subtask: u32,
    /// Subtasks of the vertex.
    pub parallelism: u32,
    /// To be called when a poll that was pending may bring something.
    pub waker: TaskWaker,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// For messages.
    pub job_name: String,
}

/// What a sink may know of its task.
#[derive(Clone)]
pub struct SinkContext {
    /// 0-based.
    pub subtask: u32,
    /// Subtasks of the vertex.
    pub parallelism: u32,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// For messages.
    pub job_name: String,
    /// The attempt, for fencing and file names.
    pub attempt: ExecutionAttemptId,
    /// What is written is to be published by [`ConnectorProvider::commit_sink`], after the checkpoint that it is part of.
    pub checkpoints: bool,
    /// The cut that the job continues from; what was published up to it has been.
    pub restored: Option<Epoch>,
}

/// Writes one subtask's changes to an external system.
pub trait SinkWriter: Send {
    /// Takes changes of the open epoch.
    ///
    /// # Errors
    /// 58xxx if the system refuses them.
    fn write(&mut self, batch: &ChangeBatch) -> Result<()>;

    /// Makes everything before the barrier visible, whole or not at all.
    ///
    /// # Errors
    /// As [`SinkWriter::write`].
    fn on_barrier(&mut self, barrier: &Barrier) -> Result<()>;

    /// Prepares everything up to the checkpoint barrier of `epoch` for publishing, durably; the answer is what
    /// [`ConnectorProvider::commit_sink`] needs for it. Nothing for a system that publishes at barriers, or at once.
    ///
    /// # Errors
    /// As [`SinkWriter::write`].
    fn pre_commit(&mut self, _epoch: Epoch) -> Result<Vec<Vec<u8>>> {
        Ok(vec![])
    }

    /// Nothing follows.
    ///
    /// # Errors
    /// As [`SinkWriter::write`].
    fn finish(&mut self) -> Result<()>;

    /// True if it only takes inserts.
    fn appends_only(&self) -> bool;

    /// True if a writer that takes updates wants only the net changes of each epoch, at its barrier; false if it takes all changes at once
    /// as they come.
    fn nets_epochs(&self) -> bool {
        !self.appends_only()
    }
}
