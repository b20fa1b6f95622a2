//! SQL types under PostgreSQL's names, and their one Arrow representation.

use std::fmt;

use arrow::datatypes::{DataType, Field, Fields, IntervalUnit, TimeUnit};
use serde::{Deserialize, Serialize};

use crate::{Column, Error, Result, SqlState};

/// Digits a numeric can hold.
pub const NUMERIC_MAX_PRECISION: u8 = 38;
/// `numeric` without precision is `numeric(38, 16)`.
pub const NUMERIC_DEFAULT_SCALE: i8 = 16;

/// A type of SQL. Closed and serializable: it is part of stored StreamGraphs.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum SqlType {
    /// `boolean`.
    Boolean,
    /// `smallint`, 16 bits.
    SmallInt,
    /// `integer`, 32 bits.
    Integer,
    /// `bigint`, 64 bits.
    BigInt,
    /// `real`, 32 bits.
    Real,
    /// `double precision`, 64 bits.
    Double,
    /// `numeric(precision, scale)`, at most 38 digits; fixed scale.
    Numeric {
        /// Digits in all, 1 to 38.
        precision: u8,
        /// Digits behind the point.
        scale: i8,
    },
    /// `text`; `varchar(n)` and `char(n)` are checked on the way in and kept as text.
    Text,
    /// `bytea`.
    Bytea,
    /// `date`, days.
    Date,
    /// `time`, microseconds of the day.
    Time,
    /// `timestamp`, microseconds since 1970-01-01 without zone.
    Timestamp,
    /// `timestamp with time zone`, microseconds since 1970-01-01 UTC.
    TimestampTz,
    /// `interval`: months, days, nanoseconds.
    Interval,
    /// `element[]`.
    Array(Box<SqlType>),
    /// A row type with named fields.
    Row(Vec<Column>),
    /// The type of a bare NULL.
    Unknown,
}

impl SqlType {
    /// The Arrow type that carries it in every batch.
    pub fn to_arrow(&self) -> DataType {
        match self {
            SqlType::Boolean => DataType::Boolean,
            SqlType::SmallInt => DataType::Int16,
            SqlType::Integer => DataType::Int32,
            SqlType::BigInt => DataType::Int64,
            SqlType::Real => DataType::Float32,
            SqlType::Double => DataType::Float64,
            SqlType::Numeric { precision, scale } => DataType::Decimal128(*precision, *scale),
            SqlType::Text => DataType::Utf8,
            SqlType::Bytea => DataType::Binary,
            SqlType::Date => DataType::Date32,
            SqlType::Time => DataType::Time64(TimeUnit::Microsecond),
            SqlType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            SqlType::TimestampTz => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            SqlType::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
            SqlType::Array(element) => DataType::List(Field::new("item", element.to_arrow(), true).into()),
            SqlType::Row(columns) => {
                DataType::Struct(columns.iter().map(|c| Field::new(&c.name, c.sql_type.to_arrow(), true)).collect::<Fields>())
            }
            SqlType::Unknown => DataType::Null,
        }
    }

    /// The SQL type of an Arrow type, also of the wider ones that libraries return (unsigned integers, views, nanoseconds); the caller
    /// casts the array to [`SqlType::to_arrow`] of the result.
    ///
    /// # Errors
    /// 0A000 for an Arrow type that SQL has no name for.
    pub fn from_arrow(data_type: &DataType) -> Result<SqlType> {
        Ok(match data_type {
            DataType::Null => SqlType::Unknown,
            DataType::Boolean => SqlType::Boolean,
            DataType::Int8 | DataType::Int16 | DataType::UInt8 => SqlType::SmallInt,
            DataType::Int32 | DataType::UInt16 => SqlType::Integer,
            DataType::Int64 | DataType::UInt32 | DataType::UInt64 => SqlType::BigInt,
            DataType::Float16 | DataType::Float32 => SqlType::Real,
            DataType::Float64 => SqlType::Double,
            DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s) => {
                SqlType::Numeric { precision: *p, scale: *s }
            }
            DataType::Decimal256(p, s) => SqlType::Numeric { precision: (*p).min(NUMERIC_MAX_PRECISION), scale: *s },
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => SqlType::Text,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => SqlType::Bytea,
            DataType::Date32 | DataType::Date64 => SqlType::Date,
            DataType::Time32(_) | DataType::Time64(_) => SqlType::Time,
            DataType::Timestamp(_, None) => SqlType::Timestamp,
            DataType::Timestamp(_, Some(_)) => SqlType::TimestampTz,
            DataType::Interval(_) | DataType::Duration(_) => SqlType::Interval,
            DataType::List(f)
            | DataType::LargeList(f)
            | DataType::FixedSizeList(f, _)
            | DataType::ListView(f)
            | DataType::LargeListView(f) => SqlType::Array(Box::new(SqlType::from_arrow(f.data_type())?)),
            DataType::Struct(fields) => SqlType::Row(
                fields.iter().map(|f| Ok(Column::new(f.name(), SqlType::from_arrow(f.data_type())?))).collect::<Result<Vec<_>>>()?,
            ),
            DataType::Dictionary(_, value) => SqlType::from_arrow(value)?,
            other => return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, format!("type {other} is not supported"))),
        })
    }

    /// True for smallint, integer and bigint.
    pub fn is_integer(&self) -> bool {
        matches!(self, SqlType::SmallInt | SqlType::Integer | SqlType::BigInt)
    }

    /// True for every type with arithmetic of numbers.
    pub fn is_numeric(&self) -> bool {
        self.is_integer() || matches!(self, SqlType::Real | SqlType::Double | SqlType::Numeric { .. })
    }
}

impl fmt::Display for SqlType {
    /// PostgreSQL's `format_type`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            SqlType::Boolean => "boolean",
            SqlType::SmallInt => "smallint",
            SqlType::Integer => "integer",
            SqlType::BigInt => "bigint",
            SqlType::Real => "real",
            SqlType::Double => "double precision",
            SqlType::Numeric { precision, scale } => return write!(f, "numeric({precision},{scale})"),
            SqlType::Text => "text",
            SqlType::Bytea => "bytea",
            SqlType::Date => "date",
            SqlType::Time => "time without time zone",
            SqlType::Timestamp => "timestamp without time zone",
            SqlType::TimestampTz => "timestamp with time zone",
            SqlType::Interval => "interval",
            SqlType::Array(element) => return write!(f, "{element}[]"),
            SqlType::Row(columns) => {
                let fields: Vec<_> = columns.iter().map(|c| format!("{} {}", c.name, c.sql_type)).collect();
                return write!(f, "row({})", fields.join(", "));
            }
            SqlType::Unknown => "unknown",
        };
        f.write_str(name)
    }
}
