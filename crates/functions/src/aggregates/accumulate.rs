//! Adds values up. The state of both shapes, one group and many, is the running sum and how many values are in it.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, Int64Array, PrimitiveArray};
use arrow::datatypes::{Decimal128Type, Float64Type, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType};
use datafusion::common::{Result as DfResult, ScalarValue};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};
use millstream_types::{Error, Result, SqlState, SqlType};

use super::finish::Finish;
use crate::arithmetic::checked::{FINE, Fault, OVERFLOW, fault_error};
use crate::arithmetic::interval;
use crate::cast::cast_array;
use crate::error::external;

/// How a family of values is added up.
pub(super) trait Family: Debug + Send + Sync + 'static {
    /// Values as they come (after a widening cast to `input`).
    type In: ArrowPrimitiveType;
    /// The running sum.
    type Acc: ArrowPrimitiveType;
    /// The type that arguments are cast to; `None`: taken as they are.
    const INPUT: Option<SqlType>;
    /// What overflows.
    const WHAT: &'static str;
    /// A value as a sum of one.
    fn lift(v: <Self::In as ArrowPrimitiveType>::Native) -> <Self::Acc as ArrowPrimitiveType>::Native;
    /// `a + b`.
    fn add(a: AccOf<Self>, b: AccOf<Self>) -> (AccOf<Self>, Fault);
    /// `a - b`.
    fn sub(a: AccOf<Self>, b: AccOf<Self>) -> (AccOf<Self>, Fault);
}

/// The native running sum of a family.
pub(super) type AccOf<F> = <<F as Family>::Acc as ArrowPrimitiveType>::Native;

/// Adds or takes away.
type Step<A> = fn(A, A) -> (A, Fault);

fn checked<T: Default>(z: Option<T>) -> (T, Fault) {
    z.map_or_else(|| (T::default(), OVERFLOW), |z| (z, FINE))
}

macro_rules! exact {
    ($(#[$doc:meta])* $name:ident, $in:ty, $acc:ty, $native:ty, $input:expr, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(super) struct $name;
        impl Family for $name {
            type In = $in;
            type Acc = $acc;
            const INPUT: Option<SqlType> = $input;
            const WHAT: &'static str = $what;
            #[inline(always)]
            fn lift(v: <$in as ArrowPrimitiveType>::Native) -> $native {
                <$native>::from(v)
            }
            #[inline(always)]
            fn add(a: $native, b: $native) -> ($native, Fault) {
                checked(a.checked_add(b))
            }
            #[inline(always)]
            fn sub(a: $native, b: $native) -> ($native, Fault) {
                checked(a.checked_sub(b))
            }
        }
    };
}

exact!(
    /// smallint and integer in a bigint.
    Integers, Int64Type, Int64Type, i64, Some(SqlType::BigInt), "bigint out of range"
);
exact!(
    /// Integers in 38 digits.
    BigInts, Int64Type, Decimal128Type, i128, Some(SqlType::BigInt), "numeric field overflow"
);
exact!(
    /// Numerics of one scale.
    Numerics, Decimal128Type, Decimal128Type, i128, None, "numeric field overflow"
);

/// real and double precision.
#[derive(Debug)]
pub(super) struct Floats;

impl Family for Floats {
    type In = Float64Type;
    type Acc = Float64Type;
    const INPUT: Option<SqlType> = Some(SqlType::Double);
    const WHAT: &'static str = "value out of range: overflow";
    fn lift(v: f64) -> f64 {
        v
    }
    fn add(a: f64, b: f64) -> (f64, Fault) {
        let z = a + b;
        (z, if z.is_infinite() && a.is_finite() && b.is_finite() { OVERFLOW } else { FINE })
    }
    fn sub(a: f64, b: f64) -> (f64, Fault) {
        Self::add(a, -b)
    }
}

/// interval, by its parts.
#[derive(Debug)]
pub(super) struct Intervals;

impl Family for Intervals {
    type In = IntervalMonthDayNanoType;
    type Acc = IntervalMonthDayNanoType;
    const INPUT: Option<SqlType> = None;
    const WHAT: &'static str = "interval out of range";
    fn lift(v: IntervalMonthDayNano) -> IntervalMonthDayNano {
        v
    }
    fn add(a: IntervalMonthDayNano, b: IntervalMonthDayNano) -> (IntervalMonthDayNano, Fault) {
        interval::add(a, b)
    }
    fn sub(a: IntervalMonthDayNano, b: IntervalMonthDayNano) -> (IntervalMonthDayNano, Fault) {
        interval::sub(a, b)
    }
}

fn overflow<F: Family>() -> Error {
    fault_error(OVERFLOW, SqlState::NUMERIC_VALUE_OUT_OF_RANGE, F::WHAT)
}

fn input<F: Family>(values: &[ArrayRef]) -> Result<PrimitiveArray<F::In>> {
    let array = values.first().ok_or_else(|| Error::internal("an aggregate without argument"))?;
    let array = match &F::INPUT {
        Some(t) => cast_array(array, t)?,
        None => Arc::clone(array),
    };
    array.as_primitive_opt::<F::In>().cloned().ok_or_else(|| Error::internal("unexpected argument of an aggregate"))
}

fn states<F: Family>(values: &[ArrayRef]) -> Result<(&PrimitiveArray<F::Acc>, &Int64Array)> {
    let wrong = || Error::internal("unexpected state of an aggregate");
    let [sums, counts] = values else { return Err(wrong()) };
    Ok((sums.as_primitive_opt().ok_or_else(wrong)?, counts.as_primitive_opt().ok_or_else(wrong)?))
}

/// One group.
#[derive(Debug)]
pub(super) struct Single<F: Family> {
    sum: AccOf<F>,
    count: i64,
    finish: Finish,
}

impl<F: Family> Single<F> {
    pub(super) fn new(finish: Finish) -> Self {
        Single { sum: AccOf::<F>::default(), count: 0, finish }
    }

    fn each(&mut self, values: &[ArrayRef], sign: i64, f: Step<AccOf<F>>) -> Result<()> {
        let array = input::<F>(values)?;
        let mut faults = FINE;
        for v in array.iter().flatten() {
            let (sum, fault) = f(self.sum, F::lift(v));
            faults |= fault;
            self.sum = sum;
            self.count += sign;
        }
        if faults == FINE { Ok(()) } else { Err(overflow::<F>()) }
    }

    fn sums(&self) -> ArrayRef {
        let sums = PrimitiveArray::<F::Acc>::new(vec![self.sum].into(), None);
        Arc::new(sums.with_data_type(self.finish.running.clone()))
    }
}

impl<F: Family> Accumulator for Single<F> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        self.each(values, 1, F::add).map_err(external)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        self.each(values, -1, F::sub).map_err(external)
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> DfResult<ScalarValue> {
        let array = self.finish.apply(&self.sums(), &[self.count]).map_err(external)?;
        ScalarValue::try_from_array(&array, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }

    fn state(&mut self) -> DfResult<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::try_from_array(&self.sums(), 0)?, ScalarValue::Int64(Some(self.count))])
    }

    fn merge_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        let (sums, counts) = states::<F>(values).map_err(external)?;
        for (sum, count) in sums.iter().zip(counts) {
            let (Some(sum), Some(count)) = (sum, count) else { continue };
            let (sum, fault) = F::add(self.sum, sum);
            if fault != FINE {
                return Err(external(overflow::<F>()));
            }
            self.sum = sum;
            self.count += count;
        }
        Ok(())
    }
}

