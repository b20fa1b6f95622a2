//! `count(*)` and `count(x)`: 8 bytes per group.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array};
use millstream_types::Result;

use super::codec::write_i64;
use super::{Accumulator, Changes, Reader};

/// Rows, or values that are not NULL.
#[derive(Debug, Default)]
pub(super) struct Count {
    counts: Vec<i64>,
}

impl Accumulator for Count {
    fn resize(&mut self, slots: usize) {
        self.counts.resize(slots.max(self.counts.len()), 0);
    }

    fn update(&mut self, argument: Option<&ArrayRef>, changes: &Changes<'_>) -> Result<()> {
        let counts = &mut self.counts;
        let nulls = argument.and_then(|a| a.logical_nulls());
        changes.each(nulls.as_ref(), |_, slot, sign| counts[slot] += sign);
        Ok(())
    }

    fn evaluate(&self, slots: &[u32]) -> Result<ArrayRef> {
        Ok(Arc::new(slots.iter().map(|s| Some(self.counts[*s as usize])).collect::<Int64Array>()))
    }

    fn inconsistent(&self, slots: &[u32]) -> bool {
        slots.iter().any(|s| self.counts[*s as usize] < 0)
    }

    fn clear(&mut self, slot: u32) {
        self.counts[slot as usize] = 0;
    }

    fn encode(&self, slot: u32, out: &mut Vec<u8>) {
        write_i64(self.counts[slot as usize], out);
    }

    fn decode(&mut self, slot: u32, from: &mut Reader<'_>) -> Result<()> {
        self.counts[slot as usize] = from.i64()?;
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<i64>()
    }
}
