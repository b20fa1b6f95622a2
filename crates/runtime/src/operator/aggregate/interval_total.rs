//! `sum` and `avg` of intervals: the three parts added up separately, 40 bytes per group.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, IntervalMonthDayNanoArray};
use arrow::datatypes::{IntervalMonthDayNano, IntervalMonthDayNanoType};
use millstream_functions::finish_totals;
use millstream_types::{Error, Result, SqlState, SqlType};

use super::codec::{write_i64, write_i128};
use super::{Accumulator, Changes, Reader, argument, primitive};

#[derive(Debug, Clone, Copy, Default)]
struct Parts {
    months: i64,
    days: i64,
    nanos: i128,
    count: i64,
}

/// Sums of intervals.
#[derive(Debug)]
pub(super) struct IntervalTotal {
    average: bool,
    result: SqlType,
    sums: Vec<Parts>,
}

impl IntervalTotal {
    pub(super) fn new(average: bool, result: SqlType) -> Self {
        IntervalTotal { average, result, sums: vec![] }
    }
}

fn narrow(sum: &Parts) -> Result<IntervalMonthDayNano> {
    let parts = (i32::try_from(sum.months), i32::try_from(sum.days), i64::try_from(sum.nanos));
    let (Ok(months), Ok(days), Ok(nanos)) = parts else {
        return Err(Error::new(SqlState::DATETIME_FIELD_OVERFLOW, "interval out of range"));
    };
    Ok(IntervalMonthDayNano::new(months, days, nanos))
}

impl Accumulator for IntervalTotal {
    fn resize(&mut self, slots: usize) {
        self.sums.resize(slots.max(self.sums.len()), Parts::default());
    }

    fn update(&mut self, array: Option<&ArrayRef>, changes: &Changes<'_>) -> Result<()> {
        let array = primitive::<IntervalMonthDayNanoType>(argument(array)?)?;
        let values = array.values();
        let sums = &mut self.sums;
        changes.each(array.nulls(), |row, slot, sign| {
            let (v, sum) = (values[row], &mut sums[slot]);
            sum.months += sign * i64::from(v.months);
            sum.days += sign * i64::from(v.days);
            sum.nanos += i128::from(sign) * i128::from(v.nanoseconds);
            sum.count += sign;
        });
        Ok(())
    }

    fn evaluate(&self, slots: &[u32]) -> Result<ArrayRef> {
        let counts: Vec<i64> = slots.iter().map(|s| self.sums[*s as usize].count).collect();
        let sums = slots.iter().map(|s| narrow(&self.sums[*s as usize])).collect::<Result<Vec<_>>>()?;
        let sums: ArrayRef = Arc::new(IntervalMonthDayNanoArray::from(sums));
        finish_totals(self.average, &sums, &counts, &self.result)
    }

    fn inconsistent(&self, slots: &[u32]) -> bool {
        slots.iter().any(|s| self.sums[*s as usize].count < 0)
    }

    fn clear(&mut self, slot: u32) {
        self.sums[slot as usize] = Parts::default();
    }

    fn encode(&self, slot: u32, out: &mut Vec<u8>) {
        let sum = &self.sums[slot as usize];
        write_i64(sum.months, out);
        write_i64(sum.days, out);
        write_i128(sum.nanos, out);
        write_i64(sum.count, out);
    }

    fn decode(&mut self, slot: u32, from: &mut Reader<'_>) -> Result<()> {
        self.sums[slot as usize] = Parts { months: from.i64()?, days: from.i64()?, nanos: from.i128()?, count: from.i64()? };
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.sums.capacity() * size_of::<Parts>()
    }
}
