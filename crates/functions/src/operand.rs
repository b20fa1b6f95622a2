//! One evaluated argument: an array, or a scalar kept as an array of one row. Kernels read both through [`Lane`], without expanding.

use std::sync::Arc;

use arrow::array::{Array, ArrayAccessor, ArrayRef, ArrowPrimitiveType, BooleanBuilder, PrimitiveArray, StringBuilder};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::ColumnarValue;
use millstream_types::{Error, Result};

use crate::error::from_datafusion;

/// One argument.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub array: ArrayRef,
    pub scalar: bool,
}

impl Operand {
    pub(crate) fn new(value: &ColumnarValue) -> Result<Self> {
        Ok(match value {
            ColumnarValue::Array(array) => Operand { array: Arc::clone(array), scalar: false },
            ColumnarValue::Scalar(s) => Operand { array: s.to_array().map_err(from_datafusion)?, scalar: true },
        })
    }

    pub(crate) fn data_type(&self) -> &DataType {
        self.array.data_type()
    }

    /// Its rows as an array of type `A`.
    pub(crate) fn lane<A: Array + 'static>(&self) -> Result<Lane<'_, A>> {
        let array = self.array.as_any().downcast_ref::<A>();
        let array = array.ok_or_else(|| Error::internal(format!("unexpected argument of type {}", self.data_type())))?;
        Ok(Lane { array, stride: usize::from(!self.scalar) })
    }

    /// True if it is a scalar NULL.
    pub(crate) fn is_null_scalar(&self) -> bool {
        self.scalar && self.array.is_null(0)
    }

    /// The same operand with another array of the same length.
    pub(crate) fn with(&self, array: ArrayRef) -> Operand {
        Operand { array, scalar: self.scalar }
    }
}

/// A typed view of an [`Operand`].
pub(crate) struct Lane<'a, A> {
    pub array: &'a A,
    pub stride: usize,
}

impl<'a, A: Array> Lane<'a, A> {
    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row * self.stride)
    }

    pub(crate) fn get(&self, row: usize) -> <&'a A as ArrayAccessor>::Item
    where
        &'a A: ArrayAccessor,
    {
        self.array.value(row * self.stride)
    }
}

/// All arguments of one call.
pub(crate) struct Args {
    pub operands: Vec<Operand>,
    /// Rows of the result.
    pub rows: usize,
    /// Arrow type of the result.
    pub out: DataType,
}

impl Args {
    pub(crate) fn lane<A: Array + 'static>(&self, i: usize) -> Result<Lane<'_, A>> {
        self.operands.get(i).ok_or_else(|| Error::internal("missing argument"))?.lane()
    }

    pub(crate) fn data_type(&self, i: usize) -> &DataType {
        self.operands.get(i).map_or(&DataType::Null, Operand::data_type)
    }

    pub(crate) fn len(&self) -> usize {
        self.operands.len()
    }

    /// The rows where no argument is NULL; `None`: all of them.
    pub(crate) fn validity(&self) -> Option<NullBuffer> {
        if self.operands.iter().any(Operand::is_null_scalar) {
            return Some(NullBuffer::new_null(self.rows));
        }
        let arrays = self.operands.iter().filter(|o| !o.scalar);
        arrays.fold(None, |all, o| NullBuffer::union(all.as_ref(), o.array.logical_nulls().as_ref()))
    }

    /// Text per row; NULL where an argument is.
    pub(crate) fn map_text(&self, mut f: impl FnMut(usize, &mut String) -> Result<()>) -> Result<ArrayRef> {
        let validity = self.validity();
        let mut out = StringBuilder::with_capacity(self.rows, self.rows * 16);
        let mut text = String::new();
        for row in 0..self.rows {
            if validity.as_ref().is_some_and(|v| v.is_null(row)) {
                out.append_null();
                continue;
            }
            text.clear();
            f(row, &mut text)?;
            out.append_value(&text);
        }
        Ok(Arc::new(out.finish()))
    }

    /// Text or NULL per row; not called where an argument is NULL.
    pub(crate) fn map_optional_text(&self, mut f: impl FnMut(usize) -> Result<Option<String>>) -> Result<ArrayRef> {
        let validity = self.validity();
        let mut out = StringBuilder::with_capacity(self.rows, self.rows * 16);
        for row in 0..self.rows {
            match validity.as_ref().is_some_and(|v| v.is_null(row)) {
                true => out.append_null(),
                false => out.append_option(f(row)?),
            }
        }
        Ok(Arc::new(out.finish()))
    }

    /// A boolean per row; NULL where an argument is.
    pub(crate) fn map_bool(&self, mut f: impl FnMut(usize) -> Result<bool>) -> Result<ArrayRef> {
        let validity = self.validity();
        let mut out = BooleanBuilder::with_capacity(self.rows);
        for row in 0..self.rows {
            match validity.as_ref().is_some_and(|v| v.is_null(row)) {
                true => out.append_null(),
                false => out.append_value(f(row)?),
            }
        }
        Ok(Arc::new(out.finish()))
    }

    /// A number per row; NULL where an argument is.
    pub(crate) fn map<T: ArrowPrimitiveType>(&self, mut f: impl FnMut(usize) -> Result<T::Native>) -> Result<ArrayRef> {
        let validity = self.validity();
        let mut values = vec![T::Native::default(); self.rows];
        for (row, value) in values.iter_mut().enumerate() {
            if validity.as_ref().is_none_or(|v| v.is_valid(row)) {
                *value = f(row)?;
            }
        }
        Ok(Arc::new(PrimitiveArray::<T>::new(values.into(), validity).with_data_type(self.out.clone())))
    }

    /// The result as DataFusion takes it: a scalar if every argument is one.
    pub(crate) fn into_value(self, array: ArrayRef) -> Result<ColumnarValue> {
        if self.operands.iter().all(|o| o.scalar) && !self.operands.is_empty() {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0).map_err(from_datafusion)?));
        }
        Ok(ColumnarValue::Array(array))
    }
}
