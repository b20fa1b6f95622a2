//! Spawning a task and its life from DEPLOYING to its end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use millstream_state::{FrozenOperator, LogStore, RelationStore, SegmentReader, SegmentSnapshot};
use millstream_types::clock::thread_cpu_time;
use millstream_types::faults::{Bug, has_bug};
use millstream_types::{Barrier, CheckpointMark, Clock, Epoch, Error, ExecutionAttemptId, KeyGroupRange, OperatorId, Result, Schema};
use parking_lot::Mutex;

use super::deployment::{TaskConfig, TaskDeploymentDescriptor};
use super::metrics::TaskMetricsSnapshot;
use super::{ExecutionState, FrozenTask, TaskControl, TaskEvent, TaskListener, operator_loop, source_loop};
use crate::chain::{Link, Outputs};
use crate::connector::ConnectorProvider;
use crate::exchange::{InputGate, NetworkBufferPool, ResultPartition, ResultPartitionManager};
use crate::operator::factory::{build, build_source};
use crate::operator::{Operator, OperatorContext, StateSize};

/// What all tasks of a process share.
#[derive(Clone)]
pub struct TaskServices {
    /// Relations that Materialize operators serve.
    pub relations: Arc<RelationStore>,
    /// The DML log.
    pub log: Arc<dyn LogStore>,
    /// Sources and sinks.
    pub connectors: Arc<dyn ConnectorProvider>,
    /// The byte budget of exchanges.
    pub network: Arc<NetworkBufferPool>,
    /// Channels by producer.
    pub partitions: Arc<ResultPartitionManager>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// The state that attempts continue from; `None` without checkpoints.
    pub segments: Option<Arc<dyn SegmentReader>>,
}

/// Starts tasks.
#[derive(Debug)]
pub struct Task;

/// A task that was started.
pub struct TaskHandle {
    attempt: ExecutionAttemptId,
    control: Arc<TaskControl>,
    clock: Arc<dyn Clock>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The task from inside.
pub(super) struct Running {
    pub(super) attempt: ExecutionAttemptId,
    pub(super) control: Arc<TaskControl>,
    pub(super) config: TaskConfig,
    /// Subtasks of the vertex.
    pub(super) parallelism: u32,
    /// The operator at the head of the chain.
    pub(super) head: OperatorId,
    listener: Arc<dyn TaskListener>,
    leaf: bool,
}

impl Task {
    /// Runs a subtask on a thread of its own. Its end, good or bad, comes as an event; no event comes before this returns an error.
    ///
    /// # Errors
    /// 53xxx-like if the system has no thread left.
    pub fn spawn(descriptor: TaskDeploymentDescriptor, services: TaskServices, listener: Arc<dyn TaskListener>) -> Result<TaskHandle> {
        let control = TaskControl::new(Arc::clone(&services.clock));
        let attempt = descriptor.attempt;
        let clock = Arc::clone(&services.clock);
        let running = Running {
            attempt,
            control: Arc::clone(&control),
            config: descriptor.config.clone(),
            parallelism: descriptor.vertex.parallelism,
            head: OperatorId(descriptor.vertex.id.0),
            listener,
            leaf: descriptor.outputs.is_empty(),
        };
        let name = descriptor.vertex.name.chars().take(15).collect();
        let thread = std::thread::Builder::new().name(name).spawn(move || live(&running, descriptor, &services))?;
        Ok(TaskHandle { attempt, control, clock, thread: Mutex::new(Some(thread)) })
    }
}

impl TaskHandle {
    /// Which attempt it is.
    pub fn attempt(&self) -> ExecutionAttemptId {
        self.attempt
    }

    /// Tells a source to cut. Others get the barrier over their inputs.
    pub fn tick(&self, barrier: Barrier) {
        self.control.push_tick(barrier);
    }

    /// Tells it to stop, wherever it waits.
    pub fn cancel(&self) {
        self.control.cancel();
    }

