//! A job of tasks without a JobMaster: expands a JobGraph, hands out ticks, collects what sinks get.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::Int64Type;
use millstream_graph::stream_graph::STREAM_GRAPH_VERSION;
use millstream_graph::{
    CalcSpec, ChainingStrategy, JobGraph, JobGraphGenerator, OperatorSpec, Partitioner, ScalarExpr, SinkSpec, SourceSpec, StreamEdge,
    StreamGraph, StreamNode,
};
use millstream_state::{MemoryLog, RelationStore};
use millstream_types::{
    AllocationId, Barrier, ChangeBatch, ChangelogMode, Clock, Column, Epoch, Error, ExecutionAttemptId, ExecutionVertexId, JobId,
    OperatorId, Result, Schema, SlotId, SqlState, SqlType, SystemClock, TaskManagerId,
};
use parking_lot::{Condvar, Mutex};

use crate::connector::{ConnectorProvider, SinkContext, SinkWriter, SourceContext};
use crate::exchange::{NetworkBufferPool, ResultPartitionManager};
use crate::source::{SourcePoll, SourcePosition, SourceReader};
use crate::task::FrozenTask;
use crate::task::{
    ChannelDescriptor, ExecutionState, InputGateDescriptor, ResultPartitionDescriptor, Task, TaskConfig, TaskDeploymentDescriptor,
    TaskEvent, TaskHandle, TaskListener, TaskMetricsSnapshot, TaskServices,
};

/// Rows of one source subtask by cut.
pub(super) type Script = Vec<Vec<(i64, i64)>>;

/// What sinks do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    Collect,
    Panic,
    Fail,
    Block,
}

fn schema() -> Schema {
    Schema::new(vec![Column::new("key", SqlType::BigInt), Column::new("epoch", SqlType::BigInt)])
}

pub(super) fn node(id: u64, spec: OperatorSpec, parallelism: u32) -> StreamNode {
    StreamNode {
        id: OperatorId(id),
        spec,
        schema: schema(),
        changelog: ChangelogMode::Append,
        upsert_key: None,
        parallelism,
        max_parallelism: 128,
        slot_sharing_group: "default".into(),
        chaining_strategy: ChainingStrategy::Always,
    }
}

pub(super) fn source() -> OperatorSpec {
    let (name, connector) = ("in".into(), "script".into());
    OperatorSpec::Source(SourceSpec { name, connector, options: BTreeMap::new(), schema: schema(), projection: vec![0, 1] })
}

pub(super) fn sink() -> OperatorSpec {
    OperatorSpec::Sink(SinkSpec { name: "out".into(), connector: "collect".into(), options: BTreeMap::new(), columns: schema().columns })
}

pub(super) fn calc() -> OperatorSpec {
    let projection = vec![ScalarExpr::column(0, SqlType::BigInt), ScalarExpr::column(1, SqlType::BigInt)];
    OperatorSpec::Calc(CalcSpec { filter: None, projection })
}

pub(super) fn edge(source: u64, target: u64, partitioner: Partitioner) -> StreamEdge {
    StreamEdge { source: OperatorId(source), target: OperatorId(target), input: 0, partitioner }
}

pub(super) fn job_graph(nodes: Vec<StreamNode>, edges: Vec<StreamEdge>, chaining: bool) -> JobGraph {
    let graph = StreamGraph { version: STREAM_GRAPH_VERSION, job: JobId(1), name: "test".into(), chaining, nodes, edges };
    JobGraphGenerator::generate(&graph).unwrap()
}

/// Source -> Calc -HASH-> Calc -> Sink.
pub(super) fn shuffle(sources: u32, sinks: u32, chaining: bool) -> JobGraph {
    let nodes = vec![node(1, source(), sources), node(2, calc(), sources), node(3, calc(), sinks), node(4, sink(), sinks)];
    let hash = Partitioner::Hash { columns: vec![0] };
    let edges = vec![edge(1, 2, Partitioner::Forward), edge(2, 3, hash), edge(3, 4, Partitioner::Forward)];
    job_graph(nodes, edges, chaining)
}

