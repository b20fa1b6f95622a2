//! `min` and `max`: DataFusion's, with PostgreSQL's order of floats: NaN is greater than every number, whatever its sign bit, and -0 is 0.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, FieldRef, Float32Type, Float64Type};
use datafusion::common::{Result as DfResult, ScalarValue};
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, SetMonotonicity, Signature};
use millstream_types::Error;

use crate::error::external;

/// `min`.
pub(super) fn min() -> AggregateUDF {
    AggregateUDF::new_from_impl(Extreme { inner: min_udaf(), greatest: false })
}

/// `max`.
pub(super) fn max() -> AggregateUDF {
    AggregateUDF::new_from_impl(Extreme { inner: max_udaf(), greatest: true })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Extreme {
    inner: Arc<AggregateUDF>,
    greatest: bool,
}

impl AggregateUDFImpl for Extreme {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, types: &[DataType]) -> DfResult<DataType> {
        self.inner.return_type(types)
    }

    fn coerce_types(&self, types: &[DataType]) -> DfResult<Vec<DataType>> {
        self.inner.coerce_types(types)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> DfResult<Vec<FieldRef>> {
        self.inner.state_fields(args)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> DfResult<Box<dyn Accumulator>> {
        Ok(Box::new(Canonical(self.inner.accumulator(args)?)))
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> DfResult<Box<dyn Accumulator>> {
        Ok(Box::new(Canonical(self.inner.create_sliding_accumulator(args)?)))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> DfResult<Box<dyn GroupsAccumulator>> {
        Ok(match args.return_type() {
            DataType::Float32 => Box::new(Groups::<Float32Type>::new(self.greatest)),
            DataType::Float64 => Box::new(Groups::<Float64Type>::new(self.greatest)),
            _ => self.inner.create_groups_accumulator(args)?,
        })
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn is_descending(&self) -> Option<bool> {
        self.inner.is_descending()
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner.inner().set_monotonicity(data_type)
    }
}

/// One NaN and one zero.
fn canonical(values: &[ArrayRef]) -> Vec<ArrayRef> {
    let one = |array: &ArrayRef| -> ArrayRef {
        match array.data_type() {
            DataType::Float32 => {
                Arc::new(array.as_primitive::<Float32Type>().unary::<_, Float32Type>(|v| if v.is_nan() { f32::NAN } else { v + 0.0 }))
            }
            DataType::Float64 => {
                Arc::new(array.as_primitive::<Float64Type>().unary::<_, Float64Type>(|v| if v.is_nan() { f64::NAN } else { v + 0.0 }))
            }
            _ => Arc::clone(array),
        }
    };
    values.iter().map(one).collect()
}

#[derive(Debug)]
struct Canonical(Box<dyn Accumulator>);

impl Accumulator for Canonical {
    fn update_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        self.0.update_batch(&canonical(values))
    }
    fn evaluate(&mut self) -> DfResult<ScalarValue> {
        self.0.evaluate()
    }
    fn size(&self) -> usize {
        self.0.size()
    }
    fn state(&mut self) -> DfResult<Vec<ScalarValue>> {
        self.0.state()
    }
    fn merge_batch(&mut self, states: &[ArrayRef]) -> DfResult<()> {
        self.0.merge_batch(states)
    }
    fn retract_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        self.0.retract_batch(&canonical(values))
    }
    fn supports_retract_batch(&self) -> bool {
        self.0.supports_retract_batch()
    }
}

/// The extreme float of many groups. DataFusion's compares with `<`, under which the first NaN stays or goes by its place in the input.
struct Groups<T: ArrowPrimitiveType> {
    greatest: bool,
    values: Vec<Option<T::Native>>,
}

impl<T: ArrowPrimitiveType> Groups<T>
where
    T::Native: PartialOrd,
{
    fn new(greatest: bool) -> Self {
        Groups { greatest, values: vec![] }
    }

    /// NaN is not equal to itself.
    fn replaces(&self, new: T::Native, old: T::Native) -> bool {
        let nan = |v: T::Native| v.partial_cmp(&v).is_none();
        match (nan(new), nan(old), self.greatest) {
            (true, old_nan, greatest) => greatest && !old_nan,
            (false, true, greatest) => !greatest,
            (false, false, true) => new > old,
            (false, false, false) => new < old,
        }
    }

    fn update(&mut self, array: &PrimitiveArray<T>, groups: &[usize], filter: Option<&BooleanArray>) {
        let passes = |row| filter.is_none_or(|f| f.is_valid(row) && f.value(row));
        for (row, group) in groups.iter().enumerate() {
            if array.is_valid(row) && passes(row) {
                let new = array.value(row);
                if self.values[*group].is_none_or(|old| self.replaces(new, old)) {
                    self.values[*group] = Some(new);
                }
            }
        }
    }

    fn array(&self, values: &[ArrayRef]) -> DfResult<PrimitiveArray<T>> {
        let canonical = canonical(values);
        let array = canonical.first().and_then(|a| a.as_primitive_opt::<T>()).cloned();
        array.ok_or_else(|| external(Error::internal("unexpected argument of an aggregate")))
    }
}

impl<T: ArrowPrimitiveType> GroupsAccumulator for Groups<T>
where
    T::Native: PartialOrd,
{
    fn update_batch(&mut self, values: &[ArrayRef], groups: &[usize], filter: Option<&BooleanArray>, total: usize) -> DfResult<()> {
        self.values.resize(total, None);
        let array = self.array(values)?;
        self.update(&array, groups, filter);
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> DfResult<ArrayRef> {
        let values = emit_to.take_needed(&mut self.values);
        Ok(Arc::new(values.into_iter().collect::<PrimitiveArray<T>>()))
    }

    fn state(&mut self, emit_to: EmitTo) -> DfResult<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(emit_to)?])
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], total: usize) -> DfResult<()> {
        self.update_batch(values, groups, None, total)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> DfResult<Vec<ArrayRef>> {
        let array = self.array(values)?;
        let kept = filter.map(|f| NullBuffer::from_iter((0..f.len()).map(|row| f.is_valid(row) && f.value(row))));
        let nulls = NullBuffer::union(array.nulls(), kept.as_ref());
        Ok(vec![Arc::new(PrimitiveArray::<T>::new(array.values().clone(), nulls))])
    }

    fn size(&self) -> usize {
        self.values.capacity() * size_of::<Option<T::Native>>()
    }
}
