//! How the values of a type are kept in state: as words (everything up to 64 bits), as wide integers (numerics), or as bytes. Each orders
//! as PostgreSQL orders the type.

use std::borrow::Borrow;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Decimal128Array, Float64Array, Int64Array, IntervalMonthDayNanoArray, StringArray,
};
use arrow::buffer::ScalarBuffer;
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Int16Type, Int32Type, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType,
    Time64MicrosecondType, TimestampMicrosecondType,
};
use arrow::row::{RowConverter, SortField};
use millstream_functions::cast_array;
use millstream_state::key_codec::normalize;
use millstream_types::{Error, Result, SqlType};

use super::codec::{Reader, write_bytes, write_i64, write_i128};
use super::counted::Counted;
use super::primitive;

/// How values of a type are kept.
pub(super) trait Domain: Send {
    /// A value in state.
    type Owned: Ord + Send + Borrow<Self::Borrowed>;
    /// A value in a column.
    type Borrowed: Ord + ?Sized;
    /// A column ready to be read.
    type Column;

    fn column(&self, array: &ArrayRef) -> Result<Self::Column>;
    fn get(column: &Self::Column, row: usize) -> &Self::Borrowed;
    fn own(value: &Self::Borrowed) -> Self::Owned;
    /// Bytes that an owned value has outside of itself.
    fn heap(value: &Self::Borrowed) -> usize;
    /// The values as an array of the type.
    fn array(&self, values: &[Option<&Self::Borrowed>]) -> Result<ArrayRef>;
    fn write(value: &Self::Borrowed, out: &mut Vec<u8>);
    fn read(from: &mut Reader<'_>) -> Result<Self::Owned>;
}

/// Writes values with their counts.
pub(super) fn write_counted<D: Domain>(values: &Counted<D::Owned>, out: &mut Vec<u8>) {
    super::codec::write_len(values.len(), out);
    for (value, count) in values.iter() {
        D::write(value.borrow(), out);
        write_i64(count, out);
    }
}

/// Reads what [`write_counted`] wrote.
pub(super) fn read_counted<D: Domain>(from: &mut Reader<'_>) -> Result<Counted<D::Owned>> {
    let mut values = Counted::EMPTY;
    for _ in 0..from.len()? {
        let value = D::read(from)?;
        values.push(value, from.i64()?);
    }
    Ok(values)
}

/// Booleans, integers, floats, dates and times as ordered 64 bit integers.
#[derive(Debug)]
pub(super) struct Words {
    sql_type: SqlType,
}

impl Words {
    pub(super) fn new(sql_type: &SqlType) -> Self {
        Words { sql_type: sql_type.clone() }
    }
}

/// The bits of a normalised float as an integer of the same order; its own inverse on the bits.
fn order_bits(bits: i64) -> i64 {
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

impl Domain for Words {
    type Owned = i64;
    type Borrowed = i64;
    type Column = ScalarBuffer<i64>;

    fn column(&self, array: &ArrayRef) -> Result<ScalarBuffer<i64>> {
        Ok(match array.data_type() {
            DataType::Boolean => array.as_boolean().values().iter().map(i64::from).collect(),
            DataType::Int16 => primitive::<Int16Type>(array)?.values().iter().map(|v| i64::from(*v)).collect(),
            DataType::Int32 => primitive::<Int32Type>(array)?.values().iter().map(|v| i64::from(*v)).collect(),
            DataType::Date32 => primitive::<Date32Type>(array)?.values().iter().map(|v| i64::from(*v)).collect(),
            DataType::Int64 => primitive::<Int64Type>(array)?.values().clone(),
            DataType::Time64(_) => primitive::<Time64MicrosecondType>(array)?.values().clone(),
            DataType::Timestamp(_, _) => primitive::<TimestampMicrosecondType>(array)?.values().clone(),
            DataType::Float32 | DataType::Float64 => {
                let doubles = normalize(&cast(array, &DataType::Float64)?);
                let doubles = primitive::<arrow::datatypes::Float64Type>(&doubles)?;
                doubles.values().iter().map(|v| order_bits(v.to_bits() as i64)).collect()
            }
            other => return Err(Error::internal(format!("unexpected argument of type {other}"))),
        })
    }

    fn get(column: &ScalarBuffer<i64>, row: usize) -> &i64 {
        &column[row]
    }

    fn own(value: &i64) -> i64 {
        *value
    }

    fn heap(_: &i64) -> usize {
        0
    }

    fn array(&self, values: &[Option<&i64>]) -> Result<ArrayRef> {
        let values = values.iter().map(|v| v.copied());
        match self.sql_type {
            SqlType::Boolean => Ok(Arc::new(values.map(|v| v.map(|v| v != 0)).collect::<BooleanArray>())),
            SqlType::Real | SqlType::Double => {
                let doubles = values.map(|v| v.map(|v| f64::from_bits(order_bits(v) as u64)));
                cast_array(&(Arc::new(doubles.collect::<Float64Array>()) as ArrayRef), &self.sql_type)
            }
            SqlType::Date => {
                let days = cast(&values.collect::<Int64Array>(), &DataType::Int32)?;
                Ok(cast(&days, &DataType::Date32)?)
            }
            _ => Ok(cast(&values.collect::<Int64Array>(), &self.sql_type.to_arrow())?),
        }
    }

    fn write(value: &i64, out: &mut Vec<u8>) {
        write_i64(*value, out);
    }

    fn read(from: &mut Reader<'_>) -> Result<i64> {
        from.i64()
    }
}

/// Numerics of one scale by their digits.
#[derive(Debug)]
pub(super) struct Wide {
    data_type: DataType,
}

impl Wide {
    pub(super) fn new(sql_type: &SqlType) -> Self {
        Wide { data_type: sql_type.to_arrow() }
    }
}

impl Domain for Wide {
    type Owned = i128;
    type Borrowed = i128;
    type Column = ScalarBuffer<i128>;

    fn column(&self, array: &ArrayRef) -> Result<ScalarBuffer<i128>> {
        Ok(primitive::<Decimal128Type>(array)?.values().clone())
    }

    fn get(column: &ScalarBuffer<i128>, row: usize) -> &i128 {
        &column[row]
    }

    fn own(value: &i128) -> i128 {
        *value
    }

    fn heap(_: &i128) -> usize {
        0
    }

    fn array(&self, values: &[Option<&i128>]) -> Result<ArrayRef> {
        let values: Decimal128Array = values.iter().map(|v| v.copied()).collect();
        Ok(Arc::new(values.with_data_type(self.data_type.clone())))
    }

    fn write(value: &i128, out: &mut Vec<u8>) {
        write_i128(*value, out);
    }

    fn read(from: &mut Reader<'_>) -> Result<i128> {
        from.i128()
    }
}

/// Text and bytea as they are, intervals by their length and then their parts, everything else by arrow-row bytes.
#[derive(Debug)]
pub(super) struct Bytes {
    sql_type: SqlType,
    converter: RowConverter,
}

impl Bytes {
    pub(super) fn new(sql_type: &SqlType) -> Result<Self> {
        Ok(Bytes { sql_type: sql_type.clone(), converter: RowConverter::new(vec![SortField::new(sql_type.to_arrow())])? })
    }
}

/// Months of 30 days, days of 24 hours: how PostgreSQL compares intervals. Then the parts, so that the value comes back as it was.
fn interval_bytes(v: IntervalMonthDayNano) -> [u8; 32] {
    const DAY_NANOS: i128 = 86_400_000_000_000;
    let length = (i128::from(v.months) * 30 + i128::from(v.days)) * DAY_NANOS + i128::from(v.nanoseconds);
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&((length as u128) ^ (1 << 127)).to_be_bytes());
    bytes[16..20].copy_from_slice(&v.months.to_be_bytes());
    bytes[20..24].copy_from_slice(&v.days.to_be_bytes());
    bytes[24..].copy_from_slice(&v.nanoseconds.to_be_bytes());
    bytes
}

fn interval_of(bytes: &[u8]) -> Option<IntervalMonthDayNano> {
    let months = i32::from_be_bytes(bytes.get(16..20)?.try_into().ok()?);
    let days = i32::from_be_bytes(bytes.get(20..24)?.try_into().ok()?);
    let nanos = i64::from_be_bytes(bytes.get(24..32)?.try_into().ok()?);
    Some(IntervalMonthDayNano::new(months, days, nanos))
}

impl Domain for Bytes {
    type Owned = Box<[u8]>;
    type Borrowed = [u8];
    type Column = BinaryArray;

