//! The order in which the operators of a chain see things.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use millstream_graph::{CalcSpec, DataSetId, OperatorSpec, Partitioner};
use millstream_types::{Clock, SimulatedClock, SqlState, SqlType};
use parking_lot::Mutex;

use super::*;
use crate::exchange::{Channel, NetworkBufferPool};
use crate::operator::{StatelessOperator, harness};
use crate::task::{ResultPartitionDescriptor, TaskConfig, TaskControl};

type Log = Arc<Mutex<Vec<String>>>;

/// Writes down what it sees, and sends one more batch at each barrier and at the end: what it had buffered.
struct Recorder {
    name: &'static str,
    log: Log,
    /// The step at which it fails.
    fails: Option<&'static str>,
}

impl Recorder {
    fn saw(&self, what: &str) -> Result<()> {
        self.log.lock().push(format!("{} {what}", self.name));
        if self.fails == Some(what) { Err(Error::new(SqlState::DIVISION_BY_ZERO, "division by zero")) } else { Ok(()) }
    }
}

impl StatelessOperator for Recorder {
    fn process_batch(&mut self, _: usize, batch: ChangeBatch, out: &mut dyn Output) -> Result<()> {
        self.saw("batch")?;
        out.batch(batch)
    }

    fn process_watermark(&mut self, watermark: Watermark, out: &mut dyn Output) -> Result<()> {
        self.saw("watermark")?;
        out.watermark(watermark)
    }

    fn on_barrier(&mut self, _: &Barrier, out: &mut dyn Output) -> Result<()> {
        self.saw("barrier")?;
        out.batch(rows())
    }

    fn finish(&mut self, out: &mut dyn Output) -> Result<()> {
        self.saw("finish")?;
        out.batch(rows())
    }
}

fn rows() -> ChangeBatch {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    ChangeBatch::inserts(RecordBatch::try_from_iter([("a", column)]).unwrap())
}

/// a -> (b -> exchange, c -> d).
fn tree(log: &Log, failing: Option<(usize, &'static str)>) -> (Link, Arc<Channel>) {
    let node = || {
        let spec = OperatorSpec::Calc(CalcSpec { filter: None, projection: vec![] });
        harness::node(spec, &harness::schema(&[("a", SqlType::BigInt)]), None)
    };
    let outputs = [
        vec![ChainOutput::Chained(1), ChainOutput::Chained(2)],
        vec![ChainOutput::DataSet(DataSetId(0))],
        vec![ChainOutput::Chained(3)],
        vec![],
    ];
    let chain: Vec<_> = outputs.into_iter().map(|outputs| ChainedOperator { node: node(), outputs }).collect();
    let channel = Arc::new(Channel::new(Arc::new(NetworkBufferPool::new(0))));
    let clock: Arc<dyn Clock> = Arc::new(SimulatedClock::default());
    let mut operator = |index: usize| {
        let recorder =
            Recorder { name: ["a", "b", "c", "d"][index], log: Arc::clone(log), fails: failing.filter(|f| f.0 == index).map(|f| f.1) };
        Ok(Operator::Stateless(Box::new(recorder)))
    };
    let mut partition = |data_set| {
        let descriptor =
            ResultPartitionDescriptor { data_set, partitioner: Partitioner::Forward, subpartitions: 1, consumer_max_parallelism: 1 };
        let config = TaskConfig { linger_ms: 10, batch_rows: 100, checkpoints: false };
        let control = TaskControl::new(Arc::clone(&clock));
        Ok(ResultPartition::new(&descriptor, vec![Arc::clone(&channel)], 0, &config, control, Arc::clone(&clock)))
    };
    let link = Link::build(&chain, 0, &mut operator, &mut partition).unwrap();
    (link, channel)
}

fn sent(channel: &Channel) -> Vec<String> {
    let elements = std::iter::from_fn(|| channel.pop()).map(|e| match e {
        StreamElement::Batch(b) => format!("{} rows", b.num_rows()),
        StreamElement::Watermark(w) => format!("watermark {w}"),
        StreamElement::Barrier(b) => format!("barrier {}", b.epoch),
        StreamElement::WatermarkStatus { idle } => format!("idle {idle}"),
        StreamElement::EndOfInput => "end".into(),
    });
    elements.collect()
}

const BARRIER: Barrier = Barrier { epoch: 7, since: 0, checkpoint: None };

#[test]
fn a_batch_goes_down_each_branch_before_the_next() {
    let log = Log::default();
    let (mut link, channel) = tree(&log, None);
    link.batch(0, rows()).unwrap();
    link.watermark(3).unwrap();
    assert_eq!(*log.lock(), ["a batch", "b batch", "c batch", "d batch", "a watermark", "b watermark", "c watermark", "d watermark"]);
    assert_eq!(sent(&channel), ["1 rows", "watermark 3"]);
}

/// An operator flushes into the next one before that one flushes; the barrier and the end come behind everything.
#[test]
fn what_was_buffered_comes_before_the_barrier_and_the_end() {
    let log = Log::default();
    let (mut link, channel) = tree(&log, None);
    link.barrier(&BARRIER).unwrap();
    let flushed = ["a barrier", "b batch", "c batch", "d batch", "b barrier", "c barrier", "d batch", "d barrier"];
    assert_eq!(*log.lock(), flushed);
    assert_eq!(sent(&channel), ["2 rows", "barrier 7"]);
    log.lock().clear();
    link.end().unwrap();
    assert_eq!(*log.lock(), flushed.map(|l| l.replace("barrier", "finish")));
    assert_eq!(sent(&channel), ["2 rows", "end"]);
}

/// A task behind the exchange acknowledges an epoch for the chain before it: it must not get a barrier that a side branch has not passed.
#[test]
fn a_barrier_leaves_the_chain_only_when_every_branch_has_passed_it() {
    let log = Log::default();
    let (mut link, channel) = tree(&log, Some((3, "barrier")));
    assert!(link.barrier(&BARRIER).is_err());
    assert_eq!(log.lock().last().unwrap(), "d barrier");
    assert!(!sent(&channel).contains(&"barrier 7".to_owned()));
}

#[test]
fn an_error_names_the_operator_that_raised_it() {
    let (mut link, _channel) = tree(&Log::default(), Some((2, "batch")));
    let error = link.batch(0, rows()).unwrap_err();
    assert_eq!((error.state(), error.detail()), (SqlState::DIVISION_BY_ZERO, Some("In operator Calc.")));
}