#[derive(Default)]
struct Seen {
    states: BTreeMap<ExecutionAttemptId, ExecutionState>,
    failure: Option<Error>,
}

/// A running job.
pub(super) struct Job {
    handles: Vec<TaskHandle>,
    sources: Vec<ExecutionAttemptId>,
    shared: Arc<Shared>,
    network: Arc<NetworkBufferPool>,
    started: std::time::Duration,
}

/// Sink subtask, epoch, rows.
pub(super) type Collected = (u32, Epoch, Vec<(i64, i64)>);

struct Shared {
    seen: Mutex<Seen>,
    changed: Condvar,
    scripts: Vec<Script>,
    behaviour: Behaviour,
    released: Mutex<bool>,
    release: Condvar,
    collected: Mutex<Vec<Collected>>,
}

impl TaskListener for Shared {
    fn event(&self, attempt: ExecutionAttemptId, event: TaskEvent) {
        if let TaskEvent::StateChanged(state, error) = event {
            let mut seen = self.seen.lock();
            seen.states.insert(attempt, state);
            seen.failure = error.or(seen.failure.take());
            self.changed.notify_all();
        }
    }

    fn frozen(&self, _attempt: ExecutionAttemptId, _frozen: FrozenTask) {}
}

/// No test takes nearly as long: one that does hangs.
const HANGS_AFTER: std::time::Duration = std::time::Duration::from_secs(60);

/// The listener and the connectors are one shared thing; this is its face as connectors.
struct Connectors(Arc<Shared>);

impl ConnectorProvider for Connectors {
    fn source(&self, _: &SourceSpec, ctx: &SourceContext) -> Result<Box<dyn SourceReader>> {
        let script = self.0.scripts[ctx.subtask as usize].clone();
        Ok(Box::new(ScriptReader { script, cut: 0, sent: false }))
    }

    fn sink(&self, _: &SinkSpec, _: &Schema, ctx: &SinkContext) -> Result<Box<dyn SinkWriter>> {
        Ok(Box::new(CollectSink { shared: Arc::clone(&self.0), subtask: ctx.subtask, rows: vec![] }))
    }
}

/// Hands out the rows of cut n, in pieces, before it cuts at the n-th tick.
struct ScriptReader {
    script: Script,
    cut: usize,
    sent: bool,
}

impl SourceReader for ScriptReader {
    fn poll(&mut self, cut: Option<Epoch>, _: usize) -> Result<SourcePoll> {
        if let (false, Some(rows)) = (self.sent, self.script.get(self.cut)) {
            self.sent = true;
            let keys: ArrayRef = Arc::new(rows.iter().map(|r| Some(r.0)).collect::<Int64Array>());
            let epochs: ArrayRef = Arc::new(rows.iter().map(|r| Some(r.1)).collect::<Int64Array>());
            let batch = RecordBatch::try_new(schema().to_arrow(), vec![keys, epochs]).unwrap();
            return Ok(SourcePoll::Batch(ChangeBatch::inserts(batch)));
        }
        if self.cut + 1 >= self.script.len() {
            return Ok(SourcePoll::Finished);
        }
        if cut.is_some() {
            self.cut += 1;
            self.sent = false;
            return Ok(SourcePoll::CutReached);
        }
        Ok(SourcePoll::Pending { wake_after: None })
    }

    fn snapshot(&self) -> Result<Vec<u8>> {
        Ok(vec![])
    }

    fn restore(&mut self, _: &[SourcePosition], _: Epoch) -> Result<()> {
        Ok(())
    }
}

struct CollectSink {
    shared: Arc<Shared>,
    subtask: u32,
    rows: Vec<(i64, i64)>,
}