    /// A paused source reads nothing, but still cuts.
    pub fn set_paused(&self, paused: bool) {
        self.control.set_paused(paused);
    }

    /// What it has counted.
    pub fn metrics(&self) -> TaskMetricsSnapshot {
        self.control.metrics.snapshot(self.clock.monotonic())
    }

    /// Waits for the thread to end. A second call returns at once.
    pub fn join(&self) {
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            // Panics are caught inside and have been reported.
            let _ = thread.join();
        }
    }
}

impl Running {
    pub(super) fn emit(&self, event: TaskEvent) {
        self.listener.event(self.attempt, event);
    }

    /// Hands over the state of the task if the barrier, which has gone through the chain, is that of a checkpoint.
    pub(super) fn freeze(
        &self,
        barrier: &Barrier,
        freeze: impl FnOnce(CheckpointMark, &mut Vec<FrozenOperator>) -> Result<()>,
    ) -> Result<()> {
        let Some(mark) = barrier.checkpoint else { return Ok(()) };
        let start = self.control.now();
        let mut operators = vec![];
        freeze(mark, &mut operators)?;
        let sync = self.control.now().saturating_sub(start);
        self.listener.frozen(self.attempt, FrozenTask { epoch: barrier.epoch, operators, parallelism: self.parallelism, sync });
        Ok(())
    }

    /// After a barrier has gone through the chain.
    pub(super) fn barrier_passed(&self, epoch: Epoch, state: StateSize) {
        self.control.metrics.set_state(state.keys, state.bytes, thread_cpu_time());
        if self.leaf {
            self.emit(TaskEvent::BarrierPassed(epoch));
        }
    }
}

fn live(task: &Running, descriptor: TaskDeploymentDescriptor, services: &TaskServices) {
    task.control.waker.register();
    task.control.metrics.start(services.clock.monotonic());
    task.emit(TaskEvent::StateChanged(ExecutionState::Initializing, None));
    let ended = catch_unwind(AssertUnwindSafe(|| work(task, descriptor, services)));
    task.control.metrics.end(services.clock.monotonic(), thread_cpu_time());
    let result = ended.unwrap_or_else(|panic| Err(Error::internal(format!("a task panicked: {}", panic_message(&*panic)))));
    let event = match result {
        Ok(()) => TaskEvent::StateChanged(ExecutionState::Finished, None),
        Err(_) if task.control.is_cancelled() => {
            task.emit(TaskEvent::StateChanged(ExecutionState::Canceling, None));
            TaskEvent::StateChanged(ExecutionState::Canceled, None)
        }
        Err(error) => TaskEvent::StateChanged(ExecutionState::Failed, Some(error)),
    };
    task.emit(event);
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}

fn work(task: &Running, descriptor: TaskDeploymentDescriptor, services: &TaskServices) -> Result<()> {
    let ctx = OperatorContext {
        subtask: descriptor.attempt.vertex.subtask,
        parallelism: descriptor.vertex.parallelism,
        max_parallelism: descriptor.vertex.max_parallelism,
        relations: Arc::clone(&services.relations),
        connectors: Arc::clone(&services.connectors),
        job_name: descriptor.job_name.clone(),
        attempt: descriptor.attempt,
        clock: Arc::clone(&services.clock),
        checkpoints: descriptor.config.checkpoints,
        restored: descriptor.restore.as_ref().map(|r| r.epoch),
    };
    let mut gate = gate(task, &descriptor, services);
    let chain = &descriptor.vertex.operators;
    let head = chain.first().ok_or_else(|| Error::internal("a vertex without operators"))?;
    let mut operator = |index: usize| {
        let node = &chain[index].node;
        let mut operator = build(node, &input_schemas(&descriptor, index)?, &ctx)?;
        if let (Operator::Stateful(stateful), Some(restore)) = (&mut operator, &descriptor.restore) {
            stateful.restore(&mut state_of(node.id, &descriptor, services)?, restore.epoch)?;
        }
        Ok(operator)
    };
    let mut partition = |id| partition(task, &descriptor, id, services);
    if head.node.spec.is_source() {
        let mut outputs = Outputs::build(chain, 0, &mut operator, &mut partition)?;
        let mut reader = build_source(&head.node, &ctx, &services.log, &task.control.waker)?;
        if let Some(restore) = descriptor.restore.as_ref().filter(|r| r.epoch > 0 && !has_bug(Bug::ForgetPosition)) {
            let positions = source_loop::positions(&mut state_of(head.node.id, &descriptor, services)?)?;
            reader.restore(&positions, restore.epoch)?;
        }
        task.emit(TaskEvent::StateChanged(ExecutionState::Running, None));
        source_loop::run(task, reader.as_mut(), &mut outputs)
    } else {
        let mut link = Link::build(chain, 0, &mut operator, &mut partition)?;
        task.emit(TaskEvent::StateChanged(ExecutionState::Running, None));
        operator_loop::run(task, &mut gate, &mut link)
    }
}

