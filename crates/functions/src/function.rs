//! How a scalar function is declared: a name and its overloads, each with argument kinds, a result type and a vectorised kernel.
//! [`PgFunction`] makes a DataFusion UDF of it and resolves overloads as PostgreSQL does (section 10.3 of its manual).

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result as DfResult, ScalarValue};
use datafusion::logical_expr::{ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use millstream_types::{Error, Result, SqlState, SqlType};

use crate::cast::cast_array;
use crate::error::{NO_MATCH, external};
use crate::operand::{Args, Operand};

/// What an argument may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    /// Any precision and scale.
    Numeric,
    Text,
    Bytea,
    Date,
    Time,
    Timestamp,
    TimestampTz,
    Interval,
    /// `text[]`.
    Texts,
    /// Anything, kept as it is.
    Any,
}

impl Kind {
    fn sql_type(self) -> SqlType {
        match self {
            Kind::Bool => SqlType::Boolean,
            Kind::Int2 => SqlType::SmallInt,
            Kind::Int4 => SqlType::Integer,
            Kind::Int8 => SqlType::BigInt,
            Kind::Float4 => SqlType::Real,
            Kind::Float8 => SqlType::Double,
            Kind::Numeric => SqlType::Numeric { precision: 38, scale: 16 },
            Kind::Text => SqlType::Text,
            Kind::Bytea => SqlType::Bytea,
            Kind::Date => SqlType::Date,
            Kind::Time => SqlType::Time,
            Kind::Timestamp => SqlType::Timestamp,
            Kind::TimestampTz => SqlType::TimestampTz,
            Kind::Interval => SqlType::Interval,
            Kind::Texts => SqlType::Array(Box::new(SqlType::Text)),
            Kind::Any => SqlType::Unknown,
        }
    }

    /// The type that an argument of type `from` is passed as, and whether that is no change; `None` if it is not accepted.
    fn accept(self, from: &SqlType) -> Option<(SqlType, bool)> {
        let to = self.sql_type();
        if self == Kind::Any || *from == to {
            return Some((from.clone(), true));
        }
        match (from, self) {
            (SqlType::Numeric { .. }, Kind::Numeric) => Some((from.clone(), true)),
            (SqlType::Unknown, _) => Some((to, false)),
            (SqlType::SmallInt, Kind::Numeric) => Some((SqlType::Numeric { precision: 5, scale: 0 }, false)),
            (SqlType::Integer, Kind::Numeric) => Some((SqlType::Numeric { precision: 10, scale: 0 }, false)),
            (SqlType::BigInt, Kind::Numeric) => Some((SqlType::Numeric { precision: 19, scale: 0 }, false)),
            (SqlType::SmallInt, Kind::Int4 | Kind::Int8 | Kind::Float4 | Kind::Float8)
            | (SqlType::Integer, Kind::Int8 | Kind::Float4 | Kind::Float8)
            | (SqlType::BigInt | SqlType::Numeric { .. }, Kind::Float4 | Kind::Float8)
            | (SqlType::Real, Kind::Float8)
            | (SqlType::Date, Kind::Timestamp | Kind::TimestampTz)
            | (SqlType::Timestamp, Kind::TimestampTz)
            | (SqlType::Time, Kind::Interval) => Some((to, false)),
            // A bigint where PostgreSQL takes an integer: literals of the planner are bigint. The value is checked.
            (SqlType::BigInt, Kind::Int4) => Some((to, false)),
            _ => None,
        }
    }
}

/// What a call returns.
#[derive(Clone, Copy)]
pub(crate) enum Returns {
    /// Always this.
    Is(Kind),
    /// The type of argument `i`.
    Same(usize),
    /// Depends on types and on constant arguments.
    With(fn(&[DataType], &[Option<&ScalarValue>]) -> DataType),
}

/// One overload.
pub(crate) struct Overload {
    pub args: &'static [Kind],
    /// The last kind may be repeated, also zero times.
    pub variadic: bool,
    pub returns: Returns,
    pub kernel: fn(&Args) -> Result<ArrayRef>,
}

/// One function under its stable name.
pub(crate) struct Function {
    pub name: &'static str,
    pub overloads: &'static [Overload],
}

/// `name: (Kind, ...) -> Kind => kernel, ...;` per function; `(Kind, ...; variadic)`; `-> [Returns]` for other result types.
macro_rules! functions {
    (@ret $kind:ident) => { $crate::function::Returns::Is($crate::function::Kind::$kind) };
    (@ret [$e:expr]) => { $e };
    (@var variadic) => { true };
    (@var) => { false };
    ($($name:literal: $(($($kind:ident),* $(; $var:ident)?) -> $ret:tt => $kernel:expr),+;)*) => {
        &[$($crate::function::Function {
            name: $name,
            overloads: &[$($crate::function::Overload {
                args: &[$($crate::function::Kind::$kind),*],
                variadic: functions!(@var $($var)?),
                returns: functions!(@ret $ret),
                kernel: $kernel,
            }),+],
        }),*]
    };
}
pub(crate) use functions;