/// Many groups, by index.
#[derive(Debug)]
pub(super) struct Groups<F: Family> {
    sums: Vec<AccOf<F>>,
    counts: Vec<i64>,
    finish: Finish,
    family: PhantomData<F>,
}

impl<F: Family> Groups<F> {
    pub(super) fn new(finish: Finish) -> Self {
        Groups { sums: vec![], counts: vec![], finish, family: PhantomData }
    }

    fn grow(&mut self, groups: usize) {
        self.sums.resize(groups, AccOf::<F>::default());
        self.counts.resize(groups, 0);
    }

    fn take(&mut self, emit_to: EmitTo) -> (ArrayRef, Vec<i64>) {
        let sums = PrimitiveArray::<F::Acc>::new(emit_to.take_needed(&mut self.sums).into(), None);
        (Arc::new(sums.with_data_type(self.finish.running.clone())), emit_to.take_needed(&mut self.counts))
    }

    fn update(&mut self, values: &[ArrayRef], groups: &[usize], filter: Option<&BooleanArray>) -> Result<()> {
        let array = input::<F>(values)?;
        let mut faults = FINE;
        let (sums, counts) = (&mut self.sums, &mut self.counts);
        let mut one = |group: usize, v| {
            let (sum, fault) = F::add(sums[group], F::lift(v));
            faults |= fault;
            sums[group] = sum;
            counts[group] += 1;
        };
        if array.null_count() == 0 && filter.is_none() {
            groups.iter().zip(array.values()).for_each(|(group, v)| one(*group, *v));
        } else {
            let passes = |row| filter.is_none_or(|f| f.is_valid(row) && f.value(row));
            for (row, (group, v)) in groups.iter().zip(array.values()).enumerate() {
                if array.is_valid(row) && passes(row) {
                    one(*group, *v);
                }
            }
        }
        if faults == FINE { Ok(()) } else { Err(overflow::<F>()) }
    }

    fn merge(&mut self, values: &[ArrayRef], groups: &[usize]) -> Result<()> {
        let (sums, counts) = states::<F>(values)?;
        for (row, group) in groups.iter().enumerate() {
            if sums.is_null(row) || counts.is_null(row) {
                continue;
            }
            let (sum, fault) = F::add(self.sums[*group], sums.value(row));
            if fault != FINE {
                return Err(overflow::<F>());
            }
            self.sums[*group] = sum;
            self.counts[*group] += counts.value(row);
        }
        Ok(())
    }
}

impl<F: Family> GroupsAccumulator for Groups<F> {
    fn update_batch(&mut self, values: &[ArrayRef], groups: &[usize], filter: Option<&BooleanArray>, total: usize) -> DfResult<()> {
        self.grow(total);
        self.update(values, groups, filter).map_err(external)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> DfResult<ArrayRef> {
        let (sums, counts) = self.take(emit_to);
        self.finish.apply(&sums, &counts).map_err(external)
    }

    fn state(&mut self, emit_to: EmitTo) -> DfResult<Vec<ArrayRef>> {
        let (sums, counts) = self.take(emit_to);
        Ok(vec![sums, Arc::new(Int64Array::from(counts))])
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], total: usize) -> DfResult<()> {
        self.grow(total);
        self.merge(values, groups).map_err(external)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> DfResult<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |v| v.len());
        let mut each = Groups::<F>::new(self.finish.clone());
        let groups: Vec<usize> = (0..rows).collect();
        each.update_batch(values, &groups, filter, rows)?;
        each.state(EmitTo::All)
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<AccOf<F>>() + self.counts.capacity() * size_of::<i64>()
    }
}
