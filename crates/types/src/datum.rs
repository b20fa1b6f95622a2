//! One typed value: literals of expressions, defaults of columns, options.

use std::fmt;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int16Array, Int32Array, Int64Array,
    IntervalMonthDayNanoArray, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray, new_null_array,
};
use arrow::datatypes::IntervalMonthDayNano;
use serde::{Deserialize, Serialize};

use crate::{Result, SqlType};

/// A value with its type. Serializable: part of stored StreamGraphs. Floats compare by their bits, so NaN equals itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Datum {
    /// NULL of a type.
    Null(SqlType),
    /// `boolean`.
    Boolean(bool),
    /// `smallint`.
    SmallInt(i16),
    /// `integer`.
    Integer(i32),
    /// `bigint`.
    BigInt(i64),
    /// `real`.
    Real(f32),
    /// `double precision`.
    Double(f64),
    /// `numeric(precision, scale)`: `unscaled` x 10^-scale.
    Numeric {
        /// The digits as an integer.
        unscaled: i128,
        /// Digits in all.
        precision: u8,
        /// Digits behind the point.
        scale: i8,
    },
    /// `text`.
    Text(String),
    /// `bytea`.
    Bytea(Vec<u8>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds of the day.
    Time(i64),
    /// Microseconds since 1970-01-01.
    Timestamp(i64),
    /// Microseconds since 1970-01-01 UTC.
    TimestampTz(i64),
    /// Months, days, nanoseconds.
    Interval {
        /// Whole months.
        months: i32,
        /// Whole days.
        days: i32,
        /// Nanoseconds.
        nanos: i64,
    },
}

impl Datum {
    /// Its type.
    pub fn sql_type(&self) -> SqlType {
        match self {
            Datum::Null(t) => t.clone(),
            Datum::Boolean(_) => SqlType::Boolean,
            Datum::SmallInt(_) => SqlType::SmallInt,
            Datum::Integer(_) => SqlType::Integer,
            Datum::BigInt(_) => SqlType::BigInt,
            Datum::Real(_) => SqlType::Real,
            Datum::Double(_) => SqlType::Double,
            Datum::Numeric { precision, scale, .. } => SqlType::Numeric { precision: *precision, scale: *scale },
            Datum::Text(_) => SqlType::Text,
            Datum::Bytea(_) => SqlType::Bytea,
            Datum::Date(_) => SqlType::Date,
            Datum::Time(_) => SqlType::Time,
            Datum::Timestamp(_) => SqlType::Timestamp,
            Datum::TimestampTz(_) => SqlType::TimestampTz,
            Datum::Interval { .. } => SqlType::Interval,
        }
    }

    /// True for NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Datum::Null(_))
    }

    /// An array of length 1 with this value, of the type's Arrow representation.
    ///
    /// # Errors
    /// 22003 if a numeric does not fit its precision.
    pub fn to_array(&self) -> Result<ArrayRef> {
        Ok(match self {
            Datum::Null(t) => new_null_array(&t.to_arrow(), 1),
            Datum::Boolean(v) => Arc::new(BooleanArray::from(vec![*v])),
            Datum::SmallInt(v) => Arc::new(Int16Array::from(vec![*v])),
            Datum::Integer(v) => Arc::new(Int32Array::from(vec![*v])),
            Datum::BigInt(v) => Arc::new(Int64Array::from(vec![*v])),
            Datum::Real(v) => Arc::new(Float32Array::from(vec![*v])),
            Datum::Double(v) => Arc::new(Float64Array::from(vec![*v])),
            Datum::Numeric { unscaled, precision, scale } => {
                Arc::new(Decimal128Array::from(vec![*unscaled]).with_precision_and_scale(*precision, *scale)?)
            }
            Datum::Text(v) => Arc::new(StringArray::from(vec![v.as_str()])),
            Datum::Bytea(v) => Arc::new(BinaryArray::from(vec![v.as_slice()])),
            Datum::Date(v) => Arc::new(Date32Array::from(vec![*v])),
            Datum::Time(v) => Arc::new(Time64MicrosecondArray::from(vec![*v])),
            Datum::Timestamp(v) => Arc::new(TimestampMicrosecondArray::from(vec![*v])),
            Datum::TimestampTz(v) => Arc::new(TimestampMicrosecondArray::from(vec![*v]).with_timezone("UTC")),
            Datum::Interval { months, days, nanos } => {
                Arc::new(IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(*months, *days, *nanos)]))
            }
        })
    }
}

impl PartialEq for Datum {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Datum::Null(a), Datum::Null(b)) => a == b,
            (Datum::Boolean(a), Datum::Boolean(b)) => a == b,
            (Datum::SmallInt(a), Datum::SmallInt(b)) => a == b,
            (Datum::Integer(a), Datum::Integer(b)) | (Datum::Date(a), Datum::Date(b)) => a == b,
            (Datum::BigInt(a), Datum::BigInt(b))
            | (Datum::Time(a), Datum::Time(b))
            | (Datum::Timestamp(a), Datum::Timestamp(b))
            | (Datum::TimestampTz(a), Datum::TimestampTz(b)) => a == b,
            (Datum::Real(a), Datum::Real(b)) => a.to_bits() == b.to_bits(),
            (Datum::Double(a), Datum::Double(b)) => a.to_bits() == b.to_bits(),
            (Datum::Numeric { unscaled: a, precision: p, scale: s }, Datum::Numeric { unscaled: b, precision: q, scale: t }) => {
                a == b && p == q && s == t
            }
            (Datum::Text(a), Datum::Text(b)) => a == b,
            (Datum::Bytea(a), Datum::Bytea(b)) => a == b,
            (Datum::Interval { months: a, days: b, nanos: c }, Datum::Interval { months: x, days: y, nanos: z }) => {
                a == x && b == y && c == z
            }
            _ => false,
        }
    }
}

impl Eq for Datum {}

impl fmt::Display for Datum {
    /// As EXPLAIN prints it: SQL-like, strings quoted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Datum::Null(_) => f.write_str("NULL"),
            Datum::Text(v) => write!(f, "'{}'", v.replace('\'', "''")),
            other => {
                let array = other.to_array().map_err(|_| fmt::Error)?;
                let text = arrow::util::display::array_value_to_string(&array, 0).map_err(|_| fmt::Error)?;
                match other {
                    Datum::Boolean(_) | Datum::SmallInt(_) | Datum::Integer(_) | Datum::BigInt(_) => f.write_str(&text),
                    Datum::Real(_) | Datum::Double(_) | Datum::Numeric { .. } => f.write_str(&text),
                    typed => write!(f, "{} '{text}'", typed.sql_type()),
                }
            }
        }
    }
}
