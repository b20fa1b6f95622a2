//! Which subtask owns a key: key group = pinned hash of the key % max parallelism; a subtask owns a contiguous range of key groups.
//!
//! The hash is part of routing and of stored state, so it is written down here and pinned by golden vectors; no library's default
//! hasher may take its place. Per key column, in order, with `h` starting at [`SEED`]:
//!
//! - NULL: `h = mix(h ^ NULL_TAG)`
//! - fixed width up to 64 bits: the value sign-extended to `i64` (booleans 0 and 1; floats by the bits of the `f64`, with -0 as +0 and
//!   every NaN as the one quiet NaN): `h = mix(h ^ value)`
//! - 128 bit numerics and intervals: low half, then high half, as two 64 bit values
//! - text and bytes: `h = xxh3_64(bytes, seed = h)`
//!
//! `mix` is the finalizer of SplitMix64 (Steele, Lea, Flood 2014) after adding its golden gamma.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, IntervalMonthDayNanoType,
    IntervalUnit, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::{Error, Result};

/// A key group, smaller than the job's max parallelism.
pub type KeyGroup = u16;

const SEED: u64 = 0x4d69_6c6c_7374_726d; // "Millstrm"
const NULL_TAG: u64 = 0x9ae1_6a3b_2f90_404f;

fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Key groups `start..end` that one subtask owns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct KeyGroupRange {
    /// First one.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

impl KeyGroupRange {
    /// The range of `subtask` out of `parallelism` (Flink's formula: ranges differ in size by at most one). Needs
    /// `subtask < parallelism <= max_parallelism`.
    pub fn of_subtask(subtask: u32, parallelism: u32, max_parallelism: u32) -> Self {
        let bound = |i: u32| (u64::from(i) * u64::from(max_parallelism)).div_ceil(u64::from(parallelism));
        let narrow = |v: u64| u32::try_from(v).unwrap_or(u32::MAX);
        KeyGroupRange { start: narrow(bound(subtask)), end: narrow(bound(subtask + 1)) }
    }

    /// True if the group is in the range.
    pub fn contains(&self, group: KeyGroup) -> bool {
        (self.start..self.end).contains(&u32::from(group))
    }

    /// True if both have a group in common.
    pub fn overlaps(&self, other: &KeyGroupRange) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// The subtask of `parallelism` that owns `group`; the inverse of [`KeyGroupRange::of_subtask`].
pub fn subtask_of(group: KeyGroup, parallelism: u32, max_parallelism: u32) -> u32 {
    (u32::from(group) * parallelism) / max_parallelism
}

/// Hashes key columns of a batch to key groups, column by column.
#[derive(Debug, Clone)]
pub struct KeyHasher {
    max_parallelism: u32,
    hashes: Vec<u64>,
}

impl KeyHasher {
    /// For jobs of this max parallelism (1 to 32,768).
    pub fn new(max_parallelism: u32) -> Self {
        KeyHasher { max_parallelism, hashes: Vec::new() }
    }

    /// The key group of every row, for key `columns` of `rows` rows each. Without columns (a global aggregate) every row has the same.
    ///
    /// # Errors
    /// 0A000 for a column type that cannot be a key.
    pub fn key_groups(&mut self, columns: &[ArrayRef], rows: usize) -> Result<Vec<KeyGroup>> {
        let max = u64::from(self.max_parallelism);
        let hashes = self.hash(columns, rows)?;
        Ok(hashes.iter().map(|h| (h % max) as KeyGroup).collect())
    }

    /// The pinned 64 bit hash of every row.
    ///
    /// # Errors
    /// 0A000 for a column type that cannot be a key.
    pub fn hash(&mut self, columns: &[ArrayRef], rows: usize) -> Result<&[u64]> {
        self.hashes.clear();
        self.hashes.resize(rows, SEED);
        for column in columns {
            hash_column(column, &mut self.hashes)?;
        }
        Ok(&self.hashes)
    }
}

fn float_bits(v: f64) -> u64 {
    if v.is_nan() {
        f64::NAN.to_bits()
    } else if v == 0.0 {
        0
    } else {
        v.to_bits()
    }
}

fn fixed(array: &dyn Array, hashes: &mut [u64], value: impl Fn(usize) -> u64) {
    for (i, h) in hashes.iter_mut().enumerate() {
        *h = mix(*h ^ if array.is_null(i) { NULL_TAG } else { value(i) });
    }
}

fn wide(array: &dyn Array, hashes: &mut [u64], value: impl Fn(usize) -> (u64, u64)) {
    for (i, h) in hashes.iter_mut().enumerate() {
        *h = if array.is_null(i) {
            mix(*h ^ NULL_TAG)
        } else {
            let (low, high) = value(i);
            mix(mix(*h ^ low) ^ high)
        };
    }
}

fn bytes<'a>(array: &dyn Array, hashes: &mut [u64], value: impl Fn(usize) -> &'a [u8]) {
    for (i, h) in hashes.iter_mut().enumerate() {
        *h = if array.is_null(i) { mix(*h ^ NULL_TAG) } else { xxh3_64_with_seed(value(i), *h) };
    }
}

fn hash_column(column: &ArrayRef, hashes: &mut [u64]) -> Result<()> {
    let a = column.as_ref();
    match column.data_type() {
        DataType::Boolean => fixed(a, hashes, |i| u64::from(column.as_boolean().value(i))),
        DataType::Int16 => fixed(a, hashes, |i| i64::from(column.as_primitive::<Int16Type>().value(i)) as u64),
        DataType::Int32 => fixed(a, hashes, |i| i64::from(column.as_primitive::<Int32Type>().value(i)) as u64),
        DataType::Int64 => fixed(a, hashes, |i| column.as_primitive::<Int64Type>().value(i) as u64),
        DataType::Float32 => fixed(a, hashes, |i| float_bits(f64::from(column.as_primitive::<Float32Type>().value(i)))),
        DataType::Float64 => fixed(a, hashes, |i| float_bits(column.as_primitive::<Float64Type>().value(i))),
        DataType::Date32 => fixed(a, hashes, |i| i64::from(column.as_primitive::<Date32Type>().value(i)) as u64),
        DataType::Time64(TimeUnit::Microsecond) => fixed(a, hashes, |i| column.as_primitive::<Time64MicrosecondType>().value(i) as u64),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            fixed(a, hashes, |i| column.as_primitive::<TimestampMicrosecondType>().value(i) as u64);
        }
        DataType::Decimal128(_, _) => wide(a, hashes, |i| {
            let v = column.as_primitive::<Decimal128Type>().value(i);
            (v as u64, (v >> 64) as u64)
        }),
        DataType::Interval(IntervalUnit::MonthDayNano) => wide(a, hashes, |i| {
            let v = column.as_primitive::<IntervalMonthDayNanoType>().value(i);
            ((i64::from(v.months) as u64) << 32 ^ (i64::from(v.days) as u64), v.nanoseconds as u64)
        }),
        DataType::Utf8 => bytes(a, hashes, |i| column.as_string::<i32>().value(i).as_bytes()),
        DataType::Binary => bytes(a, hashes, |i| column.as_binary::<i32>().value(i)),
        DataType::Null => fixed(a, hashes, |_| NULL_TAG),
        other => return Err(Error::unsupported(format!("a key of type {other}"))),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow::array::{Decimal128Array, Float64Array, Int32Array, Int64Array, StringArray};

    use super::*;

    fn hash(columns: &[ArrayRef]) -> Vec<u64> {
        KeyHasher::new(128).hash(columns, columns[0].len()).unwrap().to_vec()
    }

    /// Routing and stored state depend on these numbers: a change here breaks every savepoint. Computed with another implementation of the
    /// rule above.
    #[test]
    fn golden_vectors() {
        let ints: ArrayRef = Arc::new(Int64Array::from(vec![Some(0), Some(1), Some(-1), None]));
        let text: ArrayRef = Arc::new(StringArray::from(vec![Some(""), Some("a"), Some("Millstream"), None]));
        let numeric: ArrayRef = Arc::new(Decimal128Array::from(vec![Some(0), Some(1), Some(-1), None]));
        assert_eq!(hash(std::slice::from_ref(&ints)), GOLDEN_INTS);
        assert_eq!(hash(std::slice::from_ref(&text)), GOLDEN_TEXT);
        assert_eq!(hash(std::slice::from_ref(&numeric)), GOLDEN_NUMERIC);
        assert_eq!(hash(&[ints, text]), GOLDEN_BOTH);
    }

    #[test]
    fn zeros_and_nans_are_one_key_and_width_does_not_matter() {
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![0.0, -0.0, f64::NAN, f64::from_bits(0xfff8_0000_0000_0001)]));
        let h = hash(&[floats]);
        assert_eq!(h[0], h[1]);
        assert_eq!(h[2], h[3]);
        let narrow: ArrayRef = Arc::new(Int32Array::from(vec![-7]));
        let wide: ArrayRef = Arc::new(Int64Array::from(vec![-7]));
        assert_eq!(hash(&[narrow]), hash(&[wide]));
    }

    #[test]
    fn ranges_cover_every_group_once_and_agree_with_subtask_of() {
        for max in [1u32, 2, 7, 128, 1000] {
            for p in 1..=max.min(40) {
                let mut next = 0;
                for s in 0..p {
                    let r = KeyGroupRange::of_subtask(s, p, max);
                    assert_eq!(r.start, next);
                    next = r.end;
                    for g in r.start..r.end {
                        assert_eq!(subtask_of(g as KeyGroup, p, max), s, "group {g} of {p}/{max}");
                    }
                }
                assert_eq!(next, max);
            }
        }
    }

    const GOLDEN_INTS: [u64; 4] = [0xa9ac8213a1a4fd9f, 0x690822a082e2ec00, 0x1903073ecc72c776, 0xa227ea0cf0ed882c];
    const GOLDEN_TEXT: [u64; 4] = [0x3991c11d670b9b3b, 0xa9d298b1e7c5f6da, 0x983c4b0e560044c7, 0xa227ea0cf0ed882c];
    const GOLDEN_NUMERIC: [u64; 4] = [0x6bb10484616a6a84, 0x5caa475f09720b21, 0x7f801318eda181f6, 0xa227ea0cf0ed882c];
    const GOLDEN_BOTH: [u64; 4] = [0x0b297c0e9e2c3555, 0xe35044784e1bce41, 0xa975fa2c364587a9, 0x798f1c1e5961929b];
}
