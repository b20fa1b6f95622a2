//! One made-up column.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int16Array, Int32Array,
    Int64Array, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Decimal128Type, Int64Type};
use millstream_functions::cast_array;
use millstream_types::{Column, Error, Result, SqlState, SqlType};

use crate::options::{Options, field_name};
use crate::random::{RandomColumn, below, push_letters, unit};

/// What can be said of a column.
pub(super) const ATTRIBUTES: [&str; 7] = ["kind", "start", "end", "step", "min", "max", "length"];

/// 2026-01-01 and 2026-12-31 23:59:59.999999 in microseconds.
const YEAR: (i64, i64) = (1_767_225_600_000_000, 1_798_761_599_999_999);
const DAY_MICROS: i64 = 86_400_000_000;
const MAX_LENGTH: u64 = 1 << 20;

/// Makes the values of a column from row numbers.
#[derive(Debug)]
pub(super) struct ColumnGenerator {
    sql_type: SqlType,
    random: RandomColumn,
    kind: Kind,
}

/// Numbers, dates and times are whole numbers here: unscaled digits, days, microseconds.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Sequence { start: i64, end: Option<i64>, step: i64 },
    Whole { min: i64, max: i64 },
    Real { min: f64, max: f64 },
    Bytes { length: usize },
    Boolean,
    Now,
}

#[derive(Clone, Copy, PartialEq)]
enum KindName {
    Sequence,
    Random,
    Now,
}

impl ColumnGenerator {
    /// The generator that the options of `column` ask for; `index` tells columns apart.
    pub(super) fn parse(options: &Options<'_>, column: &Column, seed: u64, index: u64) -> Result<Self> {
        let key = |attribute: &str| field_name(&column.name, attribute);
        let names = [("sequence", KindName::Sequence), ("random", KindName::Random), ("now", KindName::Now)];
        let name = options.choice(&key("kind"), &names)?.unwrap_or(KindName::Random);
        let (kind, used): (Kind, &[&str]) = match name {
            KindName::Sequence => (sequence(options, column)?, &["start", "end", "step"]),
            KindName::Random => random(options, column)?,
            KindName::Now if matches!(column.sql_type, SqlType::Timestamp | SqlType::TimestampTz) => (Kind::Now, &[]),
            KindName::Now => return Err(options.wrong(&key("kind"), "'sequence' or 'random' for a column that is no timestamp")),
        };
        if let Some(extra) = ATTRIBUTES[1..].iter().find(|a| !used.contains(a) && options.text(&key(a)).is_some()) {
            return Err(Error::new(SqlState::INVALID_PARAMETER_VALUE, format!("option \"{}\" means nothing here", key(extra)))
                .with_detail(format!(
                    "A column of this kind and type takes {}.",
                    if used.is_empty() { "none".into() } else { used.join(", ") }
                )));
        }
        Ok(ColumnGenerator { sql_type: column.sql_type.clone(), random: RandomColumn::new(seed, index), kind })
    }

    /// How many rows a sequence has.
    pub(super) fn rows(&self) -> Option<u64> {
        match self.kind {
            Kind::Sequence { start, end: Some(end), step } => Some((end.abs_diff(start) / step.unsigned_abs()).saturating_add(1)),
            _ => None,
        }
    }

