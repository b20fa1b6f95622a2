//! `min` and `max`: over append-only input the one value, over retracting input all values with their counts.

use std::borrow::Borrow;

use arrow::array::{Array, ArrayRef};
use millstream_types::Result;

use super::codec::write_len;
use super::counted::CountedSlots;
use super::domain::{Domain, read_counted, write_counted};
use super::{Accumulator, Changes, Reader, argument};

/// The smallest or largest value so far.
pub(super) struct Extreme<D: Domain> {
    domain: D,
    max: bool,
    values: Vec<Option<D::Owned>>,
    heap_bytes: usize,
}

impl<D: Domain> Extreme<D> {
    pub(super) fn new(domain: D, max: bool) -> Self {
        Extreme { domain, max, values: vec![], heap_bytes: 0 }
    }
}

impl<D: Domain> Accumulator for Extreme<D> {
    fn resize(&mut self, slots: usize) {
        self.values.resize_with(slots.max(self.values.len()), || None);
    }

    fn update(&mut self, array: Option<&ArrayRef>, changes: &Changes<'_>) -> Result<()> {
        let array = argument(array)?;
        let column = self.domain.column(array)?;
        let (values, max, heap_bytes) = (&mut self.values, self.max, &mut self.heap_bytes);
        changes.each(array.logical_nulls().as_ref(), |row, slot, _| {
            let value = D::get(&column, row);
            let better = match &values[slot] {
                None => true,
                Some(old) if max => value > old.borrow(),
                Some(old) => value < old.borrow(),
            };
            if better {
                *heap_bytes += D::heap(value);
                if let Some(old) = values[slot].replace(D::own(value)) {
                    *heap_bytes -= D::heap(old.borrow());
                }
            }
        });
        Ok(())
    }

    fn evaluate(&self, slots: &[u32]) -> Result<ArrayRef> {
        let values: Vec<_> = slots.iter().map(|s| self.values[*s as usize].as_ref().map(Borrow::borrow)).collect();
        self.domain.array(&values)
    }

    fn inconsistent(&self, _slots: &[u32]) -> bool {
        false
    }

    fn clear(&mut self, slot: u32) {
        if let Some(old) = self.values[slot as usize].take() {
            self.heap_bytes -= D::heap(old.borrow());
        }
    }

    fn encode(&self, slot: u32, out: &mut Vec<u8>) {
        let value = &self.values[slot as usize];
        write_len(usize::from(value.is_some()), out);
        if let Some(value) = value {
            D::write(value.borrow(), out);
        }
    }

    fn decode(&mut self, slot: u32, from: &mut Reader<'_>) -> Result<()> {
        let value = (from.len()? > 0).then(|| D::read(from)).transpose()?;
        self.clear(slot);
        self.heap_bytes += value.as_ref().map_or(0, |v| D::heap(v.borrow()));
        self.values[slot as usize] = value;
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.values.capacity() * size_of::<Option<D::Owned>>() + self.heap_bytes
    }
}

/// All values, counted.
pub(super) struct CountedExtreme<D: Domain> {
    domain: D,
    max: bool,
    values: CountedSlots<D::Owned>,
}

impl<D: Domain> CountedExtreme<D> {
    pub(super) fn new(domain: D, max: bool) -> Self {
        CountedExtreme { domain, max, values: CountedSlots::new() }
    }
}

impl<D: Domain> Accumulator for CountedExtreme<D> {
    fn resize(&mut self, slots: usize) {
        self.values.resize(slots);
    }

    fn update(&mut self, array: Option<&ArrayRef>, changes: &Changes<'_>) -> Result<()> {
        let array = argument(array)?;
        let column = self.domain.column(array)?;
        let values = &mut self.values;
        changes.each(array.logical_nulls().as_ref(), |row, slot, sign| {
            let value = D::get(&column, row);
            values.add(slot, value, sign, D::heap(value), D::own);
        });
        Ok(())
    }

    fn evaluate(&self, slots: &[u32]) -> Result<ArrayRef> {
        let value = |slot: &u32| {
            let values = self.values.get(*slot);
            if self.max { values.last() } else { values.first() }
        };
        let values: Vec<_> = slots.iter().map(|s| value(s).map(Borrow::borrow)).collect();
        self.domain.array(&values)
    }

    fn inconsistent(&self, slots: &[u32]) -> bool {
        self.values.inconsistent(slots)
    }

    fn clear(&mut self, slot: u32) {
        self.values.clear(slot, |v| D::heap(v.borrow()));
    }

    fn encode(&self, slot: u32, out: &mut Vec<u8>) {
        write_counted::<D>(self.values.get(slot), out);
    }

    fn decode(&mut self, slot: u32, from: &mut Reader<'_>) -> Result<()> {
        self.values.put(slot, read_counted::<D>(from)?, |v| D::heap(v.borrow()));
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.values.bytes()
    }
}
