//! `sum` and `avg`: what they take and return.
//!
//! | argument | sum | avg |
//! |---|---|---|
//! | smallint, integer | bigint | numeric(38,16) |
//! | bigint | numeric(38,0) | numeric(38,16) |
//! | numeric(p,s) | numeric(38,s) | numeric(38, at least 16) |
//! | real | real (added up in double precision) | double precision |
//! | double precision | double precision | double precision |
//! | interval | interval | interval |

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::Result as DfResult;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, Signature, Volatility};
use millstream_types::{Error, Result, SqlType};

use super::accumulate::{BigInts, Floats, Groups, Integers, Intervals, Numerics, Single};
use super::distinct::Distinct;
use super::finish::Finish;
use super::sliding::SlidingFloats;
use crate::arithmetic::types::QUOTIENT_SCALE;
use crate::error::external;
use crate::function::undefined_function;

/// `sum`.
pub(super) fn sum() -> AggregateUDF {
    AggregateUDF::new_from_impl(Total { average: false, signature: Signature::user_defined(Volatility::Immutable) })
}

/// `avg`.
pub(super) fn avg() -> AggregateUDF {
    AggregateUDF::new_from_impl(Total { average: true, signature: Signature::user_defined(Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Total {
    average: bool,
    signature: Signature,
}

/// How values of a type are added up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    /// smallint, integer for `sum`: in a bigint.
    Integers,
    /// Integers in 38 digits.
    BigInts,
    Numerics,
    Floats,
    Intervals,
}

impl Total {
    fn label(&self) -> &'static str {
        if self.average { "avg" } else { "sum" }
    }

    fn argument(&self, types: &[DataType]) -> Result<SqlType> {
        let given = types.iter().map(SqlType::from_arrow).collect::<Result<Vec<_>>>()?;
        match given.as_slice() {
            [t] if t.is_numeric() || *t == SqlType::Interval => Ok(t.clone()),
            [SqlType::Unknown] => Ok(SqlType::Double),
            other => Err(undefined_function(self.label(), other)),
        }
    }

    fn family(&self, argument: &SqlType) -> Family {
        match argument {
            SqlType::SmallInt | SqlType::Integer if !self.average => Family::Integers,
            SqlType::SmallInt | SqlType::Integer | SqlType::BigInt => Family::BigInts,
            SqlType::Numeric { .. } => Family::Numerics,
            SqlType::Interval => Family::Intervals,
            _ => Family::Floats,
        }
    }

    fn result(&self, argument: &SqlType) -> SqlType {
        let numeric = |scale| SqlType::Numeric { precision: 38, scale };
        match (argument, self.average) {
            (SqlType::SmallInt | SqlType::Integer, false) => SqlType::BigInt,
            (SqlType::BigInt, false) => numeric(0),
            (SqlType::Numeric { scale, .. }, false) => numeric(*scale),
            (SqlType::Numeric { scale, .. }, true) => numeric((*scale).max(QUOTIENT_SCALE)),
            (t, true) if t.is_integer() => numeric(QUOTIENT_SCALE),
            (SqlType::Real, true) => SqlType::Double,
            (t, _) => t.clone(),
        }
    }

    /// Type of the running sum.
    fn running(&self, argument: &SqlType) -> DataType {
        match (self.family(argument), argument) {
            (Family::Integers, _) => DataType::Int64,
            (Family::Numerics, SqlType::Numeric { scale, .. }) => DataType::Decimal128(38, *scale),
            (Family::BigInts | Family::Numerics, _) => DataType::Decimal128(38, 0),
            (Family::Floats, _) => DataType::Float64,
            (Family::Intervals, _) => SqlType::Interval.to_arrow(),
        }
    }

    fn finish(&self, argument: &SqlType) -> Finish {
        Finish { average: self.average, running: self.running(argument), result: self.result(argument) }
    }

    fn of(&self, args: &AccumulatorArgs<'_>) -> Result<SqlType> {
        let field = args.expr_fields.first().ok_or_else(|| Error::internal("an aggregate without argument"))?;
        self.argument(std::slice::from_ref(field.data_type()))
    }
}

impl AggregateUDFImpl for Total {
    fn name(&self) -> &str {
        self.label()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> DfResult<DataType> {
        Ok(self.result(&self.argument(types).map_err(external)?).to_arrow())
    }

    fn coerce_types(&self, types: &[DataType]) -> DfResult<Vec<DataType>> {
        Ok(vec![self.argument(types).map_err(external)?.to_arrow()])
    }

    fn state_fields(&self, args: StateFieldsArgs) -> DfResult<Vec<FieldRef>> {
        let input = args.input_fields.first().map_or(DataType::Null, |f| f.data_type().clone());
        let name = |part| format_state_name(args.name, part);
        if args.is_distinct {
            return Ok(vec![Arc::new(Field::new_list(name("values"), Field::new_list_field(input, true), true))]);
        }
        let argument = self.argument(&[input]).map_err(external)?;
        Ok(vec![
            Arc::new(Field::new(name("sum"), self.running(&argument), true)),
            Arc::new(Field::new(name("count"), DataType::Int64, true)),
        ])
    }

    fn accumulator(&self, args: AccumulatorArgs) -> DfResult<Box<dyn Accumulator>> {
        let argument = self.of(&args).map_err(external)?;
        let finish = self.finish(&argument);
        let single: Box<dyn Accumulator> = match self.family(&argument) {
            Family::Integers => Box::new(Single::<Integers>::new(finish)),
            Family::BigInts => Box::new(Single::<BigInts>::new(finish)),
            Family::Numerics => Box::new(Single::<Numerics>::new(finish)),
            Family::Floats => Box::new(Single::<Floats>::new(finish)),
            Family::Intervals => Box::new(Single::<Intervals>::new(finish)),
        };
        if args.is_distinct {
            return Ok(Box::new(Distinct::new(single, argument.to_arrow())));
        }
        Ok(single)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> DfResult<Box<dyn Accumulator>> {
        let argument = self.of(&args).map_err(external)?;
        if self.family(&argument) == Family::Floats && !args.is_distinct {
            return Ok(Box::new(SlidingFloats::new(self.finish(&argument))));
        }
        self.accumulator(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> DfResult<Box<dyn GroupsAccumulator>> {
        let argument = self.of(&args).map_err(external)?;
        let finish = self.finish(&argument);
        Ok(match self.family(&argument) {
            Family::Integers => Box::new(Groups::<Integers>::new(finish)),
            Family::BigInts => Box::new(Groups::<BigInts>::new(finish)),
            Family::Numerics => Box::new(Groups::<Numerics>::new(finish)),
            Family::Floats => Box::new(Groups::<Floats>::new(finish)),
            Family::Intervals => Box::new(Groups::<Intervals>::new(finish)),
        })
    }
}
