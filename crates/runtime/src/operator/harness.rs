//! Runs one operator over text batches, for tests. A script has one step per line; what comes out stands below it:
//!
//! ```text
//! + 1 10              rows in a row are one batch; `-`, `-U`, `+U` as well
//! ;                   the next row starts a new batch
//! barrier
//! > +I 1 10           expected
//! watermark 12:00:05
//! checkpoint          state is handed over; `checkpoint aborted`: and forgotten
//! recover             a checkpoint, then restore into new instances
//! rescale 2           the same with another parallelism
//! scan                the rows of the relation that Materialize publishes
//! ```
//!
//! An error is `! SQLSTATE message; detail` and ends the script.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::datatypes::Time64MicrosecondType;
use millstream_functions::{cast_array, to_text};
use millstream_graph::{ChainingStrategy, DEFAULT_SLOT_SHARING_GROUP, OperatorSpec, SinkSpec, SourceSpec, StreamNode};
use millstream_state::{RelationStore, ScanRequest, SegmentHandle, SegmentSnapshot, SegmentWriter, SnapshotKind};
use millstream_types::{
    Barrier, ChangeBatch, ChangelogMode, CheckpointMark, Column, Error, ExecutionAttemptId, ExecutionVertexId, JobId, JobVertexId,
    KeyGroupRange, KeyHasher, OperatorId, Result, RowKind, Schema, SimulatedClock, SqlType, StreamElement, Watermark, key_group,
};
use parking_lot::Mutex;

use super::calc::rows;
use super::{Operator, OperatorContext, Output, factory};
use crate::connector::{ConnectorProvider, SinkContext, SinkWriter, SourceContext};
use crate::source::SourceReader;

const MAX_PARALLELISM: u32 = 16;

/// Oldest first.
type Segments = Vec<(SegmentHandle, Vec<u8>)>;

type Elements = Arc<Mutex<Vec<StreamElement>>>;

/// All subtasks of one operator.
pub(crate) struct Harness {
    node: StreamNode,
    input: Schema,
    /// Input columns whose key group says which subtask gets a row.
    route: Vec<usize>,
    operators: Vec<Operator>,
    pub(crate) relations: Arc<RelationStore>,
    out: Elements,
    appends_only: bool,
    epoch: u64,
    /// The newest checkpoint that was kept: its epoch, and by subtask the segments, oldest first.
    checkpoint: (u64, Vec<Segments>),
}

/// `a integer, b text` as a schema.
pub(crate) fn schema(columns: &[(&str, SqlType)]) -> Schema {
    Schema::new(columns.iter().map(|(name, t)| Column::new(*name, t.clone())).collect())
}

/// A node for an operator.
pub(crate) fn node(spec: OperatorSpec, output: &Schema, upsert_key: Option<Vec<usize>>) -> StreamNode {
    StreamNode {
        id: OperatorId(1),
        spec,
        schema: output.clone(),
        changelog: ChangelogMode::Retract,
        upsert_key,
        parallelism: 1,
        max_parallelism: MAX_PARALLELISM,
        slot_sharing_group: DEFAULT_SLOT_SHARING_GROUP.into(),
        chaining_strategy: ChainingStrategy::Always,
    }
}

impl Harness {
    pub(crate) fn new(node: StreamNode, input: &Schema, route: &[usize], appends_only: bool) -> Result<Self> {
        let mut harness = Harness {
            node,
            input: input.clone(),
            route: route.to_vec(),
            operators: vec![],
            relations: RelationStore::new(),
            out: Elements::default(),
            appends_only,
            epoch: 0,
            checkpoint: (0, vec![]),
        };
        harness.operators = harness.instances(1)?;
        Ok(harness)
    }

    fn instances(&self, parallelism: u32) -> Result<Vec<Operator>> {
        (0..parallelism)
            .map(|subtask| factory::build(&self.node, std::slice::from_ref(&self.input), &self.context(subtask, parallelism)))
            .collect()
    }

    fn context(&self, subtask: u32, parallelism: u32) -> OperatorContext {
        let vertex = ExecutionVertexId { job: JobId(1), vertex: JobVertexId(1), subtask };
        OperatorContext {
            subtask,
            parallelism,
            max_parallelism: MAX_PARALLELISM,
            relations: Arc::clone(&self.relations),
            connectors: Arc::new(Connectors { out: Arc::clone(&self.out), appends_only: self.appends_only }),
            job_name: "test".into(),
            attempt: ExecutionAttemptId { vertex, attempt: 0 },
            clock: Arc::new(SimulatedClock::default()),
            checkpoints: true,
            restored: None,
        }
    }

