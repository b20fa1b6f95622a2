//! Operators and sources from their specs: one exhaustive match each.

use std::sync::Arc;

use millstream_graph::{OperatorSpec, StreamNode};
use millstream_state::LogStore;
use millstream_types::{Error, KeyGroupRange, Result, Schema};

use super::calc::Calc;
use super::group_aggregate::GroupAggregate;
use super::materialize::Materialize;
use super::sink::Sink;
use super::{Operator, OperatorContext};
use crate::connector::{SinkContext, SourceContext, TaskWaker};
use crate::source::SourceReader;
use crate::source::subscription::SubscriptionReader;
use crate::source::table_log::TableLogReader;
use crate::source::values::ValuesReader;

/// The operator of a node that is no source.
///
/// # Errors
/// What the operator's `new` raises; XX000 for a source or without an input.
pub fn build(node: &StreamNode, input_schemas: &[Schema], ctx: &OperatorContext) -> Result<Operator> {
    let input = || input_schemas.first().ok_or_else(|| Error::internal(format!("{} has no input", node.id)));
    Ok(match &node.spec {
        OperatorSpec::Calc(spec) => Operator::Stateless(Box::new(Calc::new(spec, input()?, &node.schema)?)),
        OperatorSpec::GroupAggregate(spec) => Operator::Stateful(Box::new(GroupAggregate::new(spec, input()?, &node.schema, ctx)?)),
        OperatorSpec::Materialize(spec) => Operator::Stateful(Box::new(Materialize::new(spec, &node.schema, ctx)?)),
        OperatorSpec::Sink(spec) => {
            let sink = SinkContext {
                subtask: ctx.subtask,
                parallelism: ctx.parallelism,
                clock: Arc::clone(&ctx.clock),
                job_name: ctx.job_name.clone(),
                attempt: ctx.attempt,
                checkpoints: ctx.checkpoints,
                restored: ctx.restored,
            };
            let writer = ctx.connectors.sink(spec, &node.schema, &sink)?;
            Operator::Stateless(Box::new(Sink::new(spec, &node.schema, node.upsert_key.as_deref(), writer)?))
        }
        OperatorSpec::Source(_) | OperatorSpec::TableLog(_) | OperatorSpec::Subscription(_) | OperatorSpec::Values(_) => {
            return Err(Error::internal(format!("{} is a source", node.id)));
        }
    })
}

/// The reader of a node that is a source. `waker` is called when there may be something new.
///
/// # Errors
/// What the reader's constructor raises; XX000 for a node that is no source.
pub fn build_source(node: &StreamNode, ctx: &OperatorContext, log: &Arc<dyn LogStore>, waker: &TaskWaker) -> Result<Box<dyn SourceReader>> {
    let range = KeyGroupRange::of_subtask(ctx.subtask, ctx.parallelism, ctx.max_parallelism);
    Ok(match &node.spec {
        OperatorSpec::Source(spec) => {
            let source = SourceContext {
                subtask: ctx.subtask,
                parallelism: ctx.parallelism,
                waker: waker.clone(),
                clock: Arc::clone(&ctx.clock),
                job_name: ctx.job_name.clone(),
            };
            ctx.connectors.source(spec, &source)?
        }
        OperatorSpec::TableLog(spec) => {
            let waker = waker.clone();
            let wake = Arc::new(move || waker.wake());
            Box::new(TableLogReader::new(spec, Arc::clone(log), wake, range, ctx.max_parallelism))
        }
        OperatorSpec::Subscription(spec) => {
            let waker = waker.clone();
            let wake = Arc::new(move || waker.wake());
            let projection = spec.projection.clone();
            let subscription = ctx.relations.subscribe(spec.relation, range, ctx.max_parallelism, projection, wake)?;
            Box::new(SubscriptionReader::new(spec, ctx.subtask, ctx.parallelism, subscription))
        }
        OperatorSpec::Values(spec) => Box::new(ValuesReader::new(spec, &node.schema, ctx.subtask)?),
        OperatorSpec::Calc(_) | OperatorSpec::GroupAggregate(_) | OperatorSpec::Materialize(_) | OperatorSpec::Sink(_) => {
            return Err(Error::internal(format!("{} is no source", node.id)));
        }
    })
}
