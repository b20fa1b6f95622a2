//! What a job does about checkpoints.

use std::collections::BTreeSet;
use std::sync::Arc;

use millstream_runtime::task::ExecutionState;
use millstream_types::{CheckpointMark, Epoch, Error, ExecutionAttemptId};

use super::{Action, JobMasterCore};
use crate::checkpoint::JobCheckpoint;
use crate::job::JobStatus;
use crate::job_master::execution_graph::ExecutionGraph;

/// What a job does about checkpoints.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    /// The newest durable one.
    pub(super) newest: Option<Arc<JobCheckpoint>>,
    /// The newest that was asked for.
    pub(super) asked: Epoch,
    /// The one under way.
    pub(super) freezing: Option<Freezing>,
}

/// A checkpoint that tasks hand over their state for.
#[derive(Debug)]
pub(super) struct Freezing {
    epoch: Epoch,
    /// Tasks that have.
    done: Vec<ExecutionAttemptId>,
    /// Tasks that have not.
    missing: BTreeSet<ExecutionAttemptId>,
}

impl Checkpoints {
    /// A checkpoint begins: all tasks that run are to hand over their state, building on the newest one.
    pub(super) fn begin(&mut self, graph: &ExecutionGraph, epoch: Epoch) -> CheckpointMark {
        self.asked = epoch;
        let missing = graph.executions().filter(|e| !e.is_terminal()).map(|e| e.attempt).collect();
        self.freezing = Some(Freezing { epoch, done: vec![], missing });
        CheckpointMark { base: self.newest.as_ref().map_or(0, |c| c.base()) }
    }

    /// True if the newest that was asked for is durable.
    pub(super) fn are_done(&self) -> bool {
        self.newest.as_ref().map_or(0, |c| c.epoch) >= self.asked
    }
}

impl JobMasterCore {
    /// A task has handed over its state.
    pub(super) fn frozen(&mut self, epoch: Epoch, attempt: ExecutionAttemptId, out: &mut Vec<Action>) {
        let freezing = self.checkpoints.as_mut().and_then(|c| c.freezing.as_mut());
        if let Some(freezing) = freezing.filter(|f| f.epoch == epoch)
            && freezing.missing.remove(&attempt)
        {
            freezing.done.push(attempt);
        }
        self.all_frozen(out);
    }

    pub(super) fn all_frozen(&mut self, out: &mut Vec<Action>) {
        let Some(checkpoints) = &mut self.checkpoints else { return };
        if let Some(Freezing { epoch, done, .. }) = checkpoints.freezing.take_if(|f| f.missing.is_empty()) {
            out.push(Action::Frozen { epoch, attempts: done, backfilled: self.told_backfilled });
        }
    }

    pub(super) fn checkpointed(&mut self, graph: &ExecutionGraph, checkpoint: Arc<JobCheckpoint>, out: &mut Vec<Action>) {
        self.restarts.reset();
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.newest = Some(checkpoint);
        }
        self.settle(graph, out);
    }

    /// Tasks that had ended with this checkpoint will not hand over their state again: they run once more.
    pub(super) fn checkpoint_aborted(&mut self, graph: &mut ExecutionGraph, epoch: Epoch, out: &mut Vec<Action>) {
        let Some(checkpoints) = &mut self.checkpoints else { return };
        checkpoints.freezing.take_if(|f| f.epoch == epoch);
        let lost = epoch == checkpoints.asked && !checkpoints.are_done();
        if lost && self.status == JobStatus::Running && graph.executions().any(|e| e.state == ExecutionState::Finished) {
            self.fail(graph, Error::internal("the checkpoint that a source ended with was given up"), out);
        }
    }
}
