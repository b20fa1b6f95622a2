//! A cluster with 4 slots, and tables and views of two columns `k` and `v`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::Int64Type;
use millstream_graph::stream_graph::STREAM_GRAPH_VERSION;
use millstream_graph::{
    BinaryOperator, CalcSpec, ChainingStrategy, MaterializeSpec, OperatorSpec, Partitioner, ScalarExpr, SinkSpec, SourceSpec, StreamEdge,
    StreamGraph, StreamNode, SubscriptionSpec, TableLogSpec,
};
use millstream_runtime::connector::{ConnectorProvider, SinkContext, SinkWriter, SourceContext};
use millstream_runtime::source::{SourcePoll, SourcePosition, SourceReader};
use millstream_state::ScanRequest;
use millstream_types::{
    ChangeBatch, ChangelogMode, Column, Datum, Epoch, Error, JobId, ObjectId, OperatorId, RelationId, Result, RowKind, Schema, SqlType,
    SystemClock,
};

use crate::{ClusterConfig, ClusterServices, Isolation, JobKind, JobOptions, MiniCluster, ReadLease, TableInfo, TransactionChanges};

pub(super) const TABLE: u64 = 1;
pub(super) const VIEW: u64 = 2;
pub(super) const VIEW_ON_VIEW: u64 = 3;
pub(super) const OTHER: u64 = 4;

pub(super) type Row = (i64, i64);

pub(super) struct Kit {
    pub(super) cluster: Arc<MiniCluster>,
}

fn schema() -> Schema {
    Schema::new(vec![Column::new("k", SqlType::BigInt), Column::new("v", SqlType::BigInt)])
}

pub(super) fn rows(rows: &[(Option<i64>, Option<i64>)], kinds: &[RowKind]) -> ChangeBatch {
    let keys: ArrayRef = Arc::new(rows.iter().map(|r| r.0).collect::<Int64Array>());
    let values: ArrayRef = Arc::new(rows.iter().map(|r| r.1).collect::<Int64Array>());
    ChangeBatch::new(RecordBatch::try_new(schema().to_arrow(), vec![keys, values]).unwrap(), kinds.to_vec())
}

pub(super) fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_unstable();
    rows
}

fn node(id: u64, spec: OperatorSpec, changelog: ChangelogMode, parallelism: u32, group: &str) -> StreamNode {
    StreamNode {
        id: OperatorId(id),
        spec,
        schema: schema(),
        changelog,
        upsert_key: Some(vec![0]),
        parallelism,
        max_parallelism: 128,
        slot_sharing_group: group.into(),
        chaining_strategy: ChainingStrategy::Always,
    }
}

fn graph(relation: u64, nodes: Vec<StreamNode>, partitioners: Vec<Partitioner>) -> StreamGraph {
    let edges = (1u64..).zip(partitioners).map(|(source, partitioner)| StreamEdge {
        source: OperatorId(source),
        target: OperatorId(source + 1),
        input: 0,
        partitioner,
    });
    StreamGraph {
        version: STREAM_GRAPH_VERSION,
        job: JobId(relation),
        name: format!("o{relation}"),
        chaining: true,
        edges: edges.collect(),
        nodes,
    }
}

fn materialize(relation: u64) -> OperatorSpec {
    OperatorSpec::Materialize(MaterializeSpec { relation: ObjectId(relation), name: format!("o{relation}"), key: Some(vec![0]) })
}

impl Kit {
    pub(super) async fn start() -> Kit {
        let config = ClusterConfig { slots: 4, ..ClusterConfig::default() };
        let services = ClusterServices { connectors: Arc::new(TestConnectors), clock: Arc::new(SystemClock), durability: None };
        Kit { cluster: MiniCluster::start(config, services, &BTreeSet::new()).await.unwrap() }
    }

    pub(super) async fn shutdown(&self) {
        self.cluster.shutdown().await.unwrap();
    }

    pub(super) fn job(&self, relation: u64) -> JobId {
        JobId(relation)
    }

    pub(super) fn relation(&self, relation: u64) -> RelationId {
        ObjectId(relation)
    }

