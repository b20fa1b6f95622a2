//! The operator chain of a task: a tree in which the collector *is* the next operator. A call, no queue, no copy.

use millstream_graph::{ChainOutput, ChainedOperator};
use millstream_state::{FrozenOperator, FrozenState, SegmentWriter, SnapshotKind};
use millstream_types::{Barrier, ChangeBatch, CheckpointMark, Epoch, Error, OperatorId, Result, StreamElement, Watermark};

use crate::exchange::ResultPartition;
use crate::operator::{Operator, Output, StateSize};

/// Where an operator's output goes.
#[derive(Default)]
pub struct Outputs {
    targets: Vec<Target>,
}

enum Target {
    Chained(Box<Link>),
    Partition(Box<ResultPartition>),
}

/// An operator with its outputs.
pub struct Link {
    id: OperatorId,
    name: String,
    operator: Operator,
    outputs: Outputs,
}

impl Outputs {
    /// The outputs of operator `index` of a chain, with all operators behind it. `build` makes an operator, `partition` the partition of
    /// a data set.
    ///
    /// # Errors
    /// What `build` and `partition` raise; XX000 for a chain that is no tree.
    pub fn build(
        chain: &[ChainedOperator],
        index: usize,
        build: &mut dyn FnMut(usize) -> Result<Operator>,
        partition: &mut dyn FnMut(millstream_graph::DataSetId) -> Result<ResultPartition>,
    ) -> Result<Outputs> {
        let operator = chain.get(index).ok_or_else(|| Error::internal("a chain without its operator"))?;
        let targets = operator.outputs.iter().map(|output| match output {
            ChainOutput::DataSet(id) => Ok(Target::Partition(Box::new(partition(*id)?))),
            ChainOutput::Chained(next) if *next > index => Ok(Target::Chained(Box::new(Link::build(chain, *next, build, partition)?))),
            ChainOutput::Chained(next) => Err(Error::internal(format!("operator {next} of a chain is behind itself"))),
        });
        Ok(Outputs { targets: targets.collect::<Result<_>>()? })
    }

    /// Sends a barrier behind everything that was sent before: all operators of the tree flush, then it goes into the partitions. So a task
    /// behind an exchange that has the barrier knows that the whole chain before it is through, its side branches as well.
    ///
    /// # Errors
    /// What the operators behind raise.
    pub fn barrier(&mut self, barrier: &Barrier) -> Result<()> {
        self.on_barrier(barrier)?;
        self.forward(barrier)
    }

    fn on_barrier(&mut self, barrier: &Barrier) -> Result<()> {
        self.targets.iter_mut().try_for_each(|t| match t {
            Target::Chained(link) => link.on_barrier(barrier),
            Target::Partition(_) => Ok(()),
        })
    }

    fn forward(&mut self, barrier: &Barrier) -> Result<()> {
        self.targets.iter_mut().try_for_each(|t| match t {
            Target::Chained(link) => link.outputs.forward(barrier),
            Target::Partition(p) => p.event(&StreamElement::Barrier(*barrier)),
        })
    }

    /// Passes on that the input is idle or active.
    ///
    /// # Errors
    /// What the operators behind raise.
    pub fn status(&mut self, idle: bool) -> Result<()> {
        self.targets.iter_mut().try_for_each(|t| match t {
            Target::Chained(link) => link.outputs.status(idle),
            Target::Partition(p) => p.event(&StreamElement::WatermarkStatus { idle }),
        })
    }

    /// Nothing follows.
    ///
    /// # Errors
    /// What the operators behind raise.
    pub fn end(&mut self) -> Result<()> {
        self.targets.iter_mut().try_for_each(|t| match t {
            Target::Chained(link) => link.end(),
            Target::Partition(p) => p.event(&StreamElement::EndOfInput),
        })
    }

    /// Sends what waits in partitions: the input has nothing more for now.
    ///
    /// # Errors
    /// What the partitions raise.
    pub fn flush(&mut self) -> Result<()> {
        self.targets.iter_mut().try_for_each(|t| match t {
            Target::Chained(link) => link.outputs.flush(),
            Target::Partition(p) => p.flush(),
        })
    }

    /// Sends what has waited in partitions for the linger.
    ///
    /// # Errors
    /// What the partitions raise.
    pub fn flush_due(&mut self) -> Result<()> {
        self.targets.iter_mut().try_for_each(|t| match t {
            Target::Chained(link) => link.outputs.flush_due(),
            Target::Partition(p) => p.flush_due(),
        })
    }

    /// All operators behind hand over their state, between a barrier and the next batch.
    ///
    /// # Errors
    /// What the operators raise.
    pub fn freeze(&mut self, mark: CheckpointMark, epoch: Epoch, frozen: &mut Vec<FrozenOperator>) -> Result<()> {
        self.targets.iter_mut().try_for_each(|t| match t {
            Target::Chained(link) => link.freeze(mark, epoch, frozen),
            Target::Partition(_) => Ok(()),
        })
    }

