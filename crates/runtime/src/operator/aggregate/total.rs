//! `sum` and `avg` of integers and numerics: an exact running sum and a count, 16 or 24 bytes per group. What is made of them in the end is
//! shared with the batch aggregates.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, Decimal128Array, Int64Array};
use arrow::datatypes::DataType;
use millstream_functions::finish_totals;
use millstream_types::{Error, Result, SqlState, SqlType};

use super::codec::{write_i64, write_i128};
use super::{Accumulator, Changes, Reader, argument, primitive};

/// A running sum.
pub(super) trait Sum: Copy + Default + Send {
    /// What is said when it overflows.
    const OVERFLOW: &'static str;
    /// `self + sign * v`, if that fits.
    fn add(self, v: Self, sign: i64) -> Option<Self>;
    fn wide(self) -> i128;
    fn encode(self, out: &mut Vec<u8>);
    fn decode(from: &mut Reader<'_>) -> Result<Self>;
}

impl Sum for i64 {
    const OVERFLOW: &'static str = "bigint out of range";
    #[inline]
    fn add(self, v: i64, sign: i64) -> Option<i64> {
        if sign > 0 { self.checked_add(v) } else { self.checked_sub(v) }
    }
    fn wide(self) -> i128 {
        i128::from(self)
    }
    fn encode(self, out: &mut Vec<u8>) {
        write_i64(self, out);
    }
    fn decode(from: &mut Reader<'_>) -> Result<i64> {
        from.i64()
    }
}

impl Sum for i128 {
    const OVERFLOW: &'static str = "numeric field overflow";
    #[inline]
    fn add(self, v: i128, sign: i64) -> Option<i128> {
        if sign > 0 { self.checked_add(v) } else { self.checked_sub(v) }
    }
    fn wide(self) -> i128 {
        self
    }
    fn encode(self, out: &mut Vec<u8>) {
        write_i128(self, out);
    }
    fn decode(from: &mut Reader<'_>) -> Result<i128> {
        from.i128()
    }
}

/// Sums of values of the Arrow type `T` in an `S`.
#[derive(Debug)]
pub(super) struct Total<T, S> {
    average: bool,
    scale: i8,
    result: SqlType,
    sums: Vec<S>,
    counts: Vec<i64>,
    values: PhantomData<fn() -> T>,
}

impl<T, S> Total<T, S> {
    /// `scale` is that of the arguments.
    pub(super) fn new(average: bool, scale: i8, result: SqlType) -> Self {
        Total { average, scale, result, sums: vec![], counts: vec![], values: PhantomData }
    }
}

impl<T, S> Accumulator for Total<T, S>
where
    T: ArrowPrimitiveType,
    S: Sum + From<T::Native>,
{
    fn resize(&mut self, slots: usize) {
        let slots = slots.max(self.sums.len());
        self.sums.resize(slots, S::default());
        self.counts.resize(slots, 0);
    }

    fn update(&mut self, array: Option<&ArrayRef>, changes: &Changes<'_>) -> Result<()> {
        let array = primitive::<T>(argument(array)?)?;
        let values = array.values();
        let (sums, counts) = (&mut self.sums, &mut self.counts);
        let mut overflow = false;
        changes.each(array.nulls(), |row, slot, sign| {
            match sums[slot].add(S::from(values[row]), sign) {
                Some(sum) => sums[slot] = sum,
                None => overflow = true,
            }
            counts[slot] += sign;
        });
        if overflow { Err(Error::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, S::OVERFLOW)) } else { Ok(()) }
    }

    fn evaluate(&self, slots: &[u32]) -> Result<ArrayRef> {
        let counts: Vec<i64> = slots.iter().map(|s| self.counts[*s as usize]).collect();
        let sums = slots.iter().map(|s| self.sums[*s as usize].wide());
        let sums: ArrayRef = if self.result == SqlType::BigInt {
            let narrow = |v: i128| i64::try_from(v).map_err(|_| Error::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "bigint out of range"));
            Arc::new(Int64Array::from(sums.map(narrow).collect::<Result<Vec<_>>>()?))
        } else {
            let sums = Decimal128Array::from(sums.collect::<Vec<_>>());
            Arc::new(sums.with_data_type(DataType::Decimal128(38, self.scale)))
        };
        finish_totals(self.average, &sums, &counts, &self.result)
    }

    fn inconsistent(&self, slots: &[u32]) -> bool {
        slots.iter().any(|s| self.counts[*s as usize] < 0)
    }

    fn clear(&mut self, slot: u32) {
        self.sums[slot as usize] = S::default();
        self.counts[slot as usize] = 0;
    }

    fn encode(&self, slot: u32, out: &mut Vec<u8>) {
        self.sums[slot as usize].encode(out);
        write_i64(self.counts[slot as usize], out);
    }

    fn decode(&mut self, slot: u32, from: &mut Reader<'_>) -> Result<()> {
        self.sums[slot as usize] = S::decode(from)?;
        self.counts[slot as usize] = from.i64()?;
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.sums.capacity() * size_of::<S>() + self.counts.capacity() * size_of::<i64>()
    }
}
