//! Aggregate calls of a streaming GROUP BY.

use std::fmt;

use millstream_types::SqlType;
use serde::{Deserialize, Serialize};

/// The aggregates that can follow changes. Argument and result types are PostgreSQL's.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum AggregateFunction {
    /// `count(*)` without argument, `count(x)` with one: bigint.
    Count,
    /// `sum(x)`: bigint for smaller integers, numeric for bigint, else as the argument; 22003 on overflow; NULL over no rows.
    Sum,
    /// `avg(x)`: numeric for integers and numerics, double for floats.
    Avg,
    /// `min(x)`
    Min,
    /// `max(x)`
    Max,
    /// `bool_and(x)`
    BoolAnd,
    /// `bool_or(x)`
    BoolOr,
    /// `string_agg(x, delimiter)`: in the order of its values (the order of arrival is not stable under changes).
    StringAgg {
        /// Between two values.
        delimiter: String,
    },
}

/// One aggregate of a GROUP BY.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct AggregateCall {
    /// Which.
    pub function: AggregateFunction,
    /// Input column of its argument; `None` only for `count(*)`.
    pub argument: Option<usize>,
    /// Count each distinct value once.
    pub distinct: bool,
    /// FILTER: a boolean input column; rows where it is not true are left out.
    pub filter: Option<usize>,
    /// Type of the result.
    pub return_type: SqlType,
}

impl AggregateFunction {
    /// PostgreSQL's name.
    pub fn name(&self) -> &'static str {
        match self {
            AggregateFunction::Count => "count",
            AggregateFunction::Sum => "sum",
            AggregateFunction::Avg => "avg",
            AggregateFunction::Min => "min",
            AggregateFunction::Max => "max",
            AggregateFunction::BoolAnd => "bool_and",
            AggregateFunction::BoolOr => "bool_or",
            AggregateFunction::StringAgg { .. } => "string_agg",
        }
    }
}

impl fmt::Display for AggregateCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}", self.function.name(), if self.distinct { "DISTINCT " } else { "" })?;
        match self.argument {
            Some(column) => write!(f, "${column}")?,
            None => f.write_str("*")?,
        }
        if let AggregateFunction::StringAgg { delimiter } = &self.function {
            write!(f, ", '{delimiter}'")?;
        }
        f.write_str(")")?;
        match self.filter {
            Some(column) => write!(f, " FILTER (WHERE ${column})"),
            None => Ok(()),
        }
    }
}
