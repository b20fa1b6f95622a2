//! How many Nexmark events a second of CPU time gives: all bid columns into a blackhole sink, one thread.

use std::sync::Arc;

use millstream_connectors::ConnectorRegistry;
use millstream_graph::{SinkSpec, SourceSpec};
use millstream_runtime::connector::{ConnectorProvider, SinkContext, SourceContext};
use millstream_runtime::source::SourcePoll;
use millstream_runtime::task_waker::TaskWaker;
use millstream_types::clock::{SystemClock, thread_cpu_time};
use millstream_types::{ExecutionAttemptId, ExecutionVertexId, JobId, JobVertexId, Result, Schema, limits};

const EVENTS: u64 = 10_000_000;

#[allow(clippy::print_stdout)] // A command line program: its output is the figure.
fn main() -> Result<()> {
    let registry = ConnectorRegistry::new(vec![]);
    for table in ["bid", "auction", "person"] {
        let mut rates = vec![];
        let mut last = (0, 0);
        for _ in 0..5 {
            let start = thread_cpu_time();
            last = run(&registry, table)?;
            rates.push(EVENTS as f64 / (thread_cpu_time() - start).as_secs_f64() / 1e6);
        }
        rates.sort_by(f64::total_cmp);
        let (rows, bytes) = last;
        println!(
            "{table}: {:.2} M events per CPU second (median of 5; {:.2} to {:.2}), {rows} rows, {} MB",
            rates[2],
            rates[0],
            rates[4],
            bytes / 1_000_000
        );
    }
    Ok(())
}

/// Rows and bytes that went through.
fn run(registry: &ConnectorRegistry, table: &str) -> Result<(usize, usize)> {
    let options = [("table".to_string(), table.to_string()), ("events".to_string(), EVENTS.to_string())].into();
    let schema = registry.validate_source("nexmark", &options, &Schema::default())?.schema;
    let projection = (0..schema.len()).collect();
    let spec = SourceSpec { name: table.into(), connector: "nexmark".into(), options, schema: schema.clone(), projection };
    let clock = Arc::new(SystemClock);
    let ctx =
        SourceContext { subtask: 0, parallelism: 1, waker: TaskWaker::new(), clock: Arc::clone(&clock) as _, job_name: "rate".into() };
    let mut source = registry.source(&spec, &ctx)?;
    let spec = SinkSpec { name: "out".into(), connector: "blackhole".into(), options: [].into(), columns: schema.columns.clone() };
    let vertex = ExecutionVertexId { job: JobId(1), vertex: JobVertexId(1), subtask: 0 };
    let ctx = SinkContext {
        subtask: 0,
        parallelism: 1,
        clock,
        job_name: "rate".into(),
        attempt: ExecutionAttemptId { vertex, attempt: 0 },
        checkpoints: false,
        restored: None,
    };
    let mut sink = registry.sink(&spec, &schema, &ctx)?;
    let (mut rows, mut bytes) = (0, 0);
    loop {
        match source.poll(None, limits::BATCH_TARGET_ROWS)? {
            SourcePoll::Batch(batch) => {
                rows += batch.num_rows();
                bytes += batch.logical_bytes();
                sink.write(&batch)?;
            }
            SourcePoll::Finished => break,
            _ => {}
        }
    }
    sink.finish()?;
    Ok((rows, bytes))
}