    /// What all operators behind keep.
    pub fn state_size(&self) -> StateSize {
        let sizes = self.targets.iter().map(|t| match t {
            Target::Chained(link) => link.state_size(),
            Target::Partition(_) => StateSize::default(),
        });
        sizes.fold(StateSize::default(), |a, b| StateSize { keys: a.keys + b.keys, bytes: a.bytes + b.bytes })
    }
}

impl Output for Outputs {
    fn batch(&mut self, batch: ChangeBatch) -> Result<()> {
        let Some((last, others)) = self.targets.split_last_mut() else { return Ok(()) };
        for target in others {
            target.batch(batch.clone())?;
        }
        last.batch(batch)
    }

    fn watermark(&mut self, watermark: Watermark) -> Result<()> {
        self.targets.iter_mut().try_for_each(|t| match t {
            Target::Chained(link) => link.watermark(watermark),
            Target::Partition(p) => p.event(&StreamElement::Watermark(watermark)),
        })
    }
}

impl Target {
    fn batch(&mut self, batch: ChangeBatch) -> Result<()> {
        match self {
            Target::Chained(link) => link.batch(0, batch),
            Target::Partition(p) => p.batch(batch),
        }
    }
}

impl Link {
    /// Operator `index` of a chain with everything behind it.
    ///
    /// # Errors
    /// As [`Outputs::build`].
    pub fn build(
        chain: &[ChainedOperator],
        index: usize,
        build: &mut dyn FnMut(usize) -> Result<Operator>,
        partition: &mut dyn FnMut(millstream_graph::DataSetId) -> Result<ResultPartition>,
    ) -> Result<Link> {
        let operator = build(index)?;
        let node = &chain.get(index).ok_or_else(|| Error::internal("a chain without its operator"))?.node;
        Ok(Link { id: node.id, name: node.spec.name(), operator, outputs: Outputs::build(chain, index, build, partition)? })
    }

    /// Changes from input `input`.
    ///
    /// # Errors
    /// What this operator and those behind it raise; the first one that has no detail gets the operator's name.
    pub fn batch(&mut self, input: usize, batch: ChangeBatch) -> Result<()> {
        self.operator.process_batch(input, batch, &mut self.outputs).map_err(|e| named(e, &self.name))
    }

    /// Event time.
    ///
    /// # Errors
    /// As [`Link::batch`].
    pub fn watermark(&mut self, watermark: Watermark) -> Result<()> {
        self.operator.process_watermark(watermark, &mut self.outputs).map_err(|e| named(e, &self.name))
    }

    /// The operator and those behind it flush, then the barrier goes on.
    ///
    /// # Errors
    /// As [`Link::batch`].
    pub fn barrier(&mut self, barrier: &Barrier) -> Result<()> {
        self.on_barrier(barrier)?;
        self.outputs.forward(barrier)
    }

    fn on_barrier(&mut self, barrier: &Barrier) -> Result<()> {
        self.operator.on_barrier(barrier, &mut self.outputs).map_err(|e| named(e, &self.name))?;
        self.outputs.on_barrier(barrier)
    }

    /// Nothing follows.
    ///
    /// # Errors
    /// As [`Link::batch`].
    pub fn end(&mut self) -> Result<()> {
        self.operator.finish(&mut self.outputs).map_err(|e| named(e, &self.name))?;
        self.outputs.end()
    }

    /// This operator and those behind it hand over their state, between a barrier and the next batch.
    ///
    /// # Errors
    /// As [`Link::batch`].
    pub fn freeze(&mut self, mark: CheckpointMark, epoch: Epoch, frozen: &mut Vec<FrozenOperator>) -> Result<()> {
        let keys = self.operator.state_size().keys as u64;
        match &mut self.operator {
            Operator::Stateful(operator) => {
                let (kind, state) = operator.snapshot(mark, epoch).map_err(|e| named(e, &self.name))?;
                frozen.push(FrozenOperator { operator: self.id, kind, state, keys, committables: vec![] });
            }
            Operator::Stateless(operator) => {
                let committables = operator.pre_commit(epoch).map_err(|e| named(e, &self.name))?;
                if !committables.is_empty() {
                    let state = FrozenState::Encoded(SegmentWriter::default());
                    frozen.push(FrozenOperator { operator: self.id, kind: SnapshotKind::Full, state, keys, committables });
                }
            }
        }
        self.outputs.freeze(mark, epoch, frozen)
    }

    /// Where the operator's output goes.
    pub fn outputs(&mut self) -> &mut Outputs {
        &mut self.outputs
    }

    /// What this operator and those behind it keep.
    pub fn state_size(&self) -> StateSize {
        let (own, rest) = (self.operator.state_size(), self.outputs.state_size());
        StateSize { keys: own.keys + rest.keys, bytes: own.bytes + rest.bytes }
    }
}

fn named(error: Error, operator: &str) -> Error {
    if error.detail().is_some() { error } else { error.with_detail(format!("In operator {operator}.")) }
}

#[cfg(test)]
mod tests;
