//! `sum` and `avg` of real and double precision. Taking a float out of a rounded sum does not restore it, so the sum is kept exactly, as a
//! sum of floats that do not overlap (Shewchuk 1997, "Adaptive Precision Floating-Point Arithmetic"; Python's `fsum`); infinities and NaN
//! are counted. 48 bytes per group, more when the magnitudes differ a lot.
//!
//! The result is the exact sum rounded once. The batch aggregate rounds after each value in the order of its scan, so the two may differ in
//! the last digits; they are equal whenever the batch sum has no rounding.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use arrow::datatypes::Float64Type;
use millstream_functions::{cast_array, finish_totals};
use millstream_types::{Error, Result, SqlState, SqlType};

use super::codec::{write_f64, write_i64, write_len};
use super::{Accumulator, Changes, Reader, argument};

/// An exact sum: `high + low` and, rarely, smaller parts; `high` is the sum of all, rounded, unless there are smaller parts.
#[derive(Debug, Clone, Default, PartialEq)]
struct Expansion {
    high: f64,
    low: f64,
    rest: Vec<f64>,
}

/// `a + b` as its rounded value and what the rounding left out (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

impl Expansion {
    /// Adds a finite value. False if the sum is too large for a double.
    fn add(&mut self, v: f64) -> bool {
        let (sum, left) = two_sum(self.high, v);
        let (middle, least) = two_sum(self.low, left);
        if !sum.is_finite() {
            return false;
        }
        if least == 0.0 && self.rest.is_empty() {
            (self.high, self.low) = two_sum(sum, middle);
            return true;
        }
        let mut parts: Vec<f64> = Vec::with_capacity(self.rest.len() + 3);
        for part in self.rest.drain(..).chain([least, middle, sum]) {
            grow(&mut parts, part);
        }
        self.high = parts.pop().unwrap_or(0.0);
        self.low = parts.pop().unwrap_or(0.0);
        self.rest = parts;
        self.high.is_finite()
    }

    /// The sum, rounded half to even.
    fn value(&self) -> f64 {
        if self.rest.is_empty() {
            return self.high + self.low;
        }
        let mut parts = self.rest.clone();
        parts.extend([self.low, self.high]);
        let mut high = parts.pop().unwrap_or(0.0);
        let mut low = 0.0;
        while let Some(part) = parts.pop() {
            (high, low) = two_sum(high, part);
            if low != 0.0 {
                break;
            }
        }
        // Exactly half way: what is further down decides.
        if let Some(next) = parts.last()
            && ((low < 0.0 && *next < 0.0) || (low > 0.0 && *next > 0.0))
        {
            let double = low * 2.0;
            let up = high + double;
            if double == up - high {
                return up;
            }
        }
        high
    }
}

/// Adds `v` to parts that do not overlap, in increasing magnitude.
fn grow(parts: &mut Vec<f64>, mut v: f64) {
    let mut kept = 0;
    for i in 0..parts.len() {
        let (sum, left) = two_sum(v, parts[i]);
        if left != 0.0 {
            parts[kept] = left;
            kept += 1;
        }
        v = sum;
    }
    parts.truncate(kept);
    if v != 0.0 {
        parts.push(v);
    }
}

/// How many NaN, +infinity and -infinity are in a sum.
#[derive(Debug, Clone, Default, PartialEq)]
struct Specials {
    counts: [i64; 3],
}

impl Specials {
    fn value(&self) -> Option<f64> {
        match self.counts.map(|c| c > 0) {
            [false, false, false] => None,
            [false, true, false] => Some(f64::INFINITY),
            [false, false, true] => Some(f64::NEG_INFINITY),
            _ => Some(f64::NAN),
        }
    }
}

/// Sums of floats.
#[derive(Debug)]
pub(super) struct FloatTotal {
    average: bool,
    result: SqlType,
    sums: Vec<Expansion>,
    counts: Vec<i64>,
    /// By slot; most groups have none.
    specials: HashMap<usize, Specials>,
}

impl FloatTotal {
    pub(super) fn new(average: bool, result: SqlType) -> Self {
        FloatTotal { average, result, sums: vec![], counts: vec![], specials: HashMap::new() }
    }
}

impl Accumulator for FloatTotal {
    fn resize(&mut self, slots: usize) {
        let slots = slots.max(self.sums.len());
        self.sums.resize(slots, Expansion::default());
        self.counts.resize(slots, 0);
    }

