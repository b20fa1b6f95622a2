//! DISTINCT: counts every value of a group and passes on only its first coming and its last going.

use std::borrow::Borrow;

use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::take;
use millstream_types::{Result, SqlType};

use super::counted::CountedSlots;
use super::domain::{Bytes, Domain, Wide, Words, read_counted, write_counted};
use super::{Accumulator, Changes, Reader, argument};

/// `inner` over the distinct values of type `argument`.
pub(super) fn over(argument: &SqlType, inner: Box<dyn Accumulator>) -> Result<Box<dyn Accumulator>> {
    Ok(match argument {
        SqlType::Numeric { .. } => Box::new(Distinct { domain: Wide::new(argument), values: CountedSlots::new(), inner }),
        SqlType::Text | SqlType::Bytea | SqlType::Interval | SqlType::Array(_) | SqlType::Row(_) | SqlType::Unknown => {
            Box::new(Distinct { domain: Bytes::new(argument)?, values: CountedSlots::new(), inner })
        }
        _ => Box::new(Distinct { domain: Words::new(argument), values: CountedSlots::new(), inner }),
    })
}

struct Distinct<D: Domain> {
    domain: D,
    values: CountedSlots<D::Owned>,
    inner: Box<dyn Accumulator>,
}

impl<D: Domain> Accumulator for Distinct<D> {
    fn resize(&mut self, slots: usize) {
        self.values.resize(slots);
        self.inner.resize(slots);
    }

    fn update(&mut self, array: Option<&ArrayRef>, changes: &Changes<'_>) -> Result<()> {
        let array = argument(array)?;
        let column = self.domain.column(array)?;
        let (mut rows, mut slots, mut signs) = (vec![], vec![], vec![]);
        let values = &mut self.values;
        changes.each(array.logical_nulls().as_ref(), |row, slot, sign| {
            let value = D::get(&column, row);
            let step = values.add(slot, value, sign, D::heap(value), D::own);
            let change = i8::from(step.after > 0) - i8::from(step.before > 0);
            if change != 0 {
                rows.push(row as u32);
                slots.push(slot as u32);
                signs.push(change);
            }
        });
        if rows.is_empty() {
            return Ok(());
        }
        let first = take(array, &UInt32Array::from(rows), None)?;
        self.inner.update(Some(&first), &Changes { slots: &slots, signs: Some(&signs), filter: None })
    }

    fn evaluate(&self, slots: &[u32]) -> Result<ArrayRef> {
        self.inner.evaluate(slots)
    }

    fn inconsistent(&self, slots: &[u32]) -> bool {
        self.values.inconsistent(slots) || self.inner.inconsistent(slots)
    }

    fn clear(&mut self, slot: u32) {
        self.values.clear(slot, |v| D::heap(v.borrow()));
        self.inner.clear(slot);
    }

    fn encode(&self, slot: u32, out: &mut Vec<u8>) {
        write_counted::<D>(self.values.get(slot), out);
        self.inner.encode(slot, out);
    }

    fn decode(&mut self, slot: u32, from: &mut Reader<'_>) -> Result<()> {
        self.values.put(slot, read_counted::<D>(from)?, |v| D::heap(v.borrow()));
        self.inner.decode(slot, from)
    }

    fn bytes(&self) -> usize {
        self.values.bytes() + self.inner.bytes()
    }
}