    /// Sends changes, each row to its subtask.
    pub(crate) fn send(&mut self, batch: &ChangeBatch) -> Result<Vec<StreamElement>> {
        let parallelism = self.operators.len() as u32;
        let keys: Vec<ArrayRef> = self.route.iter().map(|k| Arc::clone(batch.column(*k))).collect();
        let groups = KeyHasher::new(MAX_PARALLELISM).key_groups(&keys, batch.num_rows())?;
        for (subtask, operator) in self.operators.iter_mut().enumerate() {
            let mine = groups.iter().map(|g| Some(key_group::subtask_of(*g, parallelism, MAX_PARALLELISM) as usize == subtask)).collect();
            operator.process_batch(0, batch.filter(&mine)?, &mut Collect(&self.out))?;
        }
        Ok(self.take())
    }

    pub(crate) fn barrier(&mut self) -> Result<Vec<StreamElement>> {
        self.epoch += 1;
        let barrier = Barrier { epoch: self.epoch, since: 0, checkpoint: None };
        self.operators.iter_mut().try_for_each(|o| o.on_barrier(&barrier, &mut Collect(&self.out)))?;
        Ok(self.take())
    }

    fn watermark(&mut self, watermark: Watermark) -> Result<Vec<StreamElement>> {
        self.operators.iter_mut().try_for_each(|o| o.process_watermark(watermark, &mut Collect(&self.out)))?;
        Ok(self.take())
    }

    /// All subtasks hand over their state; it builds on the checkpoint that was kept before. One that is not `kept` was given up.
    pub(crate) fn checkpoint(&mut self, kept: bool) -> Result<()> {
        let (base, before) = self.checkpoint.clone();
        let mut now = before;
        now.resize(self.operators.len(), vec![]);
        for (operator, segments) in self.operators.iter_mut().zip(&mut now) {
            let Operator::Stateful(operator) = operator else { continue };
            let (kind, state) = operator.snapshot(CheckpointMark { base }, self.epoch)?;
            let bytes = state.into_segment()?.into_bytes();
            if kind == SnapshotKind::Full {
                segments.clear();
            }
            segments.push((SegmentWriter::handle("f", 0, &bytes), bytes));
        }
        if kept {
            self.checkpoint = (self.epoch, now);
        }
        Ok(())
    }

    /// A checkpoint, restored into `parallelism` new subtasks.
    pub(crate) fn recover(&mut self, parallelism: u32) -> Result<()> {
        self.checkpoint(true)?;
        let rescaled = self.operators.len() != parallelism as usize;
        self.operators = self.instances(parallelism)?;
        for (subtask, operator) in (0..).zip(&mut self.operators) {
            let Operator::Stateful(operator) = operator else { continue };
            let range = KeyGroupRange::of_subtask(subtask, parallelism, MAX_PARALLELISM);
            let mut snapshot = SegmentSnapshot::default();
            for (handle, bytes) in self.checkpoint.1.iter().flatten() {
                snapshot.add(handle, bytes.clone().into(), range)?;
            }
            operator.restore(&mut snapshot, self.checkpoint.0)?;
        }
        if rescaled {
            self.checkpoint = (0, vec![]);
        }
        Ok(())
    }

    pub(crate) fn parallelism(&self) -> u32 {
        self.operators.len() as u32
    }

    pub(crate) fn keys_in_state(&self) -> usize {
        self.operators.iter().map(|o| o.state_size().keys).sum()
    }

    fn take(&self) -> Vec<StreamElement> {
        std::mem::take(&mut self.out.lock())
    }

    /// Runs a script and compares what comes out with what stands in it.
    pub(crate) fn check(&mut self, script: &str) {
        let lines: Vec<&str> = script.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        let mut got: Vec<String> = vec![];
        let mut batch: Vec<&str> = vec![];
        let steps = lines.iter().filter(|l| !l.starts_with(['>', '!']));
        for step in steps.copied().chain(["end"]) {
            if step.starts_with(['+', '-']) {
                batch.push(step);
                got.push(step.into());
                continue;
            }
            if step == ";" {
                got.push(step.into());
            }
            let mut result = Ok(vec![]);
            if !batch.is_empty() {
                result = self.send(&parse(&self.input, &batch));
                batch.clear();
            }
            let ended = result.and_then(|out| {
                got.extend(out.iter().flat_map(show));
                if step != "end" && step != ";" {
                    got.push(step.into());
                }
                got.extend(self.step(step)?);
                Ok(())
            });
            if let Err(e) = ended {
                let detail = e.detail().map(|d| format!("; {d}")).unwrap_or_default();
                got.push(format!("! {} {}{detail}", e.state(), e.message()));
                break;
            }
        }
        assert_eq!(got.join("\n"), lines.join("\n"), "what came out is on the left");
    }

    fn step(&mut self, step: &str) -> Result<Vec<String>> {
        let parallelism = self.operators.len() as u32;
        let out = match step.split_once(' ').unwrap_or((step, "")) {
            ("barrier", _) => self.barrier()?,
            ("watermark", time) => self.watermark(micros(time))?,
            ("checkpoint", kept) => self.checkpoint(kept != "aborted").map(|()| vec![])?,
            ("recover", _) => self.recover(parallelism).map(|()| vec![])?,
            ("rescale", to) => self.recover(to.parse().unwrap()).map(|()| vec![])?,
            ("scan", _) => return self.scan(),
            (";" | "end", _) => vec![],
            (other, _) => panic!("unknown step {other}"),
        };
        Ok(out.iter().flat_map(show).collect())
    }