    fn update(&mut self, array: Option<&ArrayRef>, changes: &Changes<'_>) -> Result<()> {
        let array = cast_array(argument(array)?, &SqlType::Double)?;
        let array = array.as_primitive::<Float64Type>();
        let values = array.values();
        let (sums, counts, specials) = (&mut self.sums, &mut self.counts, &mut self.specials);
        let mut fits = true;
        changes.each(array.nulls(), |row, slot, sign| {
            let v = values[row];
            counts[slot] += sign;
            if v.is_finite() {
                fits &= sums[slot].add(if sign > 0 { v } else { -v });
                return;
            }
            let kind = if v.is_nan() { 0 } else { 1 + usize::from(v < 0.0) };
            let special = specials.entry(slot).or_default();
            special.counts[kind] += sign;
            if special.counts == [0; 3] {
                specials.remove(&slot);
            }
        });
        if fits { Ok(()) } else { Err(Error::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow")) }
    }

    fn evaluate(&self, slots: &[u32]) -> Result<ArrayRef> {
        let counts: Vec<i64> = slots.iter().map(|s| self.counts[*s as usize]).collect();
        let sum = |slot: usize| self.specials.get(&slot).and_then(Specials::value).unwrap_or_else(|| self.sums[slot].value());
        let sums: ArrayRef = Arc::new(slots.iter().map(|s| Some(sum(*s as usize))).collect::<Float64Array>());
        finish_totals(self.average, &sums, &counts, &self.result)
    }

    fn inconsistent(&self, slots: &[u32]) -> bool {
        let negative = |slot: usize| self.specials.get(&slot).is_some_and(|s| s.counts.iter().any(|c| *c < 0));
        slots.iter().any(|s| self.counts[*s as usize] < 0 || negative(*s as usize))
    }

    fn clear(&mut self, slot: u32) {
        self.sums[slot as usize] = Expansion::default();
        self.counts[slot as usize] = 0;
        self.specials.remove(&(slot as usize));
    }

    fn encode(&self, slot: u32, out: &mut Vec<u8>) {
        let sum = &self.sums[slot as usize];
        write_len(sum.rest.len(), out);
        sum.rest.iter().chain([&sum.low, &sum.high]).for_each(|v| write_f64(*v, out));
        write_i64(self.counts[slot as usize], out);
        let specials = self.specials.get(&(slot as usize)).cloned().unwrap_or_default();
        specials.counts.iter().for_each(|c| write_i64(*c, out));
    }

    fn decode(&mut self, slot: u32, from: &mut Reader<'_>) -> Result<()> {
        let parts = from.len()?;
        let rest = (0..parts).map(|_| from.f64()).collect::<Result<Vec<_>>>()?;
        let (low, high) = (from.f64()?, from.f64()?);
        self.sums[slot as usize] = Expansion { high, low, rest };
        self.counts[slot as usize] = from.i64()?;
        let specials = Specials { counts: [from.i64()?, from.i64()?, from.i64()?] };
        if specials != Specials::default() {
            self.specials.insert(slot as usize, specials);
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        let rest: usize = self.sums.iter().map(|s| s.rest.capacity() * size_of::<f64>()).sum();
        self.sums.capacity() * size_of::<Expansion>()
            + rest
            + self.counts.capacity() * size_of::<i64>()
            + self.specials.capacity() * size_of::<(usize, Specials)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_back_leaves_no_trace() {
        let values = [1e300, 1.0, -1e-300, 0.1, 0.2, 3e-17, 1e16, -7.25, f64::MIN_POSITIVE, 1e100, -1e84];
        let mut sum = Expansion::default();
        assert!(values.iter().all(|v| sum.add(*v)));
        // Taken back in another order than they came.
        assert!(values.iter().step_by(2).chain(values.iter().skip(1).step_by(2)).all(|v| sum.add(-v)));
        assert_eq!(sum, Expansion::default());
    }

    #[test]
    fn the_sum_is_rounded_once() {
        let mut sum = Expansion::default();
        for v in [1e16, 1.0, 1e-16, 1.0, -1e16] {
            assert!(sum.add(v));
        }
        assert_eq!(sum.value().to_bits(), 2.0f64.to_bits());
        let mut tenths = Expansion::default();
        assert!((0..10).all(|_| tenths.add(0.1)));
        assert_eq!(tenths.value().to_bits(), 1.0f64.to_bits());
    }

    #[test]
    fn too_large_is_said() {
        let mut sum = Expansion::default();
        assert!(sum.add(f64::MAX));
        assert!(!sum.add(f64::MAX));
    }
}
