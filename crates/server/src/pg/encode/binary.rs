//! Values in PostgreSQL's binary forms (the `..._send` functions of its types).

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, IntervalMonthDayNanoType, Time64MicrosecondType,
    TimestampMicrosecondType,
};
use bytes::{BufMut, BytesMut};
use millstream_types::{Error, Result, SqlState, SqlType};

use super::super::types::oid;
use super::numeric::put_numeric;
use super::patch_length;

/// Days from 1970-01-01 to 2000-01-01, where PostgreSQL begins to count.
pub(in crate::pg) const EPOCH_DAYS: i32 = 10_957;
/// The same in microseconds.
pub(in crate::pg) const EPOCH_MICROS: i64 = 946_684_800_000_000;

/// Appends length and value; -1 for NULL.
pub(super) fn put_cell(array: &ArrayRef, sql_type: &SqlType, row: usize, out: &mut BytesMut) -> Result<()> {
    // The null array has no validity bits.
    if *sql_type == SqlType::Unknown || array.is_null(row) {
        out.put_i32(-1);
        return Ok(());
    }
    let start = out.len();
    out.put_i32(0);
    put_value(array, sql_type, row, out)?;
    patch_length(out, start, out.len() - start - 4)
}

fn put_value(array: &ArrayRef, sql_type: &SqlType, row: usize, out: &mut BytesMut) -> Result<()> {
    match sql_type {
        SqlType::Boolean => out.put_u8(u8::from(array.as_boolean().value(row))),
        SqlType::SmallInt => out.put_i16(array.as_primitive::<Int16Type>().value(row)),
        SqlType::Integer => out.put_i32(array.as_primitive::<Int32Type>().value(row)),
        SqlType::BigInt => out.put_i64(array.as_primitive::<Int64Type>().value(row)),
        SqlType::Real => out.put_f32(array.as_primitive::<Float32Type>().value(row)),
        SqlType::Double => out.put_f64(array.as_primitive::<Float64Type>().value(row)),
        SqlType::Numeric { scale, .. } => put_numeric(array.as_primitive::<Decimal128Type>().value(row), *scale, out)?,
        SqlType::Text => out.put_slice(array.as_string::<i32>().value(row).as_bytes()),
        SqlType::Bytea => out.put_slice(array.as_binary::<i32>().value(row)),
        SqlType::Date => {
            let days = array.as_primitive::<Date32Type>().value(row).checked_sub(EPOCH_DAYS);
            out.put_i32(days.ok_or_else(|| out_of_range("date"))?);
        }
        SqlType::Time => out.put_i64(array.as_primitive::<Time64MicrosecondType>().value(row)),
        SqlType::Timestamp | SqlType::TimestampTz => {
            let micros = array.as_primitive::<TimestampMicrosecondType>().value(row).checked_sub(EPOCH_MICROS);
            out.put_i64(micros.ok_or_else(|| out_of_range("timestamp"))?);
        }
        SqlType::Interval => {
            let interval = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
            out.put_i64(interval.nanoseconds / 1_000);
            out.put_i32(interval.days);
            out.put_i32(interval.months);
        }
        SqlType::Array(element) => put_array(&array.as_list::<i32>().value(row), element, out)?,
        SqlType::Row(columns) => {
            let fields = array.as_struct();
            out.put_i32(i32::try_from(columns.len()).unwrap_or(i32::MAX));
            for (column, values) in columns.iter().zip(fields.columns()) {
                out.put_u32(oid(&column.sql_type));
                put_cell(values, &column.sql_type, row, out)?;
            }
        }
        SqlType::Unknown => (),
    }
    Ok(())
}

/// Dimensions, a flag for NULLs, the element type, size and lower bound of each dimension, then all elements.
fn put_array(items: &ArrayRef, element: &SqlType, out: &mut BytesMut) -> Result<()> {
    let (mut items, mut element) = (items.clone(), element);
    let mut sizes = vec![items.len()];
    while let SqlType::Array(inner) = element {
        let list = items.as_list::<i32>();
        let size = if list.is_empty() { 0 } else { usize::try_from(list.value_length(0)).unwrap_or(0) };
        let even = list.null_count() == 0 && list.offsets().lengths().all(|length| length == size);
        if !even {
            return Err(Error::unsupported("the binary form of an array whose inner arrays differ in size"));
        }
        let inner_items = list.offsets().first().copied().unwrap_or(0);
        let start = usize::try_from(inner_items).unwrap_or(0);
        sizes.push(size);
        items = list.values().slice(start, size * list.len());
        element = inner;
    }
    if items.is_empty() {
        sizes.clear();
    }
    let nulls = *element == SqlType::Unknown || items.null_count() > 0;
    out.put_i32(i32::try_from(sizes.len()).unwrap_or(i32::MAX));
    out.put_i32(i32::from(nulls));
    out.put_u32(oid(element));
    for size in sizes {
        out.put_i32(i32::try_from(size).map_err(|_| super::too_large())?);
        out.put_i32(1);
    }
    for row in 0..items.len() {
        put_cell(&items, element, row, out)?;
    }
    Ok(())
}

fn out_of_range(what: &str) -> Error {
    Error::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("{what} out of range"))
}
