//! `bool_and` and `bool_or`: how many true and false values, 16 bytes per group.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use millstream_types::{Error, Result};

use super::codec::write_i64;
use super::{Accumulator, Changes, Reader, argument};

/// Counts of both values.
#[derive(Debug)]
pub(super) struct Bools {
    and: bool,
    /// False, true.
    counts: Vec<[i64; 2]>,
}

impl Bools {
    /// `bool_and`, or `bool_or`.
    pub(super) fn new(and: bool) -> Self {
        Bools { and, counts: vec![] }
    }
}

impl Accumulator for Bools {
    fn resize(&mut self, slots: usize) {
        self.counts.resize(slots.max(self.counts.len()), [0; 2]);
    }

    fn update(&mut self, array: Option<&ArrayRef>, changes: &Changes<'_>) -> Result<()> {
        let array = argument(array)?.as_boolean_opt().ok_or_else(|| Error::internal("a boolean argument is expected"))?;
        let (values, counts) = (array.values(), &mut self.counts);
        changes.each(array.nulls(), |row, slot, sign| counts[slot][usize::from(values.value(row))] += sign);
        Ok(())
    }

    fn evaluate(&self, slots: &[u32]) -> Result<ArrayRef> {
        let value = |slot: &u32| match self.counts[*slot as usize].map(|c| c > 0) {
            [false, false] => None,
            [has_false, _] if self.and => Some(!has_false),
            [_, has_true] => Some(has_true),
        };
        Ok(Arc::new(slots.iter().map(value).collect::<BooleanArray>()))
    }

    fn inconsistent(&self, slots: &[u32]) -> bool {
        slots.iter().any(|s| self.counts[*s as usize].iter().any(|c| *c < 0))
    }

    fn clear(&mut self, slot: u32) {
        self.counts[slot as usize] = [0; 2];
    }

    fn encode(&self, slot: u32, out: &mut Vec<u8>) {
        self.counts[slot as usize].iter().for_each(|c| write_i64(*c, out));
    }

    fn decode(&mut self, slot: u32, from: &mut Reader<'_>) -> Result<()> {
        self.counts[slot as usize] = [from.i64()?, from.i64()?];
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<[i64; 2]>()
    }
}
