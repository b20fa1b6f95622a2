//! `sum` and `avg` of floats over a moving window frame: taking a float out of a sum does not restore the sum, so the values of the frame
//! are kept and added up anew.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array};
use arrow::datatypes::Float64Type;
use datafusion::common::{Result as DfResult, ScalarValue};
use datafusion::logical_expr::Accumulator;
use millstream_types::{Error, SqlType};

use super::accumulate::{Family, Floats};
use super::finish::Finish;
use crate::arithmetic::checked::FINE;
use crate::cast::cast_array;
use crate::cast::number::out_of_range;
use crate::error::external;

/// The values of the frame, in order. NULLs are kept, so that as many leave as came.
#[derive(Debug)]
pub(super) struct SlidingFloats {
    values: VecDeque<Option<f64>>,
    finish: Finish,
}

impl SlidingFloats {
    pub(super) fn new(finish: Finish) -> Self {
        SlidingFloats { values: VecDeque::new(), finish }
    }
}

impl Accumulator for SlidingFloats {
    fn update_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        let array = values.first().ok_or_else(|| external(Error::internal("an aggregate without argument")))?;
        let array = cast_array(array, &SqlType::Double).map_err(external)?;
        self.values.extend(array.as_primitive::<Float64Type>().iter());
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        let leaving = values.first().map_or(0, |v| v.len()).min(self.values.len());
        self.values.drain(..leaving);
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> DfResult<ScalarValue> {
        let (mut sum, mut count) = (0.0, 0);
        for v in self.values.iter().flatten() {
            let (next, fault) = Floats::add(sum, *v);
            if fault != FINE {
                return Err(external(out_of_range(&SqlType::Double)));
            }
            sum = next;
            count += 1;
        }
        let sums: ArrayRef = Arc::new(Float64Array::from(vec![sum]));
        ScalarValue::try_from_array(&self.finish.apply(&sums, &[count]).map_err(external)?, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.capacity() * size_of::<Option<f64>>()
    }

    fn state(&mut self) -> DfResult<Vec<ScalarValue>> {
        Err(external(Error::internal("a window frame has no partial state")))
    }

    fn merge_batch(&mut self, _states: &[ArrayRef]) -> DfResult<()> {
        Err(external(Error::internal("a window frame has no partial state")))
    }
}
