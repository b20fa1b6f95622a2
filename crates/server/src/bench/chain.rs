//! One row per batch through a source, Calc operators and a sink, flush timer 0: the same StreamGraph chained and unchained, in one run.
//!
//! The source and the sink are probes: the source stamps each row with the monotonic clock when it hands it out, the sink takes the
//! difference. So the figure is the time through the operators and, unchained, through the exchanges between them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use millstream_cluster::{ClusterConfig, ClusterServices, JobKind, JobOptions, MiniCluster};
use millstream_graph::stream_graph::STREAM_GRAPH_VERSION;
use millstream_graph::{
    BinaryOperator, CalcSpec, ChainingStrategy, DEFAULT_SLOT_SHARING_GROUP, OperatorSpec, Partitioner, ScalarExpr, SinkSpec, SourceSpec,
    StreamEdge, StreamGraph, StreamNode,
};
use millstream_types::limits::DEFAULT_MAX_PARALLELISM;
use millstream_types::{ChangelogMode, Column, Datum, JobId, OperatorId, Result, Schema, SqlType, SystemClock};

use super::probe::Probe;
use super::{Format, print};

#[derive(Args, Clone, Debug)]
pub(super) struct ChainArgs {
    /// Calc operators between source and sink
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u64).range(1..=50))]
    operators: u64,
    /// Rows, one per batch
    #[arg(long, default_value_t = 20_000)]
    rows: u64,
    /// Time between two rows
    #[arg(long, default_value = "100us", value_parser = humantime::parse_duration)]
    every: Duration,
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(super) async fn run(args: ChainArgs) -> Result<()> {
    let mut medians = Vec::new();
    for chaining in [true, false] {
        let latencies = measure(&args, chaining).await?;
        let (p50, p99) = (latencies.micros(0.5), latencies.micros(0.99));
        medians.push(p50);
        let word = if chaining { "on" } else { "off" };
        match args.format {
            Format::Text => print(&format!(
                "source -> {} operators -> sink, 1 row per batch, flush timer 0, a row every {:?}, chaining {word}: median {p50:.1} us, p99 {p99:.1} us",
                args.operators, args.every
            )),
            Format::Json => {
                let line = serde_json::json!({"benchmark": "chain", "operators": args.operators, "chaining": word, "rows": latencies.count(),
                    "p50_us": p50, "p99_us": p99});
                print(&line.to_string());
            }
        }
    }
    if let ([on, off], Format::Text) = (medians.as_slice(), args.format) {
        print(&format!("median latency unchained / chained: {:.1}", off / on));
    }
    Ok(())
}

async fn measure(args: &ChainArgs, chaining: bool) -> Result<super::latency::Latencies> {
    let probe = Arc::new(Probe::new(args.rows, args.every)?);
    let config = ClusterConfig { slots: 1, ..ClusterConfig::default() };
    let services = ClusterServices { connectors: Arc::clone(&probe) as _, clock: Arc::new(SystemClock), durability: None };
    let cluster = MiniCluster::start(config, services, &BTreeSet::new()).await?;
    let graph = line(args.operators, chaining);
    let job = graph.job;
    let options = JobOptions { external: true, linger_ms: 0, batch_rows: 1, ..JobOptions::new(JobKind::StreamingJob) };
    cluster.jobs().submit(graph, options).await?;
    cluster.jobs().wait_finished(job).await?;
    cluster.shutdown().await?;
    probe.latencies()
}

/// Source -> Calc x n -> sink; the Calcs alternate between a projection and a filter.
fn line(operators: u64, chaining: bool) -> StreamGraph {
    let column = || ScalarExpr::column(0, SqlType::BigInt);
    let schema = Schema::new(vec![Column::new("sent_at", SqlType::BigInt)]);
    let mut specs = vec![OperatorSpec::Source(SourceSpec {
        name: "probe".into(),
        connector: "probe".into(),
        options: Default::default(),
        schema: schema.clone(),
        projection: vec![0],
    })];
    for i in 0..operators {
        let positive =
            ScalarExpr::Binary { op: BinaryOperator::Gt, left: Box::new(column()), right: Box::new(ScalarExpr::Literal(Datum::BigInt(0))) };
        specs.push(OperatorSpec::Calc(CalcSpec { filter: (i % 2 == 1).then_some(positive), projection: vec![column()] }));
    }
    specs.push(OperatorSpec::Sink(SinkSpec {
        name: "probe".into(),
        connector: "probe".into(),
        options: Default::default(),
        columns: schema.columns.clone(),
    }));
    let nodes: Vec<StreamNode> = (1..).zip(specs).map(|(id, spec)| node(id, spec, &schema)).collect();
    let edges =
        nodes.windows(2).map(|pair| StreamEdge { source: pair[0].id, target: pair[1].id, input: 0, partitioner: Partitioner::Forward });
    StreamGraph { version: STREAM_GRAPH_VERSION, job: JobId(1), name: "chain".into(), chaining, edges: edges.collect(), nodes }
}

fn node(id: u64, spec: OperatorSpec, schema: &Schema) -> StreamNode {
    StreamNode {
        id: OperatorId(id),
        spec,
        schema: schema.clone(),
        changelog: ChangelogMode::Append,
        upsert_key: None,
        parallelism: 1,
        max_parallelism: DEFAULT_MAX_PARALLELISM,
        slot_sharing_group: DEFAULT_SLOT_SHARING_GROUP.into(),
        chaining_strategy: ChainingStrategy::Always,
    }
}