    fn column(&self, array: &ArrayRef) -> Result<BinaryArray> {
        Ok(match array.data_type() {
            DataType::Utf8 => BinaryArray::from(array.as_string::<i32>().clone()),
            DataType::Binary => array.as_binary::<i32>().clone(),
            DataType::Interval(_) => {
                let values = primitive::<IntervalMonthDayNanoType>(array)?.values();
                BinaryArray::from_iter_values(values.iter().map(|v| interval_bytes(*v)))
            }
            _ => self.converter.convert_columns(std::slice::from_ref(array))?.try_into_binary()?,
        })
    }

    fn get(column: &BinaryArray, row: usize) -> &[u8] {
        column.value(row)
    }

    fn own(value: &[u8]) -> Box<[u8]> {
        value.into()
    }

    fn heap(value: &[u8]) -> usize {
        value.len()
    }

    fn array(&self, values: &[Option<&[u8]>]) -> Result<ArrayRef> {
        Ok(match self.sql_type {
            SqlType::Text => Arc::new(StringArray::try_from_binary(BinaryArray::from_iter(values))?),
            SqlType::Bytea => Arc::new(BinaryArray::from_iter(values)),
            SqlType::Interval => Arc::new(values.iter().map(|v| v.and_then(interval_of)).collect::<IntervalMonthDayNanoArray>()),
            _ => return Err(Error::internal(format!("values of type {} are only counted", self.sql_type))),
        })
    }

    fn write(value: &[u8], out: &mut Vec<u8>) {
        write_bytes(value, out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Box<[u8]>> {
        Ok(from.bytes()?.into())
    }
}