    /// The values of these rows. `now` is for kind 'now'.
    pub(super) fn values(&self, rows: &[u64], now: i64) -> Result<ArrayRef> {
        let random = self.random;
        match self.kind {
            Kind::Sequence { start, step, .. } => self.whole(rows, |n| start.wrapping_add((n as i64).wrapping_mul(step))),
            Kind::Now => self.whole(rows, |_| now),
            Kind::Whole { min, max } => {
                let span = max.wrapping_sub(min) as u64;
                self.whole(rows, |n| {
                    let h = random.at(n);
                    min.wrapping_add(if span == u64::MAX { h } else { below(h, span + 1) } as i64)
                })
            }
            Kind::Real { min, max } => {
                let values = rows.iter().map(|n| min + unit(random.at(*n)) * (max - min));
                Ok(match self.sql_type {
                    SqlType::Real => Arc::new(Float32Array::from_iter_values(values.map(|v| v as f32))),
                    _ => Arc::new(Float64Array::from_iter_values(values)),
                })
            }
            Kind::Boolean => Ok(Arc::new(BooleanArray::from_iter(rows.iter().map(|n| Some(random.at(*n) & 1 == 1))))),
            Kind::Bytes { length } => {
                let mut letters = Vec::with_capacity(length + 32);
                let mut text = |n: &u64| {
                    letters.clear();
                    push_letters(&mut letters, random.at(*n), length);
                    String::from_utf8_lossy(&letters).into_owned()
                };
                Ok(match self.sql_type {
                    SqlType::Bytea => Arc::new(BinaryArray::from_iter_values(rows.iter().map(text))),
                    _ => Arc::new(StringArray::from_iter_values(rows.iter().map(&mut text))),
                })
            }
        }
    }

    fn whole(&self, rows: &[u64], value: impl Fn(u64) -> i64) -> Result<ArrayRef> {
        let values = rows.iter().map(|n| value(*n));
        Ok(match &self.sql_type {
            SqlType::SmallInt => Arc::new(Int16Array::from_iter_values(values.map(|v| v as i16))),
            SqlType::Integer => Arc::new(Int32Array::from_iter_values(values.map(|v| v as i32))),
            SqlType::BigInt => Arc::new(Int64Array::from_iter_values(values)),
            SqlType::Date => Arc::new(Date32Array::from_iter_values(values.map(|v| v as i32))),
            SqlType::Time => Arc::new(Time64MicrosecondArray::from_iter_values(values)),
            SqlType::Timestamp => Arc::new(TimestampMicrosecondArray::from_iter_values(values)),
            SqlType::TimestampTz => Arc::new(TimestampMicrosecondArray::from_iter_values(values).with_timezone("UTC")),
            SqlType::Numeric { precision, scale } => {
                Arc::new(Decimal128Array::from_iter_values(values.map(i128::from)).with_precision_and_scale(*precision, *scale)?)
            }
            SqlType::Text => Arc::new(StringArray::from_iter_values(values.map(|v| v.to_string()))),
            SqlType::Real => Arc::new(Float32Array::from_iter_values(values.map(|v| v as f32))),
            SqlType::Double => Arc::new(Float64Array::from_iter_values(values.map(|v| v as f64))),
            other => return Err(Error::internal(format!("datagen keeps {other} as a whole number"))),
        })
    }
}

fn unsupported(column: &Column) -> Error {
    Error::unsupported(format!("a datagen column of type {}", column.sql_type)).with_detail(format!("It is column \"{}\".", column.name))
}

fn sequence(options: &Options<'_>, column: &Column) -> Result<Kind> {
    let (least, greatest) = match column.sql_type {
        SqlType::Text | SqlType::Real | SqlType::Double => (i64::MIN, i64::MAX),
        _ => range(column)?,
    };
    let key = |attribute: &str| field_name(&column.name, attribute);
    let first = if matches!(column.sql_type, SqlType::Date | SqlType::Timestamp | SqlType::TimestampTz) { least } else { 0 };
    let start = whole(options, column, "start")?.unwrap_or(first);
    let step = match &column.sql_type {
        SqlType::Timestamp | SqlType::TimestampTz | SqlType::Time => options
            .duration(&key("step"))?
            .map_or(Ok(1_000_000), |d| i64::try_from(d.as_micros()).map_err(|_| options.wrong(&key("step"), "a shorter time")))?,
        SqlType::Numeric { scale, .. } => {
            options.number(&key("step"), 1..=1 << 40)?.unwrap_or(1) as i64 * 10i64.pow(u32::from(scale.unsigned_abs()).min(18))
        }
        _ => options.number(&key("step"), 1..=1 << 40)?.unwrap_or(1) as i64,
    }
    .max(1);
    let end = whole(options, column, "end")?;
    if end.is_some_and(|end| end < start) {
        return Err(options.wrong(&key("end"), "at least the start"));
    }
    // A sequence ends where its type does; a bigint's end is never reached.
    let narrow = !matches!(
        column.sql_type,
        SqlType::BigInt | SqlType::Text | SqlType::Real | SqlType::Double | SqlType::Timestamp | SqlType::TimestampTz
    );
    Ok(Kind::Sequence { start, end: end.or(narrow.then_some(greatest.max(start))), step })
}

