//! Accumulators of the streaming GROUP BY: columns of state, one slot per group, that rows can be added to and taken from.
//!
//! One family per file: [`count`], [`total`] (sum and avg of integers and numerics), [`float_total`] and [`interval_total`], [`extreme`]
//! (MIN and MAX), [`bools`], [`string_agg`]; [`distinct`] puts DISTINCT before any of them. [`domain`] says how values of a type are kept,
//! [`counted`] keeps how often each value is there, [`codec`] is their stored form. DataFusion's accumulators are not used: they cannot
//! take rows back, and their state is not ours to store.

mod bools;
mod codec;
mod count;
mod counted;
mod distinct;
mod domain;
mod extreme;
mod float_total;
mod interval_total;
mod string_agg;
mod total;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{Decimal128Type, Int16Type, Int32Type, Int64Type};
use millstream_graph::{AggregateCall, AggregateFunction};
use millstream_types::{Error, Result, SqlType};

pub(super) use codec::{Reader, write_i64};
use domain::{Bytes, Words};

/// State of one aggregate for all groups. A slot that was never updated, or cleared, is an empty group.
///
/// Counts may be negative between barriers, because the order of changes within an epoch is not specified; sums are exact, so that a row
/// taken back leaves no trace.
pub(super) trait Accumulator: Send {
    /// Makes room for slots `0..slots`.
    fn resize(&mut self, slots: usize);
    /// Adds and takes back the values of a batch.
    fn update(&mut self, argument: Option<&ArrayRef>, changes: &Changes<'_>) -> Result<()>;
    /// The result of each slot.
    fn evaluate(&self, slots: &[u32]) -> Result<ArrayRef>;
    /// True if a value was taken back more often than it came. Judged at a barrier.
    fn inconsistent(&self, slots: &[u32]) -> bool;
    /// Forgets a slot.
    fn clear(&mut self, slot: u32);
    /// Writes the state of a slot.
    fn encode(&self, slot: u32, out: &mut Vec<u8>);
    /// Reads what `encode` wrote into an empty slot.
    fn decode(&mut self, slot: u32, from: &mut Reader<'_>) -> Result<()>;
    /// Bytes of all slots.
    fn bytes(&self) -> usize;
}

/// The changes of a batch: a slot per row, and what the row does to it.
pub(super) struct Changes<'a> {
    pub(super) slots: &'a [u32],
    /// +1 or -1 per row; `None`: all +1.
    pub(super) signs: Option<&'a [i8]>,
    /// The rows that count; `None`: all.
    pub(super) filter: Option<BooleanBuffer>,
}

impl Changes<'_> {
    /// Calls `f(row, slot, sign)` for every row that counts and is not NULL.
    #[inline]
    fn each(&self, nulls: Option<&NullBuffer>, mut f: impl FnMut(usize, usize, i64)) {
        let mask = match (nulls, &self.filter) {
            (None, None) => None,
            (Some(nulls), None) => Some(nulls.inner().clone()),
            (None, Some(filter)) => Some(filter.clone()),
            (Some(nulls), Some(filter)) => Some(nulls.inner() & filter),
        };
        match (mask, self.signs) {
            (None, None) => self.slots.iter().enumerate().for_each(|(row, slot)| f(row, *slot as usize, 1)),
            (None, Some(signs)) => {
                let rows = self.slots.iter().zip(signs).enumerate();
                rows.for_each(|(row, (slot, sign))| f(row, *slot as usize, i64::from(*sign)));
            }
            (Some(mask), None) => mask.set_indices().for_each(|row| f(row, self.slots[row] as usize, 1)),
            (Some(mask), Some(signs)) => {
                mask.set_indices().for_each(|row| f(row, self.slots[row] as usize, i64::from(signs[row])));
            }
        }
    }
}

/// The rows where a boolean column is true.
pub(super) fn true_rows(filter: &BooleanArray) -> BooleanBuffer {
    match filter.nulls() {
        None => filter.values().clone(),
        Some(valid) => filter.values() & valid.inner(),
    }
}

