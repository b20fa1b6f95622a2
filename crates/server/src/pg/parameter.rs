//! Values of Bind as typed values.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::datatypes::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, IntervalMonthDayNanoType, Time64MicrosecondType,
    TimestampMicrosecondType,
};
use millstream_functions::cast_array;
use millstream_types::{Datum, Error, Result, SqlState, SqlType};

use super::encode::{EPOCH_DAYS, EPOCH_MICROS, Format, numeric_text};
use super::message::{RawValue, utf8};

const DAY_MICROS: i64 = 86_400_000_000;

/// The value of parameter `number` (from 1).
///
/// # Errors
/// 22P02 and others of class 22 for text that is no value of the type, 22P03 for bytes that are none, 22021 for text that is not UTF-8,
/// 0A000 for arrays and rows.
pub(super) fn parameter(value: &RawValue, sql_type: &SqlType, format: Format, number: usize) -> Result<Datum> {
    let Some(bytes) = value else { return Ok(Datum::Null(sql_type.clone())) };
    if matches!(sql_type, SqlType::Array(_) | SqlType::Row(_)) {
        return Err(Error::unsupported(format!("a parameter of type {sql_type}")));
    }
    match format {
        Format::Text => from_text(text(bytes)?, sql_type),
        Format::Binary => from_binary(bytes, sql_type)?.ok_or_else(|| {
            let state = SqlState::from_code("22P03").unwrap_or(SqlState::DATA_EXCEPTION);
            Error::new(state, format!("incorrect binary data format in bind parameter {number}"))
        }),
    }
}

fn text(bytes: &[u8]) -> Result<&str> {
    let text = utf8(bytes)?;
    if text.contains('\0') {
        return Err(Error::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\": 0x00"));
    }
    Ok(text)
}

fn from_text(text: &str, sql_type: &SqlType) -> Result<Datum> {
    if matches!(sql_type, SqlType::Text | SqlType::Unknown) {
        return Ok(Datum::Text(text.to_owned()));
    }
    let array: ArrayRef = Arc::new(StringArray::from(vec![text]));
    first_datum(&cast_array(&array, sql_type)?, sql_type)
}

/// The first value of an array, which is of the type's own representation and not NULL.
fn first_datum(array: &ArrayRef, sql_type: &SqlType) -> Result<Datum> {
    Ok(match sql_type {
        SqlType::Boolean => Datum::Boolean(array.as_boolean().value(0)),
        SqlType::SmallInt => Datum::SmallInt(array.as_primitive::<Int16Type>().value(0)),
        SqlType::Integer => Datum::Integer(array.as_primitive::<Int32Type>().value(0)),
        SqlType::BigInt => Datum::BigInt(array.as_primitive::<Int64Type>().value(0)),
        SqlType::Real => Datum::Real(array.as_primitive::<Float32Type>().value(0)),
        SqlType::Double => Datum::Double(array.as_primitive::<Float64Type>().value(0)),
        SqlType::Numeric { precision, scale } => {
            Datum::Numeric { unscaled: array.as_primitive::<Decimal128Type>().value(0), precision: *precision, scale: *scale }
        }
        SqlType::Text => Datum::Text(array.as_string::<i32>().value(0).to_owned()),
        SqlType::Bytea => Datum::Bytea(array.as_binary::<i32>().value(0).to_vec()),
        SqlType::Date => Datum::Date(array.as_primitive::<Date32Type>().value(0)),
        SqlType::Time => Datum::Time(array.as_primitive::<Time64MicrosecondType>().value(0)),
        SqlType::Timestamp => Datum::Timestamp(array.as_primitive::<TimestampMicrosecondType>().value(0)),
        SqlType::TimestampTz => Datum::TimestampTz(array.as_primitive::<TimestampMicrosecondType>().value(0)),
        SqlType::Interval => {
            let interval = array.as_primitive::<IntervalMonthDayNanoType>().value(0);
            Datum::Interval { months: interval.months, days: interval.days, nanos: interval.nanoseconds }
        }
        SqlType::Array(_) | SqlType::Row(_) | SqlType::Unknown => return Err(Error::internal(format!("a parameter of type {sql_type}"))),
    })
}

/// `None` if the bytes are no value of the type.
fn from_binary(bytes: &[u8], sql_type: &SqlType) -> Result<Option<Datum>> {
    Ok(match sql_type {
        SqlType::Boolean => match bytes {
            [byte] => Some(Datum::Boolean(*byte != 0)),
            _ => None,
        },
        SqlType::SmallInt => fixed(bytes).map(i16::from_be_bytes).map(Datum::SmallInt),
        SqlType::Integer => fixed(bytes).map(i32::from_be_bytes).map(Datum::Integer),
        SqlType::BigInt => fixed(bytes).map(i64::from_be_bytes).map(Datum::BigInt),
        SqlType::Real => fixed(bytes).map(f32::from_be_bytes).map(Datum::Real),
        SqlType::Double => fixed(bytes).map(f64::from_be_bytes).map(Datum::Double),
        SqlType::Numeric { .. } => numeric_text(bytes).map(|text| from_text(&text, sql_type)).transpose()?,
        SqlType::Text | SqlType::Unknown => Some(Datum::Text(text(bytes)?.to_owned())),
        SqlType::Bytea => Some(Datum::Bytea(bytes.to_vec())),
        SqlType::Date => fixed(bytes)
            .map(|b| i32::from_be_bytes(b).checked_add(EPOCH_DAYS).map(Datum::Date).ok_or_else(|| out_of_range(sql_type)))
            .transpose()?,
        SqlType::Time => match fixed(bytes).map(i64::from_be_bytes) {
            Some(micros) if !(0..=DAY_MICROS).contains(&micros) => return Err(out_of_range(sql_type)),
            micros => micros.map(Datum::Time),
        },
        SqlType::Timestamp => timestamp(bytes, sql_type)?.map(Datum::Timestamp),
        SqlType::TimestampTz => timestamp(bytes, sql_type)?.map(Datum::TimestampTz),
        SqlType::Interval => interval(bytes, sql_type)?,
        SqlType::Array(_) | SqlType::Row(_) => None,
    })
}

fn fixed<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

fn timestamp(bytes: &[u8], sql_type: &SqlType) -> Result<Option<i64>> {
    let Some(micros) = fixed(bytes).map(i64::from_be_bytes) else { return Ok(None) };
    // PostgreSQL's infinities are the ends of the range; there are none here.
    if micros == i64::MIN || micros == i64::MAX {
        return Err(out_of_range(sql_type));
    }
    micros.checked_add(EPOCH_MICROS).map(Some).ok_or_else(|| out_of_range(sql_type))
}

fn interval(bytes: &[u8], sql_type: &SqlType) -> Result<Option<Datum>> {
    let (Some((micros, rest)), 16) = (bytes.split_first_chunk::<8>(), bytes.len()) else { return Ok(None) };
    let Some((days, months)) = rest.split_first_chunk::<4>() else { return Ok(None) };
    let Some(months) = fixed(months) else { return Ok(None) };
    let nanos = i64::from_be_bytes(*micros).checked_mul(1_000).ok_or_else(|| out_of_range(sql_type))?;
    Ok(Some(Datum::Interval { months: i32::from_be_bytes(months), days: i32::from_be_bytes(*days), nanos }))
}

fn out_of_range(sql_type: &SqlType) -> Error {
    Error::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("{sql_type} out of range"))
}
