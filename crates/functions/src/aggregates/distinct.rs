//! `sum(DISTINCT x)`, `avg(DISTINCT x)`: keeps every value once and adds them up at the end. -0 is 0 and all NaN are one.

use std::collections::HashSet;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::DataType;
use datafusion::common::{Result as DfResult, ScalarValue};
use datafusion::logical_expr::Accumulator;

/// Wraps the accumulator that is fed at the end.
#[derive(Debug)]
pub(super) struct Distinct {
    inner: Box<dyn Accumulator>,
    data_type: DataType,
    seen: HashSet<ScalarValue>,
    bytes: usize,
}

impl Distinct {
    pub(super) fn new(inner: Box<dyn Accumulator>, data_type: DataType) -> Self {
        Distinct { inner, data_type, seen: HashSet::new(), bytes: 0 }
    }

    fn insert(&mut self, array: &dyn Array) -> DfResult<()> {
        for row in 0..array.len() {
            if array.is_null(row) {
                continue;
            }
            let value = match ScalarValue::try_from_array(array, row)? {
                ScalarValue::Float64(Some(v)) => ScalarValue::Float64(Some(if v.is_nan() { f64::NAN } else { v + 0.0 })),
                ScalarValue::Float32(Some(v)) => ScalarValue::Float32(Some(if v.is_nan() { f32::NAN } else { v + 0.0 })),
                other => other,
            };
            let size = value.size();
            if self.seen.insert(value) {
                self.bytes += size;
            }
        }
        Ok(())
    }
}

impl Accumulator for Distinct {
    fn update_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        values.first().map_or(Ok(()), |array| self.insert(array))
    }

    fn evaluate(&mut self) -> DfResult<ScalarValue> {
        if !self.seen.is_empty() {
            let values = ScalarValue::iter_to_array(std::mem::take(&mut self.seen))?;
            self.inner.update_batch(&[values])?;
        }
        self.inner.evaluate()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.bytes
    }

    fn state(&mut self) -> DfResult<Vec<ScalarValue>> {
        let values: Vec<ScalarValue> = std::mem::take(&mut self.seen).into_iter().collect();
        Ok(vec![ScalarValue::List(ScalarValue::new_list_nullable(&values, &self.data_type))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> DfResult<()> {
        let Some(lists) = states.first().and_then(|s| s.as_list_opt::<i32>()) else { return Ok(()) };
        lists.iter().flatten().try_for_each(|values| self.insert(&values))
    }
}
