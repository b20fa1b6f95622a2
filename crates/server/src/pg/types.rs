//! SQL types as the protocol names them: object ids, sizes and modifiers of `pg_type`.

use millstream_types::SqlType;
use millstream_types::sql_type::{NUMERIC_DEFAULT_SCALE, NUMERIC_MAX_PRECISION};
use pgwire::api::Type;

/// `numeric` without precision.
const NUMERIC: SqlType = SqlType::Numeric { precision: NUMERIC_MAX_PRECISION, scale: NUMERIC_DEFAULT_SCALE };

/// The `pg_type` of a type. Arrays of arrays are arrays of more dimensions and have the innermost element's array type. A column of
/// unknown type is text, as in PostgreSQL.
pub(crate) fn pg_type(sql_type: &SqlType) -> Type {
    match sql_type {
        SqlType::Boolean => Type::BOOL,
        SqlType::SmallInt => Type::INT2,
        SqlType::Integer => Type::INT4,
        SqlType::BigInt => Type::INT8,
        SqlType::Real => Type::FLOAT4,
        SqlType::Double => Type::FLOAT8,
        SqlType::Numeric { .. } => Type::NUMERIC,
        SqlType::Text | SqlType::Unknown => Type::TEXT,
        SqlType::Bytea => Type::BYTEA,
        SqlType::Date => Type::DATE,
        SqlType::Time => Type::TIME,
        SqlType::Timestamp => Type::TIMESTAMP,
        SqlType::TimestampTz => Type::TIMESTAMPTZ,
        SqlType::Interval => Type::INTERVAL,
        SqlType::Row(_) => Type::RECORD,
        SqlType::Array(element) => array_type(element),
    }
}

fn array_type(element: &SqlType) -> Type {
    match element {
        SqlType::Boolean => Type::BOOL_ARRAY,
        SqlType::SmallInt => Type::INT2_ARRAY,
        SqlType::Integer => Type::INT4_ARRAY,
        SqlType::BigInt => Type::INT8_ARRAY,
        SqlType::Real => Type::FLOAT4_ARRAY,
        SqlType::Double => Type::FLOAT8_ARRAY,
        SqlType::Numeric { .. } => Type::NUMERIC_ARRAY,
        SqlType::Text | SqlType::Unknown => Type::TEXT_ARRAY,
        SqlType::Bytea => Type::BYTEA_ARRAY,
        SqlType::Date => Type::DATE_ARRAY,
        SqlType::Time => Type::TIME_ARRAY,
        SqlType::Timestamp => Type::TIMESTAMP_ARRAY,
        SqlType::TimestampTz => Type::TIMESTAMPTZ_ARRAY,
        SqlType::Interval => Type::INTERVAL_ARRAY,
        SqlType::Row(_) => Type::RECORD_ARRAY,
        SqlType::Array(inner) => array_type(inner),
    }
}

/// The object id of a type.
pub(super) fn oid(sql_type: &SqlType) -> u32 {
    pg_type(sql_type).oid()
}

/// The type of an object id that a client declares for a parameter; `None` for ids without a type here.
pub(super) fn from_oid(oid: u32) -> Option<SqlType> {
    Some(match Type::from_oid(oid)? {
        Type::BOOL => SqlType::Boolean,
        Type::INT2 => SqlType::SmallInt,
        Type::INT4 => SqlType::Integer,
        Type::INT8 => SqlType::BigInt,
        Type::FLOAT4 => SqlType::Real,
        Type::FLOAT8 => SqlType::Double,
        Type::NUMERIC => NUMERIC,
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME => SqlType::Text,
        Type::BYTEA => SqlType::Bytea,
        Type::DATE => SqlType::Date,
        Type::TIME => SqlType::Time,
        Type::TIMESTAMP => SqlType::Timestamp,
        Type::TIMESTAMPTZ => SqlType::TimestampTz,
        Type::INTERVAL => SqlType::Interval,
        _ => return None,
    })
}

/// `typlen`: bytes of a value, -1 for those of any length.
pub(crate) fn type_size(sql_type: &SqlType) -> i16 {
    match sql_type {
        SqlType::Boolean => 1,
        SqlType::SmallInt => 2,
        SqlType::Integer | SqlType::Real | SqlType::Date => 4,
        SqlType::BigInt | SqlType::Double | SqlType::Time | SqlType::Timestamp | SqlType::TimestampTz => 8,
        SqlType::Interval => 16,
        _ => -1,
    }
}

/// `atttypmod`: precision and scale of numeric where they were given, else -1.
pub(crate) fn type_modifier(sql_type: &SqlType) -> i32 {
    match sql_type {
        SqlType::Numeric { precision, scale } if *sql_type != NUMERIC => {
            // PostgreSQL keeps the scale in eleven bits, two's complement.
            ((i32::from(*precision) << 16) | (i32::from(*scale) & 0x7ff)) + 4
        }
        _ => -1,
    }
}