impl SinkWriter for CollectSink {
    fn write(&mut self, batch: &ChangeBatch) -> Result<()> {
        match self.shared.behaviour {
            Behaviour::Panic => panic!("the sink panics"),
            Behaviour::Fail => return Err(Error::new(SqlState::IO_ERROR, "the sink fails")),
            Behaviour::Block => {
                let mut released = self.shared.released.lock();
                while !*released {
                    self.shared.release.wait(&mut released);
                }
            }
            Behaviour::Collect => (),
        }
        let (keys, epochs) = (batch.column(0).as_primitive::<Int64Type>(), batch.column(1).as_primitive::<Int64Type>());
        self.rows.extend(keys.values().iter().copied().zip(epochs.values().iter().copied()));
        Ok(())
    }

    fn on_barrier(&mut self, barrier: &Barrier) -> Result<()> {
        self.shared.collected.lock().push((self.subtask, barrier.epoch, std::mem::take(&mut self.rows)));
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        assert!(self.rows.is_empty(), "rows behind the last barrier");
        Ok(())
    }

    fn appends_only(&self) -> bool {
        true
    }
}

fn attempt(graph: &JobGraph, vertex: usize, subtask: u32) -> ExecutionAttemptId {
    let vertex = ExecutionVertexId { job: graph.job, vertex: graph.vertices[vertex].id, subtask };
    ExecutionAttemptId { vertex, attempt: 0 }
}

fn descriptor(graph: &JobGraph, index: usize, subtask: u32, linger_ms: u64) -> TaskDeploymentDescriptor {
    let vertex = &graph.vertices[index];
    let inputs = vertex.inputs.iter().map(|edge| {
        let producer = graph.vertices.iter().position(|v| v.id == edge.source).unwrap();
        let forward = edge.partitioner == Partitioner::Forward;
        let producers = if forward { subtask..subtask + 1 } else { 0..graph.vertices[producer].parallelism };
        let channel = |s| ChannelDescriptor { producer: attempt(graph, producer, s), subpartition: if forward { 0 } else { subtask } };
        InputGateDescriptor {
            input: edge.input,
            data_set: edge.data_set,
            schema: schema(),
            partitioner: edge.partitioner.clone(),
            channels: producers.map(channel).collect(),
        }
    });
    let outputs = vertex.outputs.iter().map(|set| {
        let consumer = graph.vertex(set.consumer).unwrap();
        ResultPartitionDescriptor {
            data_set: set.id,
            partitioner: set.partitioner.clone(),
            subpartitions: if set.partitioner == Partitioner::Forward { 1 } else { consumer.parallelism },
            consumer_max_parallelism: consumer.max_parallelism,
        }
    });
    TaskDeploymentDescriptor {
        attempt: attempt(graph, index, subtask),
        job_name: graph.name.clone(),
        vertex: vertex.clone(),
        slot: SlotId { task_manager: TaskManagerId(0), index: 0 },
        allocation: AllocationId(0),
        inputs: inputs.collect(),
        outputs: outputs.collect(),
        config: TaskConfig { linger_ms, batch_rows: 64, checkpoints: false },
        restore: None,
    }
}

impl Job {
    pub(super) fn run(graph: &JobGraph, scripts: Vec<Script>, pool: usize, linger_ms: u64, behaviour: Behaviour) -> Job {
        let shared = Arc::new(Shared {
            seen: Mutex::default(),
            changed: Condvar::new(),
            scripts,
            behaviour,
            released: Mutex::new(false),
            release: Condvar::new(),
            collected: Mutex::default(),
        });
        let network = Arc::new(NetworkBufferPool::new(pool));
        let services = TaskServices {
            relations: RelationStore::new(),
            log: Arc::new(MemoryLog::default()),
            connectors: Arc::new(Connectors(Arc::clone(&shared))),
            network: Arc::clone(&network),
            partitions: Arc::new(ResultPartitionManager::new(Arc::clone(&network))),
            clock: Arc::new(SystemClock),
            segments: None,
        };
        let started = SystemClock.monotonic();
        let mut handles = vec![];
        for (index, vertex) in graph.vertices.iter().enumerate() {
            for subtask in 0..vertex.parallelism {
                let listener = Arc::clone(&shared) as Arc<dyn TaskListener>;
                handles.push(Task::spawn(descriptor(graph, index, subtask, linger_ms), services.clone(), listener).unwrap());
            }
        }
        let sources = graph.vertices.iter().enumerate().filter(|(_, v)| v.inputs.is_empty());
        let sources = sources.flat_map(|(i, v)| (0..v.parallelism).map(move |s| attempt(graph, i, s))).collect();
        Job { handles, sources, shared, network, started }
    }

