//! Every type as PostgreSQL prints it.

use std::fmt::Write;

use arrow::array::{Array, ArrayRef, AsArray, StringArray, StringBuilder};
use arrow::datatypes::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, IntervalMonthDayNanoType, Time64MicrosecondType,
    TimestampMicrosecondType,
};
use millstream_types::{Result, SqlType};

use super::{bytea_text, datetime_text, interval_text, nested, number_text};

/// The text of every value in PostgreSQL's output format; NULL stays NULL. Takes also the wider types of libraries.
///
/// # Errors
/// 0A000 for an Arrow type without SQL name.
pub fn to_text(array: &ArrayRef) -> Result<StringArray> {
    if let Some(values) = array.as_boolean_opt() {
        return Ok(values.iter().map(|v| v.map(|v| if v { "true" } else { "false" })).collect());
    }
    output_text(array)
}

/// The same, with booleans as `t` and `f`: what `concat` and the text of arrays and rows use.
pub(crate) fn output_text(array: &ArrayRef) -> Result<StringArray> {
    let sql_type = SqlType::from_arrow(array.data_type())?;
    let canonical = sql_type.to_arrow();
    let array = if *array.data_type() == canonical { array.clone() } else { super::canonicalise(array, &canonical)? };
    if sql_type == SqlType::Text {
        return Ok(array.as_string::<i32>().clone());
    }
    let write = writer(&array, &sql_type)?;
    let mut out = StringBuilder::with_capacity(array.len(), array.len() * 12);
    let mut text = String::new();
    for row in 0..array.len() {
        if array.is_null(row) || sql_type == SqlType::Unknown {
            out.append_null();
            continue;
        }
        text.clear();
        write(&mut text, row);
        out.append_value(&text);
    }
    Ok(out.finish())
}

/// Appends the text of one row.
pub(super) type Writer<'a> = Box<dyn Fn(&mut String, usize) + 'a>;

macro_rules! shown {
    ($array:expr, $t:ty) => {{
        let values = $array.as_primitive::<$t>();
        Box::new(move |out: &mut String, row: usize| {
            let _ = write!(out, "{}", values.value(row));
        })
    }};
}

macro_rules! written {
    ($array:expr, $t:ty, $f:expr) => {{
        let values = $array.as_primitive::<$t>();
        Box::new(move |out: &mut String, row: usize| $f(out, values.value(row)))
    }};
}

pub(super) fn writer<'a>(array: &'a ArrayRef, sql_type: &SqlType) -> Result<Writer<'a>> {
    Ok(match sql_type {
        SqlType::Boolean => {
            let values = array.as_boolean();
            Box::new(move |out, row| out.push_str(if values.value(row) { "t" } else { "f" }))
        }
        SqlType::SmallInt => shown!(array, Int16Type),
        SqlType::Integer => shown!(array, Int32Type),
        SqlType::BigInt => shown!(array, Int64Type),
        SqlType::Real => written!(array, Float32Type, number_text::write_real),
        SqlType::Double => written!(array, Float64Type, number_text::write_double),
        SqlType::Numeric { scale, .. } => {
            let scale = *scale;
            written!(array, Decimal128Type, |out: &mut String, v| number_text::write_numeric(out, v, scale))
        }
        SqlType::Text => {
            let values = array.as_string::<i32>();
            Box::new(move |out, row| out.push_str(values.value(row)))
        }
        SqlType::Bytea => {
            let values = array.as_binary::<i32>();
            Box::new(move |out, row| bytea_text::write_hex(out, values.value(row)))
        }
        SqlType::Date => written!(array, Date32Type, |out: &mut String, v| datetime_text::write_date(out, i64::from(v))),
        SqlType::Time => written!(array, Time64MicrosecondType, datetime_text::write_time),
        SqlType::Timestamp => written!(array, TimestampMicrosecondType, datetime_text::write_timestamp),
        SqlType::TimestampTz => written!(array, TimestampMicrosecondType, datetime_text::write_timestamptz),
        SqlType::Interval => written!(array, IntervalMonthDayNanoType, interval_text::write_interval),
        SqlType::Array(element) => nested::array_writer(array.as_list::<i32>(), element)?,
        SqlType::Row(columns) => nested::row_writer(array.as_struct(), columns)?,
        SqlType::Unknown => Box::new(|_, _| {}),
    })
}