    pub(super) async fn table(&self, relation: u64, parallelism: u32) {
        let name = format!("o{relation}");
        let log = TableLogSpec { table: ObjectId(relation), name: name.clone(), schema: schema(), key: vec![0] };
        let nodes = vec![
            node(1, OperatorSpec::TableLog(log), ChangelogMode::Retract, parallelism, "default"),
            node(2, materialize(relation), ChangelogMode::Retract, parallelism, "default"),
        ];
        let options = JobOptions { relation: Some(ObjectId(relation)), ..JobOptions::new(JobKind::Table) };
        self.cluster.jobs().submit(graph(relation, nodes, vec![Partitioner::Forward]), options).await.unwrap();
        let info = TableInfo {
            table: ObjectId(relation),
            job: JobId(relation),
            name,
            schema: schema(),
            key: vec![0],
            not_null: vec![1],
            hidden_row_id: false,
        };
        self.cluster.tables().register_table(info).unwrap();
    }

    /// A view that passes rows on, and fails where `dividend / v` does if the dividend is not 0.
    pub(super) async fn view(&self, relation: u64, upstream: u64, parallelism: u32, dividend: i64) {
        self.try_view(relation, upstream, parallelism, dividend, "default").await.unwrap();
        self.cluster.jobs().wait_backfill(JobId(relation)).await.unwrap();
    }

    pub(super) async fn try_view(&self, relation: u64, upstream: u64, parallelism: u32, dividend: i64, group: &str) -> Result<()> {
        let column = |i| ScalarExpr::column(i, SqlType::BigInt);
        let quotient = ScalarExpr::Function {
            name: "ms_div".into(),
            args: vec![ScalarExpr::Literal(Datum::BigInt(dividend)), column(1)],
            return_type: SqlType::BigInt,
        };
        let filter = ScalarExpr::Binary {
            op: BinaryOperator::GtEq,
            left: Box::new(quotient),
            right: Box::new(ScalarExpr::Literal(Datum::BigInt(0))),
        };
        let calc = CalcSpec { filter: (dividend != 0).then_some(filter), projection: vec![column(0), column(1)] };
        let subscription = SubscriptionSpec {
            relation: ObjectId(upstream),
            name: format!("o{upstream}"),
            schema: schema(),
            projection: vec![0, 1],
            append_only: false,
        };
        let nodes = vec![
            node(1, OperatorSpec::Subscription(subscription), ChangelogMode::Retract, parallelism, group),
            node(2, OperatorSpec::Calc(calc), ChangelogMode::Retract, parallelism, group),
            node(3, materialize(relation), ChangelogMode::Retract, parallelism, group),
        ];
        let options = JobOptions {
            relation: Some(ObjectId(relation)),
            upstream: vec![JobId(upstream)],
            ..JobOptions::new(JobKind::MaterializedView)
        };
        let partitioners = vec![Partitioner::Forward, Partitioner::Hash { columns: vec![0] }];
        self.cluster.jobs().submit(graph(relation, nodes, partitioners), options).await
    }

    /// A view over a test connector.
    pub(super) async fn source(&self, relation: u64, connector: &str, external: bool) -> Result<()> {
        let spec = SourceSpec {
            name: connector.into(),
            connector: connector.into(),
            options: BTreeMap::new(),
            schema: schema(),
            projection: vec![0, 1],
        };
        let nodes = vec![
            node(1, OperatorSpec::Source(spec), ChangelogMode::Append, 1, "default"),
            node(2, materialize(relation), ChangelogMode::Append, 1, "default"),
        ];
        let options = JobOptions { relation: Some(ObjectId(relation)), external, ..JobOptions::new(JobKind::MaterializedView) };
        self.cluster.jobs().submit(graph(relation, nodes, vec![Partitioner::Forward]), options).await
    }

    pub(super) fn batch(&self, changes: &[(Row, RowKind)]) -> ChangeBatch {
        let values: Vec<_> = changes.iter().map(|((k, v), _)| (Some(*k), Some(*v))).collect();
        rows(&values, &changes.iter().map(|(_, kind)| *kind).collect::<Vec<_>>())
    }

