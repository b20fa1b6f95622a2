//! Key columns as bytes that compare like the key: arrow-row encoding, with floats made equal first (-0 as +0, every NaN as one).

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::compute::unary;
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use arrow::row::{RowConverter, Rows, SortField};
use millstream_types::Result;

/// Encodes and decodes keys of one list of column types.
#[derive(Debug)]
pub struct KeyCodec {
    converter: RowConverter,
}

impl KeyCodec {
    /// For key columns of these types.
    ///
    /// # Errors
    /// XX000 for a type that arrow-row cannot encode.
    pub fn new(types: impl IntoIterator<Item = DataType>) -> Result<Self> {
        let fields = types.into_iter().map(SortField::new).collect();
        Ok(KeyCodec { converter: RowConverter::new(fields)? })
    }

    /// The keys of a batch, one per row.
    ///
    /// # Errors
    /// XX000 if the columns are of other types.
    pub fn encode(&self, columns: &[ArrayRef]) -> Result<Rows> {
        let columns: Vec<ArrayRef> = columns.iter().map(normalize).collect();
        Ok(self.converter.convert_columns(&columns)?)
    }

    /// Columns of encoded keys.
    ///
    /// # Errors
    /// XX001 if the bytes are no keys of these types.
    pub fn decode<'a>(&self, keys: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<ArrayRef>> {
        let parser = self.converter.parser();
        Ok(self.converter.convert_rows(keys.into_iter().map(|k| parser.parse(k)))?)
    }
}

/// The column with every float zero positive and every NaN the same; other types as they are.
pub fn normalize(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Float64 => {
            let floats: &PrimitiveArray<Float64Type> = column.as_primitive();
            Arc::new(unary::<_, _, Float64Type>(floats, |v| if v.is_nan() { f64::NAN } else { v + 0.0 }))
        }
        DataType::Float32 => {
            let floats: &PrimitiveArray<Float32Type> = column.as_primitive();
            Arc::new(unary::<_, _, Float32Type>(floats, |v| if v.is_nan() { f32::NAN } else { v + 0.0 }))
        }
        _ => Arc::clone(column),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow::array::Float64Array;

    use super::*;

    #[test]
    fn zeros_are_one_key_and_nans_are_one_key() {
        let codec = KeyCodec::new([DataType::Float64]).unwrap();
        let column: ArrayRef =
            Arc::new(Float64Array::from(vec![Some(0.0), Some(-0.0), Some(f64::NAN), Some(-f64::NAN), None, Some(f64::INFINITY)]));
        let rows = codec.encode(&[column]).unwrap();
        assert_eq!(rows.row(0), rows.row(1));
        assert_eq!(rows.row(2), rows.row(3));
        assert!(rows.row(2) > rows.row(5), "NaN sorts above infinity");
        assert_ne!(rows.row(4), rows.row(0));
    }
}
