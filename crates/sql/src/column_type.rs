//! From type names to [`SqlType`]: PostgreSQL's names, and Flink's aliases (`STRING`, `BYTES`, `TIMESTAMP(3)`, `ROW(...)`).

use millstream_types::sql_type::{NUMERIC_DEFAULT_SCALE, NUMERIC_MAX_PRECISION};
use millstream_types::{Column, Error, Result, SqlState, SqlType};
use sqlparser::ast::{ArrayElemTypeDef, CharacterLength, DataType, ExactNumberInfo, ObjectName, Spanned, TimezoneInfo};

use crate::position::position_of;

/// A column's type with what SQL says beyond [`SqlType`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnType {
    /// The type.
    pub sql_type: SqlType,
    /// Most characters of a `varchar(n)` or `char(n)`; longer text is 22001.
    pub max_chars: Option<u32>,
}

/// The type that `data_type` names, without a length limit.
///
/// # Errors
/// 42704 for an unknown type, 0A000 for a known one that is not there, 22023 for a modifier out of range.
pub fn sql_type(data_type: &DataType) -> Result<SqlType> {
    column_type(data_type, "").map(|t| t.sql_type)
}

/// The type that `data_type`, part of the statement `text`, names.
///
/// # Errors
/// As [`sql_type`], with the position in `text` where it is known.
pub fn column_type(data_type: &DataType, text: &str) -> Result<ColumnType> {
    use DataType as D;
    let sql_type = match data_type {
        D::Character(n) | D::Char(n) => return characters(n.as_ref(), Some(1)),
        D::CharacterVarying(n) | D::CharVarying(n) | D::Varchar(n) | D::Nvarchar(n) => return characters(n.as_ref(), None),
        D::Text | D::String(_) | D::CharacterLargeObject(_) | D::CharLargeObject(_) | D::Clob(_) => SqlType::Text,
        D::Bool | D::Boolean => SqlType::Boolean,
        D::Int2(None) | D::SmallInt(None) | D::TinyInt(None) => SqlType::SmallInt,
        D::Int(None) | D::Int4(None) | D::Integer(None) => SqlType::Integer,
        D::Int8(None) | D::BigInt(None) => SqlType::BigInt,
        D::Float4 | D::Real => SqlType::Real,
        D::Float8 | D::DoublePrecision | D::Double(ExactNumberInfo::None) => SqlType::Double,
        D::Float(info) => float(info)?,
        D::Numeric(info) | D::Decimal(info) | D::Dec(info) => numeric(info)?,
        D::Bytea | D::Blob(_) | D::Bytes(_) | D::Binary(_) | D::Varbinary(_) => SqlType::Bytea,
        D::Date => SqlType::Date,
        D::Time(precision, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => precise("time", *precision, SqlType::Time)?,
        D::Timestamp(precision, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => {
            precise("timestamp", *precision, SqlType::Timestamp)?
        }
        D::Timestamp(precision, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => precise("timestamp", *precision, SqlType::TimestampTz)?,
        D::TimestampNtz(precision) => precise("timestamp", *precision, SqlType::Timestamp)?,
        D::Interval { .. } => SqlType::Interval,
        D::Array(ArrayElemTypeDef::AngleBracket(e) | ArrayElemTypeDef::SquareBracket(e, _) | ArrayElemTypeDef::Parenthesis(e)) => {
            array(column_type(e, text)?.sql_type)
        }
        D::Struct(fields, _) => {
            let column = |i: usize, f: &sqlparser::ast::StructField| {
                let name = f.field_name.as_ref().map_or_else(|| format!("f{}", i + 1), |n| n.value.clone());
                Ok(Column::new(name, column_type(&f.field_type, text)?.sql_type))
            };
            SqlType::Row(fields.iter().enumerate().map(|(i, f)| column(i, f)).collect::<Result<_>>()?)
        }
        D::Custom(name, modifiers) => return custom(name, modifiers, text),
        other => return Err(Error::unsupported(format!("type {}", other.to_string().to_lowercase()))),
    };
    Ok(ColumnType { sql_type, max_chars: None })
}

/// An array of arrays is an array of more dimensions: PostgreSQL does not tell them apart.
fn array(element: SqlType) -> SqlType {
    SqlType::Array(Box::new(element))
}

fn custom(name: &ObjectName, modifiers: &[String], text: &str) -> Result<ColumnType> {
    let word = name.0.last().and_then(|p| p.as_ident()).map_or("", |i| i.value.as_str());
    let start = name.span().start;
    let place = |e: Error| if start.line > 0 && !text.is_empty() { e.with_position(position_of(text, start)) } else { e };
    let in_catalog = match name.0.as_slice() {
        [_] => true,
        [schema, _] => schema.as_ident().is_some_and(|s| s.value == "pg_catalog"),
        _ => false,
    };
    let sql_type = match word {
        _ if !in_catalog => None,
        "bpchar" => Some(SqlType::Text),
        "bool" => Some(SqlType::Boolean),
        "int2" => Some(SqlType::SmallInt),
        "int4" => Some(SqlType::Integer),
        "int8" => Some(SqlType::BigInt),
        "float4" => Some(SqlType::Real),
        "float8" => Some(SqlType::Double),
        "text" | "varchar" | "string" => Some(SqlType::Text),
        "bytea" => Some(SqlType::Bytea),
        "date" => Some(SqlType::Date),
        "timestamp_ltz" | "timestamptz" => Some(SqlType::TimestampTz),
        "smallserial" | "serial" | "bigserial" | "serial2" | "serial4" | "serial8" => {
            let error = Error::unsupported(format!("type {word}")).with_hint("use an integer column and supply its values");
            return Err(place(error));
        }
        "name" | "oid" | "money" | "inet" | "cidr" | "macaddr" | "xml" | "row" | "map" | "multiset" | "variant" | "hstore" | "citext" => {
            return Err(place(Error::unsupported(format!("type {word}"))));
        }
        _ => None,
    };
    match sql_type {
        Some(sql_type) if modifiers.is_empty() => Ok(ColumnType { sql_type, max_chars: None }),
        Some(_) => Err(place(Error::new(SqlState::SYNTAX_ERROR, format!("type modifier is not allowed for type \"{word}\"")))),
        None => {
            let shown = name.0.iter().filter_map(|p| p.as_ident()).map(|i| i.value.as_str()).collect::<Vec<_>>().join(".");
            Err(place(Error::new(SqlState::UNDEFINED_OBJECT, format!("type \"{shown}\" does not exist"))))
        }
    }
}

fn characters(length: Option<&CharacterLength>, default: Option<u32>) -> Result<ColumnType> {
    let max_chars = match length {
        None => default,
        Some(CharacterLength::Max) => None,
        Some(CharacterLength::IntegerLength { length: 0, .. }) => {
            return Err(modifier("length for type varchar must be at least 1".into()));
        }
        // Flink's STRING is VARCHAR(2147483647): no limit.
        Some(CharacterLength::IntegerLength { length: 2_147_483_647, .. }) => None,
        Some(CharacterLength::IntegerLength { length, .. }) if *length > 10_485_760 => {
            return Err(modifier("length for type varchar cannot exceed 10485760".into()));
        }
        Some(CharacterLength::IntegerLength { length, .. }) => u32::try_from(*length).ok(),
    };
    Ok(ColumnType { sql_type: SqlType::Text, max_chars })
}

fn numeric(info: &ExactNumberInfo) -> Result<SqlType> {
    let (precision, scale) = match *info {
        ExactNumberInfo::None => (u64::from(NUMERIC_MAX_PRECISION), i64::from(NUMERIC_DEFAULT_SCALE)),
        ExactNumberInfo::Precision(p) => (p, 0),
        ExactNumberInfo::PrecisionAndScale(p, s) => (p, s),
    };
    let max = NUMERIC_MAX_PRECISION;
    let Some(p) = u8::try_from(precision).ok().filter(|p| (1..=max).contains(p)) else {
        return Err(modifier(format!("NUMERIC precision {precision} must be between 1 and {max}")));
    };
    match i8::try_from(scale).ok().filter(|s| (0..=p.cast_signed()).contains(s)) {
        Some(scale) => Ok(SqlType::Numeric { precision: p, scale }),
        None => Err(modifier(format!("NUMERIC scale {scale} must be between 0 and precision {p}"))),
    }
}

fn float(info: &ExactNumberInfo) -> Result<SqlType> {
    match *info {
        ExactNumberInfo::None => Ok(SqlType::Double),
        ExactNumberInfo::Precision(1..=24) => Ok(SqlType::Real),
        ExactNumberInfo::Precision(25..=53) => Ok(SqlType::Double),
        ExactNumberInfo::Precision(0) => Err(modifier("precision for type float must be at least 1 bit".into())),
        _ => Err(modifier("precision for type float must be less than 54 bits".into())),
    }
}

/// Times keep microseconds whatever their declared precision; PostgreSQL's limit is 6, Flink writes up to 9.
fn precise(name: &str, precision: Option<u64>, sql_type: SqlType) -> Result<SqlType> {
    match precision {
        Some(p) if p > 9 => Err(modifier(format!("{name}({p}) precision must be between 0 and 9"))),
        _ => Ok(sql_type),
    }
}

fn modifier(message: String) -> Error {
    Error::new(SqlState::INVALID_PARAMETER_VALUE, message)
}
