//! The serving end of CREATE TABLE and CREATE MATERIALIZED VIEW: keeps the rows and publishes a version per epoch.
//!
//! Changelog in: any. Out: none, it ends its chain. State: the relation itself, in the [`millstream_state::RelationStore`], where readers
//! and subscriptions find it, and which knows how its rows go into a checkpoint. Watermarks end here.

use millstream_graph::MaterializeSpec;
use millstream_state::{FrozenState, RelationSpec, RelationWriter, SnapshotKind, SnapshotReader};
use millstream_types::{Barrier, ChangeBatch, CheckpointMark, Epoch, Result, Schema, Watermark};

use super::{OperatorContext, Output, StateSize, StatefulOperator};

/// The operator of a [`MaterializeSpec`].
pub struct Materialize {
    spec: MaterializeSpec,
    writer: RelationWriter,
    ctx: OperatorContext,
}

impl Materialize {
    /// Registers this subtask's partition of the relation.
    ///
    /// # Errors
    /// XX000 if the columns cannot be kept.
    pub fn new(spec: &MaterializeSpec, schema: &Schema, ctx: &OperatorContext) -> Result<Self> {
        let writer = ctx.relations.register(RelationSpec {
            relation: spec.relation,
            name: spec.name.clone(),
            schema: schema.clone(),
            key: spec.key.clone(),
            subtask: ctx.subtask,
            parallelism: ctx.parallelism,
            max_parallelism: ctx.max_parallelism,
        })?;
        Ok(Materialize { spec: spec.clone(), writer, ctx: ctx.clone() })
    }
}

impl StatefulOperator for Materialize {
    fn process_batch(&mut self, _input: usize, batch: ChangeBatch, _out: &mut dyn Output) -> Result<()> {
        self.writer.apply(&batch)
    }

    fn process_watermark(&mut self, _watermark: Watermark, _out: &mut dyn Output) -> Result<()> {
        Ok(())
    }

    fn on_barrier(&mut self, barrier: &Barrier, _out: &mut dyn Output) -> Result<()> {
        self.writer.publish(*barrier).map(drop)
    }

    fn finish(&mut self, _out: &mut dyn Output) -> Result<()> {
        self.writer.finish();
        Ok(())
    }

    fn snapshot(&mut self, mark: CheckpointMark, epoch: Epoch) -> Result<(SnapshotKind, FrozenState)> {
        Ok(self.writer.freeze(mark, epoch))
    }

    fn restore(&mut self, from: &mut dyn SnapshotReader, epoch: Epoch) -> Result<()> {
        self.writer.restore(from, epoch)
    }

    fn state_size(&self) -> StateSize {
        if self.ctx.subtask > 0 {
            return StateSize::default();
        }
        StateSize { keys: self.ctx.relations.rows(self.spec.relation), bytes: self.ctx.relations.bytes(self.spec.relation) }
    }
}

#[cfg(test)]
mod tests;
