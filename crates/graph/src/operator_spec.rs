//! The closed list of streaming operators: what each does, in data. One variant per operator of `crates/runtime`.

use std::collections::BTreeMap;
use std::fmt;

use millstream_types::{Column, Datum, RelationId, Schema};
use serde::{Deserialize, Serialize};

use crate::{AggregateCall, ScalarExpr};

/// One operator. Sources have no input; all others have one (several edges into the same input are a UNION ALL).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum OperatorSpec {
    /// Reads an external system through a connector. Output: the projected columns, append.
    Source(SourceSpec),
    /// Reads the committed changes of a table from the DML log. Output: the table's stored columns, retract.
    TableLog(TableLogSpec),
    /// Reads another job's relation: a backfill of its rows, then its changelog. Output: the projected columns, retract.
    Subscription(SubscriptionSpec),
    /// Constant rows, once. Output: append, then the end of the input.
    Values(ValuesSpec),
    /// Filter and projection, stateless. Kinds pass through.
    Calc(CalcSpec),
    /// GROUP BY. Input by hash of the keys. Output: keys, then aggregates; retract. State: one entry per group.
    GroupAggregate(GroupAggregateSpec),
    /// Keeps the rows of a table or materialized view, publishes a version per epoch, serves scans and subscriptions.
    Materialize(MaterializeSpec),
    /// Writes to an external system through a connector.
    Sink(SinkSpec),
}

/// An external source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SourceSpec {
    /// The CREATE SOURCE object's name, for messages.
    pub name: String,
    /// Registered connector: `datagen`, `nexmark`, `filesystem`.
    pub connector: String,
    /// Its options without `connector`, checked at CREATE.
    pub options: BTreeMap<String, String>,
    /// All declared columns.
    pub schema: Schema,
    /// The declared columns that are read, in output order; others are not decoded or generated.
    pub projection: Vec<usize>,
}

/// The DML log of a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TableLogSpec {
    /// The table.
    pub table: RelationId,
    /// Its name, for messages.
    pub name: String,
    /// Stored columns (with the hidden `_row_id` of a table without a primary key).
    pub schema: Schema,
    /// Key columns: rows go to the subtask that owns the key group of these.
    pub key: Vec<usize>,
}

/// A subscription to a table or materialized view of another job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SubscriptionSpec {
    /// The relation.
    pub relation: RelationId,
    /// Its name, for messages.
    pub name: String,
    /// All columns it serves.
    pub schema: Schema,
    /// The served columns that are read, in output order.
    pub projection: Vec<usize>,
    /// True if the upstream relation never takes rows back (its own input was append): kinds are all `+I`.
    pub append_only: bool,
}

/// Constant rows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ValuesSpec {
    /// Rows of datums of the output schema's types.
    pub rows: Vec<Vec<Datum>>,
}

/// Filter, then projection.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CalcSpec {
    /// Rows for which it is not true are dropped.
    pub filter: Option<ScalarExpr>,
    /// Output columns over the input's columns.
    pub projection: Vec<ScalarExpr>,
}

/// GROUP BY. Without keys: one global row, present from the first barrier on even without input.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GroupAggregateSpec {
    /// Key columns of the input.
    pub keys: Vec<usize>,
    /// Aggregates over input columns. Empty: SELECT DISTINCT of the keys.
    pub aggregates: Vec<AggregateCall>,
    /// True if the input never retracts: MIN and MAX keep one value instead of all.
    pub append_only_input: bool,
}

/// The serving end of a table or view.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MaterializeSpec {
    /// The relation it serves.
    pub relation: RelationId,
    /// Its name, for messages.
    pub name: String,
    /// Columns that hold at most one row per value at a barrier. `None`: the rows are a multiset, the key is the whole row and equal
    /// rows are counted.
    pub key: Option<Vec<usize>>,
}

/// An external sink.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SinkSpec {
    /// The CREATE SINK object's name, for messages.
    pub name: String,
    /// Registered connector: `blackhole`, `print`, `filesystem`.
    pub connector: String,
    /// Its options without `connector`, checked at CREATE.
    pub options: BTreeMap<String, String>,
    /// Columns as the sink names them; the input has the same types in the same order.
    pub columns: Vec<Column>,
}

impl OperatorSpec {
    /// The short name that vertices and EXPLAIN show.
    pub fn name(&self) -> String {
        match self {
            OperatorSpec::Source(s) => format!("Source({})", s.name),
            OperatorSpec::TableLog(s) => format!("TableLog({})", s.name),
            OperatorSpec::Subscription(s) => format!("Subscription({})", s.name),
            OperatorSpec::Values(_) => "Values".into(),
            OperatorSpec::Calc(_) => "Calc".into(),
            OperatorSpec::GroupAggregate(s) if s.aggregates.is_empty() => "Distinct".into(),
            OperatorSpec::GroupAggregate(_) => "GroupAggregate".into(),
            OperatorSpec::Materialize(s) => format!("Materialize({})", s.name),
            OperatorSpec::Sink(s) => format!("Sink({})", s.name),
        }
    }

    /// True for operators without input.
    pub fn is_source(&self) -> bool {
        matches!(self, OperatorSpec::Source(_) | OperatorSpec::TableLog(_) | OperatorSpec::Subscription(_) | OperatorSpec::Values(_))
    }

    /// True for operators that keep state between epochs.
    pub fn is_stateful(&self) -> bool {
        matches!(self, OperatorSpec::GroupAggregate(_) | OperatorSpec::Materialize(_))
    }
}

fn columns(indices: &[usize]) -> String {
    indices.iter().map(|i| format!("${i}")).collect::<Vec<_>>().join(", ")
}

fn names(schema: &Schema, projection: &[usize]) -> String {
    projection.iter().filter_map(|&i| schema.columns.get(i)).map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for OperatorSpec {
    /// Name and details on one line, as EXPLAIN (STREAM GRAPH) prints them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        match self {
            OperatorSpec::Source(s) => write!(f, " connector={} columns=[{}]", s.connector, names(&s.schema, &s.projection)),
            OperatorSpec::TableLog(s) => write!(f, " key=[{}]", columns(&s.key)),
            OperatorSpec::Subscription(s) => write!(f, " columns=[{}]", names(&s.schema, &s.projection)),
            OperatorSpec::Values(s) => write!(f, " rows={}", s.rows.len()),
            OperatorSpec::Calc(s) => {
                if let Some(filter) = &s.filter {
                    write!(f, " where={filter}")?;
                }
                let select: Vec<_> = s.projection.iter().map(ToString::to_string).collect();
                write!(f, " select=[{}]", select.join(", "))
            }
            OperatorSpec::GroupAggregate(s) => {
                write!(f, " keys=[{}]", columns(&s.keys))?;
                if !s.aggregates.is_empty() {
                    let calls: Vec<_> = s.aggregates.iter().map(ToString::to_string).collect();
                    write!(f, " aggregates=[{}]", calls.join(", "))?;
                }
                Ok(())
            }
            OperatorSpec::Materialize(s) => match &s.key {
                Some(key) => write!(f, " key=[{}]", columns(key)),
                None => write!(f, " multiset"),
            },
            OperatorSpec::Sink(s) => write!(f, " connector={}", s.connector),
        }
    }
}
