//! From subtasks to deployable tasks: which subpartition of which producer feeds which channel.

use std::sync::Arc;

use millstream_graph::{DataSetId, JobEdge, JobVertex, Partitioner};
use millstream_runtime::task::{
    ChannelDescriptor, InputGateDescriptor, OperatorRestore, ResultPartitionDescriptor, TaskConfig, TaskDeploymentDescriptor, TaskRestore,
};
use millstream_types::{Error, Result, Schema};

use super::{ExecutionGraph, ExecutionJobVertex, ExecutionVertex};
use crate::checkpoint::JobCheckpoint;

/// How the subtasks of two vertices are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wiring {
    /// Subtask i to subtask i.
    OneToOne,
    /// Everyone to everyone; subpartition = consumer.
    AllToAll { producers: u32 },
    /// Neighbours: the fewer ones share the more numerous ones evenly.
    Pointwise { producers: u32, consumers: u32 },
}

pub(super) fn wiring(partitioner: &Partitioner, producers: u32, consumers: u32) -> Wiring {
    match partitioner {
        Partitioner::Forward => Wiring::OneToOne,
        Partitioner::Rescale => Wiring::Pointwise { producers, consumers },
        Partitioner::Rebalance | Partitioner::Hash { .. } | Partitioner::Broadcast | Partitioner::Global => Wiring::AllToAll { producers },
    }
}

/// First index of share `i` when `of` things are spread over `shares`.
fn bound(i: u32, of: u32, shares: u32) -> u32 {
    u32::try_from(u64::from(i) * u64::from(of) / u64::from(shares.max(1))).unwrap_or(u32::MAX)
}

impl Wiring {
    /// Producer subtask and subpartition of every channel of a consumer.
    pub(super) fn channels(self, consumer: u32) -> Vec<(u32, u32)> {
        match self {
            Wiring::OneToOne => vec![(consumer, 0)],
            Wiring::AllToAll { producers } => (0..producers).map(|p| (p, consumer)).collect(),
            Wiring::Pointwise { producers, consumers } if producers >= consumers => {
                (bound(consumer, producers, consumers)..bound(consumer + 1, producers, consumers)).map(|p| (p, 0)).collect()
            }
            Wiring::Pointwise { producers, consumers } => {
                let owner = (0..producers).find(|p| consumer < bound(p + 1, consumers, producers)).unwrap_or(0);
                vec![(owner, consumer - bound(owner, consumers, producers))]
            }
        }
    }

    /// Subpartitions of a producer.
    pub(super) fn subpartitions(self, producer: u32, consumers: u32) -> u32 {
        match self {
            Wiring::OneToOne => 1,
            Wiring::AllToAll { .. } => consumers,
            Wiring::Pointwise { producers, consumers } if producers >= consumers => 1,
            Wiring::Pointwise { producers, consumers } => bound(producer + 1, consumers, producers) - bound(producer, consumers, producers),
        }
    }
}

/// What the attempts of a job start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartFrom {
    /// Nothing: the job is new.
    Nothing,
    /// Its beginning, again.
    Beginning,
    /// A checkpoint.
    Checkpoint(Arc<JobCheckpoint>),
}

impl StartFrom {
    fn restore(&self, vertex: &JobVertex, subtask: u32) -> Option<TaskRestore> {
        let checkpoint = match self {
            StartFrom::Nothing => return None,
            StartFrom::Beginning => return Some(TaskRestore::default()),
            StartFrom::Checkpoint(checkpoint) => checkpoint,
        };
        let operators = vertex.operators.iter().filter_map(|operator| {
            let state = checkpoint.operators.get(&operator.node.id)?;
            // Keyed state of the same parallelism is where it was; positions of sources may go anywhere.
            let stays = state.parallelism == vertex.parallelism && !operator.node.spec.is_source();
            let parts = state.subtasks.iter().filter(|(of, _)| !stays || **of == subtask);
            let segments = parts.flat_map(|(_, s)| s.segments.iter().cloned()).collect();
            Some(OperatorRestore { operator: operator.node.id, segments })
        });
        Some(TaskRestore { epoch: checkpoint.epoch, operators: operators.collect() })
    }
}