/// The UDF of a [`Function`].
pub(crate) struct PgFunction {
    function: &'static Function,
    signature: Signature,
}

impl PgFunction {
    pub(crate) fn new(function: &'static Function) -> Self {
        PgFunction { function, signature: Signature::user_defined(Volatility::Immutable) }
    }

    /// The overload for these types and the types to pass: the one with most exact matches, the earlier one on a tie.
    fn resolve(&self, types: &[DataType]) -> Result<(&'static Overload, Vec<SqlType>)> {
        let given = types.iter().map(SqlType::from_arrow).collect::<Result<Vec<_>>>()?;
        let mut best: Option<(usize, &'static Overload, Vec<SqlType>)> = None;
        for overload in self.function.overloads {
            let fixed = overload.args.len() - usize::from(overload.variadic);
            if given.len() < fixed || (given.len() > fixed && !overload.variadic) {
                continue;
            }
            let kinds = (0..given.len()).map(|i| overload.args[i.min(overload.args.len() - 1)]);
            let accepted: Option<Vec<_>> = kinds.zip(&given).map(|(kind, from)| kind.accept(from)).collect();
            let Some(accepted) = accepted else { continue };
            let exact = accepted.iter().filter(|(_, exact)| *exact).count();
            if best.as_ref().is_none_or(|(most, ..)| exact > *most) {
                best = Some((exact, overload, accepted.into_iter().map(|(t, _)| t).collect()));
            }
        }
        best.map(|(_, overload, types)| (overload, types)).ok_or_else(|| undefined_function(self.function.name, &given))
    }

    fn result_type(&self, types: &[DataType], constants: &[Option<&ScalarValue>]) -> Result<DataType> {
        let (overload, passed) = self.resolve(types)?;
        let passed: Vec<DataType> = passed.iter().map(SqlType::to_arrow).collect();
        Ok(match overload.returns {
            Returns::Is(kind) => kind.sql_type().to_arrow(),
            Returns::Same(i) => passed.get(i).cloned().unwrap_or(DataType::Null),
            Returns::With(f) => f(&passed, constants),
        })
    }

    fn call(&self, args: &ScalarFunctionArgs) -> Result<ColumnarValue> {
        let operands = args.args.iter().map(Operand::new).collect::<Result<Vec<_>>>()?;
        let types: Vec<DataType> = operands.iter().map(|o| o.data_type().clone()).collect();
        let (overload, passed) = self.resolve(&types)?;
        let cast = operands.iter().zip(&passed).map(|(o, t)| Ok(o.with(cast_array(&o.array, t)?)));
        let operands = cast.collect::<Result<Vec<_>>>()?;
        let constant = !operands.is_empty() && operands.iter().all(|o| o.scalar);
        let rows = if constant { 1 } else { args.number_rows };
        let args = Args { operands, rows, out: args.return_field.data_type().clone() };
        let array = (overload.kernel)(&args)?;
        args.into_value(array)
    }
}

/// 42883 as PostgreSQL words it.
pub(crate) fn undefined_function(name: &str, types: &[SqlType]) -> Error {
    let types: Vec<String> = types.iter().map(short_name).collect();
    Error::new(SqlState::UNDEFINED_FUNCTION, format!("function {name}({}) does not exist", types.join(", "))).with_hint(NO_MATCH)
}

/// The type without precision, as PostgreSQL names types in such errors.
pub(crate) fn short_name(t: &SqlType) -> String {
    match t {
        SqlType::Numeric { .. } => "numeric".into(),
        other => other.to_string(),
    }
}

impl ScalarUDFImpl for PgFunction {
    fn name(&self) -> &str {
        self.function.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> DfResult<DataType> {
        self.result_type(types, &[]).map_err(external)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> DfResult<FieldRef> {
        let types: Vec<DataType> = args.arg_fields.iter().map(|f| f.data_type().clone()).collect();
        let data_type = self.result_type(&types, args.scalar_arguments).map_err(external)?;
        Ok(Arc::new(Field::new(self.name(), data_type, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        self.call(&args).map_err(external)
    }

    fn coerce_types(&self, types: &[DataType]) -> DfResult<Vec<DataType>> {
        let (_, passed) = self.resolve(types).map_err(external)?;
        Ok(passed.iter().map(SqlType::to_arrow).collect())
    }
}

impl std::fmt::Debug for PgFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.function.name)
    }
}

impl PartialEq for PgFunction {
    fn eq(&self, other: &Self) -> bool {
        self.function.name == other.function.name
    }
}

impl Eq for PgFunction {}

impl Hash for PgFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.name.hash(state);
    }
}