/// The accumulator of a call whose argument has type `argument`.
///
/// # Errors
/// 0A000 for an aggregate of a type that has none; XX000 for a call without its argument.
pub(super) fn accumulator(call: &AggregateCall, argument: Option<&SqlType>, append_only: bool) -> Result<Box<dyn Accumulator>> {
    let inner = plain(call, argument, append_only)?;
    let distinct = call.distinct && matches!(call.function, AggregateFunction::Count | AggregateFunction::Sum | AggregateFunction::Avg);
    match (distinct, argument) {
        (false, _) => Ok(inner),
        (true, Some(t)) => distinct::over(t, inner),
        (true, None) => Err(missing(call)),
    }
}

fn missing(call: &AggregateCall) -> Error {
    Error::internal(format!("aggregate {} has no argument", call.function.name()))
}

fn unsupported(call: &AggregateCall, argument: &SqlType) -> Error {
    Error::unsupported(format!("{}({argument}) in a streaming query", call.function.name()))
}

fn plain(call: &AggregateCall, argument: Option<&SqlType>, append_only: bool) -> Result<Box<dyn Accumulator>> {
    if call.function == AggregateFunction::Count {
        return Ok(Box::new(count::Count::default()));
    }
    let t = argument.ok_or_else(|| missing(call))?;
    match &call.function {
        AggregateFunction::Count => Ok(Box::new(count::Count::default())),
        AggregateFunction::Sum => totals(call, t, false),
        AggregateFunction::Avg => totals(call, t, true),
        AggregateFunction::Min => extreme(call, t, false, append_only),
        AggregateFunction::Max => extreme(call, t, true, append_only),
        AggregateFunction::BoolAnd | AggregateFunction::BoolOr if *t == SqlType::Boolean => {
            Ok(Box::new(bools::Bools::new(call.function == AggregateFunction::BoolAnd)))
        }
        AggregateFunction::StringAgg { delimiter } if *t == SqlType::Text => {
            Ok(Box::new(string_agg::StringAgg::new(delimiter.clone(), call.distinct)?))
        }
        AggregateFunction::BoolAnd | AggregateFunction::BoolOr | AggregateFunction::StringAgg { .. } => Err(unsupported(call, t)),
    }
}

fn totals(call: &AggregateCall, argument: &SqlType, average: bool) -> Result<Box<dyn Accumulator>> {
    let result = call.return_type.clone();
    Ok(match argument {
        SqlType::SmallInt => Box::new(total::Total::<Int16Type, i64>::new(average, 0, result)),
        SqlType::Integer => Box::new(total::Total::<Int32Type, i64>::new(average, 0, result)),
        SqlType::BigInt => Box::new(total::Total::<Int64Type, i128>::new(average, 0, result)),
        SqlType::Numeric { scale, .. } => Box::new(total::Total::<Decimal128Type, i128>::new(average, *scale, result)),
        SqlType::Real | SqlType::Double => Box::new(float_total::FloatTotal::new(average, result)),
        SqlType::Interval => Box::new(interval_total::IntervalTotal::new(average, result)),
        other => return Err(unsupported(call, other)),
    })
}

fn extreme(call: &AggregateCall, argument: &SqlType, max: bool, append_only: bool) -> Result<Box<dyn Accumulator>> {
    Ok(match (argument, append_only) {
        (SqlType::Array(_) | SqlType::Row(_) | SqlType::Unknown, _) => return Err(unsupported(call, argument)),
        (SqlType::Numeric { .. }, true) => Box::new(extreme::Extreme::new(domain::Wide::new(argument), max)),
        (SqlType::Numeric { .. }, false) => Box::new(extreme::CountedExtreme::new(domain::Wide::new(argument), max)),
        (SqlType::Text | SqlType::Bytea | SqlType::Interval, true) => Box::new(extreme::Extreme::new(Bytes::new(argument)?, max)),
        (SqlType::Text | SqlType::Bytea | SqlType::Interval, false) => Box::new(extreme::CountedExtreme::new(Bytes::new(argument)?, max)),
        (_, true) => Box::new(extreme::Extreme::new(Words::new(argument), max)),
        (_, false) => Box::new(extreme::CountedExtreme::new(Words::new(argument), max)),
    })
}

fn argument(array: Option<&ArrayRef>) -> Result<&ArrayRef> {
    array.ok_or_else(|| Error::internal("an aggregate without argument"))
}

fn primitive<T: arrow::datatypes::ArrowPrimitiveType>(array: &ArrayRef) -> Result<&arrow::array::PrimitiveArray<T>> {
    array.as_primitive_opt::<T>().ok_or_else(|| Error::internal(format!("unexpected argument of type {}", array.data_type())))
}