/// What an operator of the chain continues from, in this subtask's key groups.
fn state_of(operator: OperatorId, descriptor: &TaskDeploymentDescriptor, services: &TaskServices) -> Result<SegmentSnapshot> {
    let vertex = &descriptor.vertex;
    let range = KeyGroupRange::of_subtask(descriptor.attempt.vertex.subtask, vertex.parallelism, vertex.max_parallelism);
    let mut snapshot = SegmentSnapshot::default();
    let restore = descriptor.restore.iter().flat_map(|r| &r.operators).filter(|o| o.operator == operator);
    for handle in restore.flat_map(|o| &o.segments) {
        let reader = services.segments.as_ref().ok_or_else(|| Error::internal("a task is to be restored without checkpoint storage"))?;
        snapshot.add(handle, reader.read(handle)?, range)?;
    }
    Ok(snapshot)
}

fn gate(task: &Running, descriptor: &TaskDeploymentDescriptor, services: &TaskServices) -> InputGate {
    let channels = descriptor.inputs.iter().flat_map(|input| {
        input.channels.iter().map(|c| (input.input as usize, services.partitions.channel(c.producer, input.data_set, c.subpartition)))
    });
    InputGate::new(channels.collect(), &task.control.waker)
}

fn partition(
    task: &Running,
    descriptor: &TaskDeploymentDescriptor,
    id: millstream_graph::DataSetId,
    services: &TaskServices,
) -> Result<ResultPartition> {
    let output = descriptor.outputs.iter().find(|o| o.data_set == id);
    let output = output.ok_or_else(|| Error::internal(format!("data set {} is not in the deployment", id.0)))?;
    let channels = (0..output.subpartitions).map(|s| services.partitions.channel(descriptor.attempt, id, s)).collect();
    let subtask = descriptor.attempt.vertex.subtask;
    Ok(ResultPartition::new(output, channels, subtask, &task.config, Arc::clone(&task.control), Arc::clone(&services.clock)))
}

/// The columns of each input of operator `index`: the gates' for the head, the chained producer's output otherwise.
fn input_schemas(descriptor: &TaskDeploymentDescriptor, index: usize) -> Result<Vec<Schema>> {
    if index == 0 {
        let mut inputs: Vec<_> = descriptor.inputs.iter().map(|i| (i.input, i.schema.clone())).collect();
        inputs.sort_by_key(|(input, _)| *input);
        inputs.dedup_by_key(|(input, _)| *input);
        return Ok(inputs.into_iter().map(|(_, schema)| schema).collect());
    }
    let chained = millstream_graph::ChainOutput::Chained(index);
    let producer = descriptor.vertex.operators.iter().find(|o| o.outputs.contains(&chained));
    let producer = producer.ok_or_else(|| Error::internal(format!("operator {index} of a chain has no input")))?;
    Ok(vec![producer.node.schema.clone()])
}