impl ExecutionGraph {
    /// One descriptor per subtask, consumers last.
    ///
    /// # Errors
    /// XX000 if slots are missing or the JobGraph contradicts itself.
    pub fn deployments(&self, config: &TaskConfig, from: &StartFrom) -> Result<Vec<TaskDeploymentDescriptor>> {
        let all = self.vertices.iter().flat_map(|v| v.subtasks.iter().map(move |s| (v, s)));
        all.map(|(vertex, subtask)| self.deployment(vertex, subtask, config, from)).collect()
    }

    fn deployment(
        &self,
        vertex: &ExecutionJobVertex,
        subtask: &ExecutionVertex,
        config: &TaskConfig,
        from: &StartFrom,
    ) -> Result<TaskDeploymentDescriptor> {
        let execution = &subtask.current;
        let slot = execution.slot.ok_or_else(|| Error::internal(format!("{} has no slot", execution.attempt)))?;
        let job_vertex = &vertex.job_vertex;
        let inputs = job_vertex.inputs.iter().map(|e| self.input(job_vertex, e, subtask.id.subtask));
        Ok(TaskDeploymentDescriptor {
            attempt: execution.attempt,
            job_name: self.name.clone(),
            vertex: job_vertex.clone(),
            slot: slot.slot,
            allocation: slot.allocation,
            inputs: inputs.collect::<Result<_>>()?,
            outputs: self.outputs(job_vertex, subtask.id.subtask)?,
            config: config.clone(),
            restore: from.restore(job_vertex, subtask.id.subtask),
        })
    }

    fn input(&self, consumer: &JobVertex, edge: &JobEdge, subtask: u32) -> Result<InputGateDescriptor> {
        let source = self.vertices.iter().find(|v| v.job_vertex.id == edge.source);
        let source = source.ok_or_else(|| Error::internal(format!("no vertex {}", edge.source)))?;
        let wiring = wiring(&edge.partitioner, source.job_vertex.parallelism, consumer.parallelism);
        let attempt = |p: u32| source.subtasks.get(p as usize).map(|s| s.current.attempt);
        let channel = |(p, subpartition)| Some(ChannelDescriptor { producer: attempt(p)?, subpartition });
        let channels: Option<Vec<ChannelDescriptor>> = wiring.channels(subtask).into_iter().map(channel).collect();
        Ok(InputGateDescriptor {
            input: edge.input,
            data_set: edge.data_set,
            schema: schema_of(&source.job_vertex, edge.data_set)?,
            partitioner: edge.partitioner.clone(),
            channels: channels.ok_or_else(|| Error::internal(format!("{} reads from a subtask that is not there", consumer.id)))?,
        })
    }

    fn outputs(&self, vertex: &JobVertex, subtask: u32) -> Result<Vec<ResultPartitionDescriptor>> {
        let outputs = vertex.outputs.iter().map(|set| {
            let consumer = self.job_vertices().find(|v| v.id == set.consumer);
            let consumer = consumer.ok_or_else(|| Error::internal(format!("no vertex {}", set.consumer)))?;
            let wiring = wiring(&set.partitioner, vertex.parallelism, consumer.parallelism);
            Ok(ResultPartitionDescriptor {
                data_set: set.id,
                partitioner: set.partitioner.clone(),
                subpartitions: wiring.subpartitions(subtask, consumer.parallelism),
                consumer_max_parallelism: consumer.max_parallelism,
            })
        });
        outputs.collect()
    }
}

/// Columns of a data set: those of the operator that produces it.
fn schema_of(vertex: &JobVertex, data_set: DataSetId) -> Result<Schema> {
    let set = vertex.outputs.iter().find(|o| o.id == data_set);
    let producer = set.and_then(|set| vertex.operators.iter().find(|o| o.node.id == set.producer));
    let producer = producer.ok_or_else(|| Error::internal(format!("{} does not produce data set {}", vertex.id, data_set.0)))?;
    Ok(producer.node.schema.clone())
}
