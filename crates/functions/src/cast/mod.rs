//! PostgreSQL's casts between the canonical Arrow types, as functions of arrays and as UDFs.
//!
//! Rooms: [`number`] between numbers, [`number_text`] and [`datetime_text`], [`interval_text`], [`bytea_text`] both ways between a type and
//! its text, [`datetime`] between dates and times, [`nested`] arrays and rows, [`text`] the way out for every type.

pub(crate) mod bytea_text;
pub(crate) mod datetime;
pub(crate) mod datetime_parse;
pub(crate) mod datetime_text;
pub(crate) mod interval_text;
mod nested;
pub(crate) mod number;
pub(crate) mod number_text;
mod text;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, new_null_array};
use arrow::datatypes::DataType;
use datafusion::common::Result as DfResult;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use millstream_types::{Error, Result, SqlState, SqlType};

use crate::error::external;
use crate::function::short_name;
use crate::operand::{Args, Operand};
pub(crate) use text::output_text;
pub use text::to_text;

/// `array` as values of `to`, in the type's canonical Arrow representation. NULL stays NULL. Costs nothing if the type is the same.
///
/// # Errors
/// 42846 if there is no such cast; 22P02, 22003, 22007, 22008 and others of class 22 for a value that does not fit.
pub fn cast_array(array: &ArrayRef, to: &SqlType) -> Result<ArrayRef> {
    let target = to.to_arrow();
    if *array.data_type() == target || *to == SqlType::Unknown {
        return Ok(Arc::clone(array));
    }
    let from = SqlType::from_arrow(array.data_type())?;
    if from == SqlType::Unknown || array.null_count() == array.len() {
        check_cast(&from, to)?;
        return Ok(new_null_array(&target, array.len()));
    }
    let canonical = from.to_arrow();
    let array = if *array.data_type() == canonical { Arc::clone(array) } else { canonicalise(array, &canonical)? };
    if canonical == target {
        return Ok(array);
    }
    check_cast(&from, to)?;
    match (&from, to) {
        (_, SqlType::Text) => Ok(Arc::new(to_text(&array)?)),
        (SqlType::Text, SqlType::Bytea) => bytea_text::parse(array.as_string::<i32>()),
        (SqlType::Text, SqlType::Array(element)) => nested::parse_array(array.as_string::<i32>(), element),
        (SqlType::Text, t) if t.is_numeric() || *t == SqlType::Boolean => number_text::parse(array.as_string::<i32>(), t),
        (SqlType::Text, SqlType::Interval) => interval_text::parse(array.as_string::<i32>()),
        (SqlType::Text, t) => datetime_parse::parse(array.as_string::<i32>(), t),
        (SqlType::Array(_), SqlType::Array(element)) => nested::cast_list(array.as_list::<i32>(), element),
        (SqlType::Row(_), SqlType::Row(columns)) => nested::cast_row(array.as_struct(), columns),
        (f, t) if (f.is_numeric() || *f == SqlType::Boolean) && (t.is_numeric() || *t == SqlType::Boolean) => number::cast(&array, f, t),
        (f, t) => datetime::cast(&array, f, t),
    }
}

/// Wider library types (views, unsigned, nanoseconds) become ours; a value that does not fit is an error.
fn canonicalise(array: &ArrayRef, canonical: &DataType) -> Result<ArrayRef> {
    let options = arrow::compute::CastOptions { safe: false, ..Default::default() };
    arrow::compute::cast_with_options(array, canonical, &options)
        .map_err(|e| crate::error::from_datafusion(datafusion::common::DataFusionError::ArrowError(Box::new(e), None)))
}

/// Whether PostgreSQL has a cast between the types.
///
/// # Errors
/// 42846.
pub fn check_cast(from: &SqlType, to: &SqlType) -> Result<()> {
    use SqlType as T;
    let number = |t: &T| t.is_numeric();
    let ok = match (from, to) {
        (a, b) if a == b => true,
        (T::Unknown, _) | (_, T::Text | T::Unknown) => true,
        (T::Text, T::Row(_)) => false,
        (T::Text, T::Array(element)) => check_cast(from, element).is_ok(),
        (T::Text, _) => true,
        (a, b) if number(a) && number(b) => true,
        (T::Boolean, T::Integer) | (T::Integer, T::Boolean) => true,
        (T::Date, T::Timestamp | T::TimestampTz)
        | (T::Timestamp, T::Date | T::Time | T::TimestampTz)
        | (T::TimestampTz, T::Date | T::Time | T::Timestamp)
        | (T::Time, T::Interval)
        | (T::Interval, T::Time) => true,
        (T::Array(a), T::Array(b)) => check_cast(a, b).is_ok(),
        (T::Row(a), T::Row(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| check_cast(&a.sql_type, &b.sql_type).is_ok()),
        _ => false,
    };
    if ok {
        return Ok(());
    }
    Err(Error::new(SqlState::CANNOT_COERCE, format!("cannot cast type {} to {}", short_name(from), short_name(to))))
}

/// The cast to `to` as a UDF of one argument of any type.
pub fn cast_udf(to: &SqlType) -> Arc<ScalarUDF> {
    let name = format!("ms_cast_{}", to.to_string().replace(' ', "_"));
    Arc::new(ScalarUDF::new_from_impl(Cast { to: to.clone(), name, signature: Signature::user_defined(Volatility::Immutable) }))
}

#[derive(Debug)]
struct Cast {
    to: SqlType,
    name: String,
    signature: Signature,
}

impl PartialEq for Cast {
    fn eq(&self, other: &Self) -> bool {
        self.to == other.to
    }
}

impl Eq for Cast {}

impl Hash for Cast {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to.hash(state);
    }
}

impl Cast {
    fn source(types: &[DataType]) -> Result<SqlType> {
        match types {
            [one] => SqlType::from_arrow(one),
            _ => Err(Error::internal("a cast takes one argument")),
        }
    }

    fn call(&self, args: &ScalarFunctionArgs) -> Result<ColumnarValue> {
        let operands = args.args.iter().map(Operand::new).collect::<Result<Vec<_>>>()?;
        let input = operands.first().ok_or_else(|| Error::internal("a cast takes one argument"))?;
        let array = cast_array(&input.array, &self.to)?;
        Args { rows: array.len(), out: self.to.to_arrow(), operands }.into_value(array)
    }
}

impl ScalarUDFImpl for Cast {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> DfResult<DataType> {
        let from = Self::source(types).map_err(external)?;
        check_cast(&from, &self.to).map_err(external)?;
        Ok(self.to.to_arrow())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        self.call(&args).map_err(external)
    }

    fn coerce_types(&self, types: &[DataType]) -> DfResult<Vec<DataType>> {
        let from = Self::source(types).map_err(external)?;
        check_cast(&from, &self.to).map_err(external)?;
        Ok(types.to_vec())
    }
}
