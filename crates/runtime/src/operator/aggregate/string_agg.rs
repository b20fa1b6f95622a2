//! `string_agg(x, delimiter)`: all values with their counts, joined in the order of the values (byte order), because the order of arrival
//! is not stable under changes.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringBuilder};
use millstream_types::{Error, Result, SqlState, SqlType};

use super::counted::CountedSlots;
use super::domain::{Bytes, Domain, read_counted, write_counted};
use super::{Accumulator, Changes, Reader, argument};

/// Texts of each group.
pub(super) struct StringAgg {
    domain: Bytes,
    delimiter: String,
    distinct: bool,
    values: CountedSlots<Box<[u8]>>,
}

impl StringAgg {
    /// With `distinct` each value is written once.
    pub(super) fn new(delimiter: String, distinct: bool) -> Result<Self> {
        Ok(StringAgg { domain: Bytes::new(&SqlType::Text)?, delimiter, distinct, values: CountedSlots::new() })
    }

    fn join(&self, slot: u32, text: &mut String) -> Result<bool> {
        text.clear();
        let mut any = false;
        for (value, count) in self.values.get(slot).iter() {
            let value = std::str::from_utf8(value).map_err(Error::internal)?;
            for _ in 0..if self.distinct { count.min(1) } else { count } {
                if any {
                    text.push_str(&self.delimiter);
                }
                text.push_str(value);
                any = true;
            }
        }
        Ok(any)
    }
}

impl Accumulator for StringAgg {
    fn resize(&mut self, slots: usize) {
        self.values.resize(slots);
    }

    fn update(&mut self, array: Option<&ArrayRef>, changes: &Changes<'_>) -> Result<()> {
        let array = argument(array)?;
        let column = self.domain.column(array)?;
        let values = &mut self.values;
        changes.each(array.logical_nulls().as_ref(), |row, slot, sign| {
            let value = column.value(row);
            values.add(slot, value, sign, value.len(), Bytes::own);
        });
        Ok(())
    }

    fn evaluate(&self, slots: &[u32]) -> Result<ArrayRef> {
        let mut out = StringBuilder::new();
        let (mut text, mut total) = (String::new(), 0usize);
        for slot in slots {
            if !self.join(*slot, &mut text)? {
                out.append_null();
                continue;
            }
            total += text.len();
            if i32::try_from(total).is_err() {
                return Err(Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "result of string_agg is too large")
                    .with_detail("The texts of one batch are limited to 2 GiB."));
            }
            out.append_value(&text);
        }
        Ok(Arc::new(out.finish()))
    }

    fn inconsistent(&self, slots: &[u32]) -> bool {
        self.values.inconsistent(slots)
    }

    fn clear(&mut self, slot: u32) {
        self.values.clear(slot, |v| v.len());
    }

    fn encode(&self, slot: u32, out: &mut Vec<u8>) {
        write_counted::<Bytes>(self.values.get(slot), out);
    }

    fn decode(&mut self, slot: u32, from: &mut Reader<'_>) -> Result<()> {
        self.values.put(slot, read_counted::<Bytes>(from)?, |v| v.len());
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.values.bytes()
    }
}
