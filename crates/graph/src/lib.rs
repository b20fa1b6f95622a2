//! The contract between planner, JobMaster and runtime: what a streaming job is, in data.
//!
//! In the order a statement passes them: [`scalar_expr`] is the language of expressions, [`operator_spec`] the closed list of
//! operators, [`stream_graph`] joins operators by streams, [`chaining`] fuses it into the [`job_graph`]. Everything is immutable once
//! built, serializable, and has a `Display` that EXPLAIN prints as it is. [`dot`] draws a graph for Graphviz.

pub mod aggregate;
pub mod chaining;
pub mod dot;
pub mod job_graph;
pub mod operator_spec;
pub mod partitioner;
pub mod scalar_expr;
pub mod stream_graph;

pub use aggregate::{AggregateCall, AggregateFunction};
pub use chaining::JobGraphGenerator;
pub use job_graph::{ChainOutput, ChainedOperator, DataSetId, IntermediateDataSet, JobEdge, JobGraph, JobVertex};
pub use operator_spec::{
    CalcSpec, GroupAggregateSpec, MaterializeSpec, OperatorSpec, SinkSpec, SourceSpec, SubscriptionSpec, TableLogSpec, ValuesSpec,
};
pub use partitioner::Partitioner;
pub use scalar_expr::{BinaryOperator, ScalarExpr};
pub use stream_graph::{ChainingStrategy, DEFAULT_SLOT_SHARING_GROUP, StreamEdge, StreamGraph, StreamNode};