    pub(super) async fn write(&self, table: u64, changes: ChangeBatch, snapshot: Option<Epoch>) -> Result<Epoch> {
        let locks = self.cluster.tables().lock(&[ObjectId(table)]).await?;
        let transaction = TransactionChanges { snapshot, changes: vec![(ObjectId(table), changes)] };
        let logged = self.cluster.tables().commit(&locks, &transaction)?;
        Ok(logged.map_or_else(|| self.cluster.epochs().current(), |l| l.epoch))
    }

    pub(super) async fn change(&self, table: u64, changes: &[(Row, RowKind)], snapshot: Option<Epoch>) -> Result<Epoch> {
        self.write(table, self.batch(changes), snapshot).await
    }

    pub(super) async fn insert(&self, table: u64, inserted: &[Row]) -> Result<Epoch> {
        let changes: Vec<_> = inserted.iter().map(|row| (*row, RowKind::Insert)).collect();
        self.change(table, &changes, None).await
    }

    pub(super) async fn read(&self, relation: u64) -> Result<ReadLease> {
        self.cluster.epochs().read(&[JobId(relation)], Isolation::StrictSerializable).await
    }

    pub(super) async fn select(&self, relation: u64) -> Result<Vec<Row>> {
        let lease = self.read(relation).await?;
        Ok(sorted(self.scan(relation, lease.epoch())))
    }

    pub(super) fn scan(&self, relation: u64, epoch: Epoch) -> Vec<Row> {
        let serving = self.cluster.serving();
        let request = ScanRequest { epoch, projection: vec![0, 1], limit: None };
        let subtasks = 0..serving.parallelism(ObjectId(relation)).unwrap();
        let batches = subtasks.flat_map(|s| serving.scan(ObjectId(relation), s, &request).unwrap().map(Result::unwrap));
        batches
            .flat_map(|b| {
                let (k, v) = (b.column(0).as_primitive::<Int64Type>().clone(), b.column(1).as_primitive::<Int64Type>().clone());
                (0..b.num_rows()).map(move |i| (k.value(i), v.value(i))).collect::<Vec<_>>()
            })
            .collect()
    }
}

/// `bounded`: two rows; `panic`: panics at its first cut; `stuck`: cuts once.
struct TestConnectors;

struct TestSource {
    connector: String,
    given: bool,
    first: Epoch,
}

impl ConnectorProvider for TestConnectors {
    fn source(&self, spec: &SourceSpec, _ctx: &SourceContext) -> Result<Box<dyn SourceReader>> {
        Ok(Box::new(TestSource { connector: spec.connector.clone(), given: false, first: 0 }))
    }

    fn sink(&self, spec: &SinkSpec, _schema: &Schema, _ctx: &SinkContext) -> Result<Box<dyn SinkWriter>> {
        Err(Error::unsupported(&spec.connector))
    }
}

impl SourceReader for TestSource {
    fn poll(&mut self, cut: Option<Epoch>, _max_rows: usize) -> Result<SourcePoll> {
        Ok(match (self.connector.as_str(), cut) {
            ("bounded", _) if !self.given => {
                self.given = true;
                SourcePoll::Batch(rows(&[(Some(1), Some(1)), (Some(2), Some(2))], &[RowKind::Insert; 2]))
            }
            ("bounded", None) => SourcePoll::Finished,
            ("bounded", Some(_)) => SourcePoll::CutReached,
            ("panic", Some(_)) => panic!("as asked"),
            ("stuck", Some(epoch)) if !self.given || epoch == self.first => {
                self.given = true;
                self.first = epoch;
                SourcePoll::CutReached
            }
            _ => SourcePoll::Pending { wake_after: None },
        })
    }

    fn snapshot(&self) -> Result<Vec<u8>> {
        Ok(vec![])
    }

    fn restore(&mut self, _positions: &[SourcePosition], _epoch: Epoch) -> Result<()> {
        Ok(())
    }
}