    pub(crate) fn scan(&self) -> Result<Vec<String>> {
        let OperatorSpec::Materialize(spec) = &self.node.spec else { panic!("no relation to scan") };
        let request = ScanRequest { epoch: self.epoch, projection: (0..self.input.len()).collect(), limit: None };
        let mut lines = vec![];
        for subtask in 0..self.operators.len() as u32 {
            for batch in self.relations.scan(spec.relation, subtask, &request)? {
                lines.extend(texts(&batch?).into_iter().map(|row| format!("> {row}")));
            }
        }
        Ok(lines)
    }
}

fn micros(time: &str) -> Watermark {
    let text: ArrayRef = Arc::new(StringArray::from(vec![time]));
    cast_array(&text, &SqlType::Time).unwrap().as_primitive::<Time64MicrosecondType>().value(0)
}

/// Rows as text: a kind, then a value per column; NULL, and `''` for the empty text.
pub(crate) fn parse(schema: &Schema, lines: &[&str]) -> ChangeBatch {
    let mut cells: Vec<Vec<Option<&str>>> = vec![vec![]; schema.len()];
    let mut kinds = vec![];
    for line in lines {
        let mut words = line.split_whitespace();
        kinds.push(match words.next().unwrap() {
            "+" | "+I" => RowKind::Insert,
            "-" | "-D" => RowKind::Delete,
            "+U" => RowKind::UpdateAfter,
            "-U" => RowKind::UpdateBefore,
            other => panic!("unknown kind {other}"),
        });
        for column in &mut cells {
            column.push(match words.next().expect("a value per column") {
                "NULL" => None,
                "''" => Some(""),
                word => Some(word),
            });
        }
        assert_eq!(words.next(), None, "too many values: {line}");
    }
    let column = |(cells, column): (Vec<Option<&str>>, &Column)| {
        let text: ArrayRef = Arc::new(StringArray::from(cells));
        cast_array(&text, &column.sql_type).unwrap()
    };
    let columns = cells.into_iter().zip(&schema.columns).map(column).collect();
    ChangeBatch::new(rows(&schema.to_arrow(), columns, kinds.len()).unwrap(), kinds)
}

/// The rows of a batch as text, booleans as PostgreSQL prints them.
pub(crate) fn texts(batch: &RecordBatch) -> Vec<String> {
    let text = |column: &ArrayRef| match column.as_boolean_opt() {
        Some(bools) => bools.iter().map(|b| b.map(|b| if b { "t" } else { "f" })).collect(),
        None => to_text(column).unwrap(),
    };
    let columns: Vec<StringArray> = batch.columns().iter().map(text).collect();
    let cell = |column: &StringArray, row| match column.is_null(row) {
        true => "NULL".to_string(),
        false if column.value(row).is_empty() => "''".to_string(),
        false => column.value(row).to_string(),
    };
    (0..batch.num_rows()).map(|row| columns.iter().map(|c| cell(c, row)).collect::<Vec<_>>().join(" ")).collect()
}

fn show(element: &StreamElement) -> Vec<String> {
    match element {
        StreamElement::Batch(batch) => {
            let rows = texts(batch.rows()).into_iter().enumerate();
            rows.map(|(i, row)| format!("> {} {row}", batch.kind(i)).trim_end().to_string()).collect()
        }
        StreamElement::Watermark(micros) => {
            let seconds = micros / 1_000_000;
            vec![format!("> watermark {:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)]
        }
        other => panic!("unexpected {other:?}"),
    }
}

struct Collect<'a>(&'a Elements);

impl Output for Collect<'_> {
    fn batch(&mut self, batch: ChangeBatch) -> Result<()> {
        self.0.lock().push(StreamElement::Batch(batch));
        Ok(())
    }

    fn watermark(&mut self, watermark: Watermark) -> Result<()> {
        self.0.lock().push(StreamElement::Watermark(watermark));
        Ok(())
    }
}

/// Sinks that put what they get among the output.
struct Connectors {
    out: Elements,
    appends_only: bool,
}

impl ConnectorProvider for Connectors {
    fn source(&self, _spec: &SourceSpec, _ctx: &SourceContext) -> Result<Box<dyn SourceReader>> {
        Err(Error::unsupported("a source"))
    }

    fn sink(&self, _spec: &SinkSpec, _schema: &Schema, _ctx: &SinkContext) -> Result<Box<dyn SinkWriter>> {
        Ok(Box::new(Connectors { out: Arc::clone(&self.out), appends_only: self.appends_only }))
    }
}

impl SinkWriter for Connectors {
    fn write(&mut self, batch: &ChangeBatch) -> Result<()> {
        self.out.lock().push(StreamElement::Batch(batch.clone()));
        Ok(())
    }

    fn on_barrier(&mut self, _barrier: &Barrier) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn appends_only(&self) -> bool {
        self.appends_only
    }
}