    fn wait(&self, until: impl Fn(&Seen) -> bool) {
        let mut seen = self.shared.seen.lock();
        while !until(&seen) {
            let waited = self.shared.changed.wait_for(&mut seen, HANGS_AFTER);
            let metrics = || self.handles.iter().map(|h| (h.attempt().to_string(), h.metrics())).collect::<Vec<_>>();
            assert!(!waited.timed_out(), "hangs: {:?} {:?}", seen.states, metrics());
        }
    }

    /// Hands out `ticks` ticks, then waits for every task to finish.
    pub(super) fn wait_until_finished(&self, ticks: Epoch) {
        for epoch in 1..=ticks {
            let barrier = Barrier { epoch, since: 0, checkpoint: None };
            self.handles.iter().filter(|h| self.sources.contains(&h.attempt())).for_each(|h| h.tick(barrier));
        }
        assert!(self.wait_until_ended().values().all(|s| *s == ExecutionState::Finished), "{:?}", self.shared.seen.lock().failure);
    }

    pub(super) fn wait_until_ended(&self) -> BTreeMap<ExecutionAttemptId, ExecutionState> {
        let all = self.handles.len();
        self.wait(|seen| seen.states.len() == all && seen.states.values().all(|s| s.is_terminal()));
        self.handles.iter().for_each(TaskHandle::join);
        self.shared.seen.lock().states.clone()
    }

    pub(super) fn wait_for_failure(&self) -> Error {
        self.handles.iter().filter(|h| self.sources.contains(&h.attempt())).for_each(|h| {
            h.tick(Barrier { epoch: 1, since: 0, checkpoint: None });
        });
        self.wait(|seen| seen.failure.is_some());
        self.cancel();
        self.wait_until_ended();
        self.shared.seen.lock().failure.clone().unwrap()
    }

    /// Until a source waits for room.
    pub(super) fn wait_for_backpressure(&self) {
        self.wait(|seen| seen.states.values().all(|s| *s == ExecutionState::Running) && seen.states.len() == self.handles.len());
        while !self.handles.iter().any(|h| self.sources.contains(&h.attempt()) && h.metrics().backpressured_us > 0) {
            std::thread::yield_now();
        }
    }

    pub(super) fn cancel(&self) {
        self.handles.iter().for_each(TaskHandle::cancel);
    }

    pub(super) fn wait_until_sources_ended(&self) {
        self.wait(|seen| self.sources.iter().all(|s| seen.states.get(s).is_some_and(|s| s.is_terminal())));
    }

    pub(super) fn release_sinks(&self) {
        *self.shared.released.lock() = true;
        self.shared.release.notify_all();
    }

    pub(super) fn collected(&self) -> Vec<Collected> {
        self.shared.collected.lock().clone()
    }

    pub(super) fn pool_in_use(&self) -> usize {
        self.network.usage().0
    }

    /// Microseconds since the start, and every task's metrics.
    pub(super) fn metrics(&self) -> Vec<(u64, TaskMetricsSnapshot)> {
        let all: Vec<_> = self.handles.iter().map(TaskHandle::metrics).collect();
        let wall = (SystemClock.monotonic() - self.started).as_micros();
        all.into_iter().map(|m| (u64::try_from(wall).unwrap(), m)).collect()
    }
}
