//! `EXPLAIN`.

use std::fmt;

use super::comma_separated::CommaSeparated;
use sqlparser::ast::ObjectName;

use super::Statement;

/// `EXPLAIN [ANALYZE] [VERBOSE] [(options)] statement`, or `EXPLAIN ... JOB j`.
#[derive(Clone, Debug, PartialEq)]
pub struct Explain {
    /// ANALYZE: run it, or look at the running job.
    pub analyze: bool,
    /// VERBOSE.
    pub verbose: bool,
    /// The stages to show, in the order written; empty: the default ones.
    pub stages: Vec<ExplainStage>,
    /// FORMAT.
    pub format: Option<ExplainFormat>,
    /// What to explain.
    pub target: ExplainTarget,
}

/// What EXPLAIN looks at.
#[derive(Clone, Debug, PartialEq)]
pub enum ExplainTarget {
    /// A statement; never another EXPLAIN.
    Statement(Box<Statement>),
    /// `JOB j`.
    Job(ObjectName),
}

/// A stage of the way from SQL to tasks, or an aspect of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainStage {
    /// The logical plan.
    Logical,
    /// The `StreamGraph`.
    StreamGraph,
    /// The `JobGraph`, chained.
    JobGraph,
    /// The `ExecutionGraph`.
    ExecutionGraph,
    /// Changelog modes and keys of every edge.
    Changelog,
    /// State tables of every operator.
    State,
}

impl ExplainStage {
    /// All stages.
    pub const ALL: [ExplainStage; 6] = [
        ExplainStage::Logical,
        ExplainStage::StreamGraph,
        ExplainStage::JobGraph,
        ExplainStage::ExecutionGraph,
        ExplainStage::Changelog,
        ExplainStage::State,
    ];
}

impl fmt::Display for ExplainStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ExplainStage::Logical => "LOGICAL",
            ExplainStage::StreamGraph => "STREAM GRAPH",
            ExplainStage::JobGraph => "JOB GRAPH",
            ExplainStage::ExecutionGraph => "EXECUTION GRAPH",
            ExplainStage::Changelog => "CHANGELOG",
            ExplainStage::State => "STATE",
        })
    }
}

/// How EXPLAIN prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainFormat {
    /// An indented tree.
    Text,
    /// JSON.
    Json,
    /// Graphviz.
    Dot,
}

impl fmt::Display for ExplainFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ExplainFormat::Text => "FORMAT TEXT",
            ExplainFormat::Json => "FORMAT JSON",
            ExplainFormat::Dot => "FORMAT DOT",
        })
    }
}

impl fmt::Display for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EXPLAIN ")?;
        f.write_str(if self.analyze { "ANALYZE " } else { "" })?;
        f.write_str(if self.verbose { "VERBOSE " } else { "" })?;
        let options: Vec<String> = self.stages.iter().map(ToString::to_string).chain(self.format.iter().map(ToString::to_string)).collect();
        if !options.is_empty() {
            write!(f, "({}) ", CommaSeparated(&options))?;
        }
        match &self.target {
            ExplainTarget::Statement(statement) => statement.fmt(f),
            ExplainTarget::Job(name) => write!(f, "JOB {name}"),
        }
    }
}
