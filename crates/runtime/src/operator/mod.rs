//! Operators: plain synchronous code between an input and an [`Output`], which in a chain is the next operator.
//!
//! [`factory`] makes them from their specs. Stateless ones implement [`StatelessOperator`], the others [`StatefulOperator`], whose
//! `snapshot` and `restore` have no default.

mod aggregate;
pub mod calc;
pub mod factory;
pub mod group_aggregate;
#[cfg(test)]
pub(crate) mod harness;
pub mod materialize;
pub mod sink;

use std::sync::Arc;

use millstream_state::{FrozenState, RelationStore, SnapshotKind, SnapshotReader};
use millstream_types::{Barrier, ChangeBatch, CheckpointMark, Clock, Epoch, ExecutionAttemptId, Result, Watermark};

use crate::connector::ConnectorProvider;

/// Where an operator's results go. In a chain it is the next operator: a direct call.
pub trait Output {
    /// Passes changes on.
    ///
    /// # Errors
    /// What the operators behind it raise.
    fn batch(&mut self, batch: ChangeBatch) -> Result<()>;

    /// Passes event time on.
    ///
    /// # Errors
    /// What the operators behind it raise.
    fn watermark(&mut self, watermark: Watermark) -> Result<()>;
}

/// Keeps nothing between epochs.
pub trait StatelessOperator: Send {
    /// Changes from input `input`.
    ///
    /// # Errors
    /// Value errors of class 22, and what the output raises.
    fn process_batch(&mut self, input: usize, batch: ChangeBatch, out: &mut dyn Output) -> Result<()>;

    /// Event time, already the smallest of all inputs.
    ///
    /// # Errors
    /// What the output raises.
    fn process_watermark(&mut self, watermark: Watermark, out: &mut dyn Output) -> Result<()> {
        out.watermark(watermark)
    }

    /// The epoch ends: everything buffered goes out before the barrier does.
    ///
    /// # Errors
    /// As [`StatelessOperator::process_batch`].
    fn on_barrier(&mut self, _barrier: &Barrier, _out: &mut dyn Output) -> Result<()> {
        Ok(())
    }

    /// Nothing follows; a barrier came directly before.
    ///
    /// # Errors
    /// As [`StatelessOperator::process_batch`].
    fn finish(&mut self, _out: &mut dyn Output) -> Result<()> {
        Ok(())
    }

    /// A sink prepares what it got up to the checkpoint barrier of `epoch`, so that it can be published when the checkpoint is durable;
    /// the answer says how.
    ///
    /// # Errors
    /// As [`StatelessOperator::process_batch`].
    fn pre_commit(&mut self, _epoch: Epoch) -> Result<Vec<Vec<u8>>> {
        Ok(vec![])
    }
}

/// Keeps state between epochs.
pub trait StatefulOperator: Send {
    /// Changes from input `input`.
    ///
    /// # Errors
    /// Value errors of class 22, and what the output raises.
    fn process_batch(&mut self, input: usize, batch: ChangeBatch, out: &mut dyn Output) -> Result<()>;

    /// Event time, already the smallest of all inputs.
    ///
    /// # Errors
    /// What the output raises.
    fn process_watermark(&mut self, watermark: Watermark, out: &mut dyn Output) -> Result<()> {
        out.watermark(watermark)
    }

    /// The epoch ends: everything buffered goes out before the barrier does.
    ///
    /// # Errors
    /// XX000 if the input was inconsistent, which is judged here; and as [`StatefulOperator::process_batch`].
    fn on_barrier(&mut self, _barrier: &Barrier, _out: &mut dyn Output) -> Result<()> {
        Ok(())
    }

    /// Nothing follows; a barrier came directly before.
    ///
    /// # Errors
    /// As [`StatefulOperator::process_batch`].
    fn finish(&mut self, _out: &mut dyn Output) -> Result<()> {
        Ok(())
    }

    /// Hands over its state as of the barrier of `epoch`: what has changed since the hand-over at `mark.base` if that was its last one,
    /// everything otherwise. Called between a barrier and the next batch; what is slow about it belongs into [`FrozenState::Lazy`].
    ///
    /// # Errors
    /// XX000 within an epoch.
    fn snapshot(&mut self, mark: CheckpointMark, epoch: Epoch) -> Result<(SnapshotKind, FrozenState)>;

    /// Reads the state of this subtask's key groups as of `epoch`. Called once, before the first batch.
    ///
    /// # Errors
    /// XX001 for entries that are not this operator's.
    fn restore(&mut self, from: &mut dyn SnapshotReader, epoch: Epoch) -> Result<()>;

    /// How much it keeps.
    fn state_size(&self) -> StateSize;
}

/// What an operator keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StateSize {
    /// Distinct keys.
    pub keys: usize,
    /// Bytes in memory.
    pub bytes: usize,
}

/// An operator of either kind.
pub enum Operator {
    /// Keeps nothing between epochs.
    Stateless(Box<dyn StatelessOperator>),
    /// Keeps state between epochs.
    Stateful(Box<dyn StatefulOperator>),
}

impl Operator {
    /// Changes from input `input`.
    ///
    /// # Errors
    /// As the operator's own.
    pub fn process_batch(&mut self, input: usize, batch: ChangeBatch, out: &mut dyn Output) -> Result<()> {
        match self {
            Operator::Stateless(o) => o.process_batch(input, batch, out),
            Operator::Stateful(o) => o.process_batch(input, batch, out),
        }
    }

    /// Event time.
    ///
    /// # Errors
    /// As the operator's own.
    pub fn process_watermark(&mut self, watermark: Watermark, out: &mut dyn Output) -> Result<()> {
        match self {
            Operator::Stateless(o) => o.process_watermark(watermark, out),
            Operator::Stateful(o) => o.process_watermark(watermark, out),
        }
    }

    /// The epoch ends.
    ///
    /// # Errors
    /// As the operator's own.
    pub fn on_barrier(&mut self, barrier: &Barrier, out: &mut dyn Output) -> Result<()> {
        match self {
            Operator::Stateless(o) => o.on_barrier(barrier, out),
            Operator::Stateful(o) => o.on_barrier(barrier, out),
        }
    }

    /// Nothing follows.
    ///
    /// # Errors
    /// As the operator's own.
    pub fn finish(&mut self, out: &mut dyn Output) -> Result<()> {
        match self {
            Operator::Stateless(o) => o.finish(out),
            Operator::Stateful(o) => o.finish(out),
        }
    }

    /// How much it keeps.
    pub fn state_size(&self) -> StateSize {
        match self {
            Operator::Stateless(_) => StateSize::default(),
            Operator::Stateful(o) => o.state_size(),
        }
    }
}

/// What an operator may know of the task it runs in.
#[derive(Clone)]
pub struct OperatorContext {
    /// 0-based.
    pub subtask: u32,
    /// Subtasks of the vertex.
    pub parallelism: u32,
    /// Key groups.
    pub max_parallelism: u32,
    /// The relations of this process.
    pub relations: Arc<RelationStore>,
    /// Sources and sinks.
    pub connectors: Arc<dyn ConnectorProvider>,
    /// For messages.
    pub job_name: String,
    /// The attempt, for fencing.
    pub attempt: ExecutionAttemptId,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// State is handed over at checkpoints.
    pub checkpoints: bool,
    /// The cut that the task continues from.
    pub restored: Option<Epoch>,
}
