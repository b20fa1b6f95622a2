//! From running sums and counts to the result of `sum` or `avg`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, Float64Array, IntervalMonthDayNanoArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, IntervalMonthDayNanoType};
use millstream_types::{Error, Result, SqlType};

use crate::arithmetic::checked::FINE;
use crate::arithmetic::decimal::{bounded, error, quotient};
use crate::arithmetic::interval::divide;
use crate::arithmetic::temporal::interval_error;
use crate::cast::cast_array;

/// What is made of the running sums.
#[derive(Clone, Debug)]
pub(super) struct Finish {
    /// `avg` instead of `sum`.
    pub average: bool,
    /// Type of the running sums.
    pub running: DataType,
    /// Type of the result.
    pub result: SqlType,
}

/// The results of `sum`, or of `avg`, from running sums and the numbers of values in them: what batch and streaming aggregates share.
///
/// Sums are bigint or numeric(38, scale of the argument), double precision for floats, or intervals; without values the result is NULL.
///
/// # Errors
/// 22003 or 22008 if a result does not fit its type.
pub fn finish_totals(average: bool, sums: &ArrayRef, counts: &[i64], result: &SqlType) -> Result<ArrayRef> {
    Finish { average, running: sums.data_type().clone(), result: result.clone() }.apply(sums, counts)
}

impl Finish {
    /// The results; NULL where nothing was added.
    pub(super) fn apply(&self, sums: &ArrayRef, counts: &[i64]) -> Result<ArrayRef> {
        let validity = NullBuffer::from_iter(counts.iter().map(|c| *c > 0));
        match &self.running {
            DataType::Decimal128(_, scale) => self.numeric(sums, counts, *scale, validity),
            DataType::Float64 => {
                let sums = sums.as_primitive::<Float64Type>();
                let divide = |(sum, count): (&f64, &i64)| if self.average { sum / *count as f64 } else { *sum };
                let values: Vec<f64> = sums.values().iter().zip(counts).map(divide).collect();
                let array: ArrayRef = Arc::new(Float64Array::new(values.into(), Some(validity)));
                cast_array(&array, &self.result)
            }
            DataType::Interval(_) => {
                let sums = sums.as_primitive::<IntervalMonthDayNanoType>();
                let mut values = Vec::with_capacity(counts.len());
                for (sum, count) in sums.values().iter().zip(counts) {
                    let (value, fault) = if self.average && *count > 0 { divide(*sum, *count as f64) } else { (*sum, FINE) };
                    if fault != FINE {
                        return Err(interval_error(fault));
                    }
                    values.push(value);
                }
                Ok(Arc::new(IntervalMonthDayNanoArray::new(values.into(), Some(validity))))
            }
            DataType::Int64 => {
                let sums = sums.to_data().into_builder().nulls(Some(validity)).build()?;
                Ok(arrow::array::make_array(sums))
            }
            other => Err(Error::internal(format!("unexpected sum of type {other}"))),
        }
    }

    fn numeric(&self, sums: &ArrayRef, counts: &[i64], scale: i8, validity: NullBuffer) -> Result<ArrayRef> {
        let SqlType::Numeric { scale: wanted, .. } = &self.result else { return Err(Error::internal("numeric result expected")) };
        let shift = u32::try_from(i16::from(*wanted) - i16::from(scale)).unwrap_or(0);
        let mut values = Vec::with_capacity(counts.len());
        for (sum, count) in sums.as_primitive::<Decimal128Type>().values().iter().zip(counts) {
            let (value, fault) = if self.average && *count > 0 { quotient(*sum, shift, i128::from(*count)) } else { bounded(*sum, false) };
            if fault != FINE {
                return Err(error(fault));
            }
            values.push(value);
        }
        Ok(Arc::new(Decimal128Array::new(values.into(), Some(validity)).with_data_type(self.result.to_arrow())))
    }
}