fn random(options: &Options<'_>, column: &Column) -> Result<(Kind, &'static [&'static str])> {
    let key = |attribute: &str| field_name(&column.name, attribute);
    Ok(match column.sql_type {
        SqlType::Boolean => (Kind::Boolean, &[]),
        SqlType::Text | SqlType::Bytea => {
            (Kind::Bytes { length: options.number(&key("length"), 0..=MAX_LENGTH)?.unwrap_or(100) as usize }, &["length"])
        }
        SqlType::Real | SqlType::Double => {
            let real = |attribute: &str, default: f64| match options.text(&key(attribute)) {
                None => Ok(default),
                Some(v) => v.trim().parse::<f64>().ok().filter(|v| v.is_finite()).ok_or_else(|| options.wrong(&key(attribute), "a number")),
            };
            let (min, max) = (real("min", 0.0)?, real("max", 1.0)?);
            if min > max {
                return Err(options.wrong(&key("max"), "at least the minimum"));
            }
            (Kind::Real { min, max }, &["min", "max"])
        }
        _ => {
            let (least, greatest) = range(column)?;
            let (min, max) = (whole(options, column, "min")?.unwrap_or(least), whole(options, column, "max")?.unwrap_or(greatest));
            if min > max {
                return Err(options.wrong(&key("max"), format!("at least the minimum, which is {min}")));
            }
            (Kind::Whole { min, max }, &["min", "max"])
        }
    })
}

/// The default range of random values.
fn range(column: &Column) -> Result<(i64, i64)> {
    Ok(match &column.sql_type {
        SqlType::SmallInt => (i64::from(i16::MIN), i64::from(i16::MAX)),
        SqlType::Integer => (i64::from(i32::MIN), i64::from(i32::MAX)),
        SqlType::BigInt => (i64::MIN, i64::MAX),
        SqlType::Numeric { precision, .. } => (0, 10i64.pow(u32::from(*precision).min(18)) - 1),
        SqlType::Date => (YEAR.0 / DAY_MICROS, YEAR.1 / DAY_MICROS),
        SqlType::Time => (0, DAY_MICROS - 1),
        SqlType::Timestamp | SqlType::TimestampTz => YEAR,
        _ => return Err(unsupported(column)),
    })
}

/// An option whose value is one of the column's values, as a whole number.
fn whole(options: &Options<'_>, column: &Column, attribute: &str) -> Result<Option<i64>> {
    let name = field_name(&column.name, attribute);
    let Some(text) = options.text(&name) else { return Ok(None) };
    let wrong = || options.wrong(&name, format!("a value of type {}", column.sql_type));
    let counted = match column.sql_type {
        SqlType::Text | SqlType::Real | SqlType::Double => SqlType::BigInt,
        ref other => other.clone(),
    };
    let text: ArrayRef = Arc::new(StringArray::from(vec![text]));
    let value = cast_array(&text, &counted).map_err(|_| wrong())?;
    if value.is_null(0) {
        return Err(wrong());
    }
    let number = match value.data_type() {
        DataType::Decimal128(_, _) => i64::try_from(value.as_primitive::<Decimal128Type>().value(0)).map_err(|_| wrong())?,
        DataType::Int16 | DataType::Int32 => arrow::compute::cast(&value, &DataType::Int64)?.as_primitive::<Int64Type>().value(0),
        DataType::Date32 => {
            let days = arrow::compute::cast(&value, &DataType::Int32)?;
            arrow::compute::cast(&days, &DataType::Int64)?.as_primitive::<Int64Type>().value(0)
        }
        _ => arrow::compute::cast(&value, &DataType::Int64)?.as_primitive::<Int64Type>().value(0),
    };
    Ok(Some(number))
}
