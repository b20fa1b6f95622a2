//! The operators `+ - * / % ^` and unary minus with PostgreSQL's types and errors, as the UDFs `ms_add`, `ms_sub`, `ms_mul`, `ms_div`,
//! `ms_mod`, `ms_pow` and `ms_neg`. A NULL operand gives NULL, and no error in its row.
//!
//! Rooms: [`types`] says what an operator returns, [`checked`] runs a function over two operands and reports the first fault,
//! [`integer`], [`float`], [`decimal`] and [`temporal`] are the families.

pub(crate) mod checked;
pub(crate) mod decimal;
pub(crate) mod float;
pub(crate) mod integer;
pub(crate) mod interval;
pub(crate) mod temporal;
pub mod types;

use std::hash::Hash;
use std::sync::Arc;

use arrow::array::{ArrayRef, new_null_array};
use arrow::datatypes::DataType;
use datafusion::common::Result as DfResult;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use millstream_types::{Result, SqlType};

use crate::cast::cast_array;
use crate::error::external;
use crate::operand::{Args, Operand};
pub use types::{ArithmeticOp, result_type};

/// The UDF of an operator.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Arithmetic {
    op: ArithmeticOp,
    signature: Signature,
}

/// The UDF of `op`, under its stable name.
pub(crate) fn udf(op: ArithmeticOp) -> Arc<ScalarUDF> {
    Arc::new(ScalarUDF::new_from_impl(Arithmetic { op, signature: Signature::user_defined(Volatility::Immutable) }))
}

fn sql_types(types: &[DataType]) -> Result<Vec<SqlType>> {
    types.iter().map(SqlType::from_arrow).collect()
}

impl Arithmetic {
    fn call(&self, args: &ScalarFunctionArgs) -> Result<ColumnarValue> {
        let operands = args.args.iter().map(Operand::new).collect::<Result<Vec<_>>>()?;
        let types: Vec<DataType> = operands.iter().map(|o| o.data_type().clone()).collect();
        let types = sql_types(&types)?;
        let result = result_type(self.op, &types)?;
        let constant = operands.iter().all(|o| o.scalar);
        let rows = if constant { 1 } else { args.number_rows };
        let args = Args { operands, rows, out: result.to_arrow() };
        let array = evaluate(self.op, &args, &types, &result)?;
        args.into_value(array)
    }
}

/// `op` for kernels of functions with the same meaning (`mod`, `power`): the result has the type that the operator gives.
pub(crate) fn apply(op: ArithmeticOp, args: &Args) -> Result<ArrayRef> {
    let types: Vec<DataType> = args.operands.iter().map(|o| o.data_type().clone()).collect();
    let types = sql_types(&types)?;
    evaluate(op, args, &types, &result_type(op, &types)?)
}

/// Applies `op`; the shape of the result is that of the operands.
fn evaluate(op: ArithmeticOp, args: &Args, types: &[SqlType], result: &SqlType) -> Result<ArrayRef> {
    if args.operands.iter().any(Operand::is_null_scalar) || types.contains(&SqlType::Unknown) {
        return Ok(new_null_array(&args.out, args.rows));
    }
    let canonical = args.operands.iter().zip(types).map(|(o, t)| Ok(o.with(cast_array(&o.array, t)?)));
    let operands = canonical.collect::<Result<Vec<_>>>()?;
    let (left, right) = match operands.as_slice() {
        [only] => (only, only),
        [left, right, ..] => (left, right),
        [] => return Ok(new_null_array(&args.out, args.rows)),
    };
    if types.iter().any(|t| !t.is_numeric()) {
        return temporal::evaluate(op, left, right, args.rows);
    }
    match result {
        SqlType::SmallInt | SqlType::Integer | SqlType::BigInt => integer::evaluate(op, left, right, args.rows, result),
        SqlType::Real | SqlType::Double => float::evaluate(op, left, right, args.rows, result),
        _ => decimal::evaluate(op, left, right, args.rows, result),
    }
}

impl ScalarUDFImpl for Arithmetic {
    fn name(&self) -> &str {
        self.op.function_name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> DfResult<DataType> {
        let types = sql_types(types).map_err(external)?;
        Ok(result_type(self.op, &types).map_err(external)?.to_arrow())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        self.call(&args).map_err(external)
    }

    /// Operands keep their types (the kernels take mixed ones); a bare NULL takes the type of the other operand.
    fn coerce_types(&self, types: &[DataType]) -> DfResult<Vec<DataType>> {
        let mut types = sql_types(types).map_err(external)?;
        let known = types.iter().find(|t| **t != SqlType::Unknown).cloned().unwrap_or(SqlType::Integer);
        for t in &mut types {
            if *t == SqlType::Unknown {
                // date + NULL is date + integer; timestamp + NULL is timestamp + interval.
                *t = types::partner_of_null(&known);
            }
        }
        result_type(self.op, &types).map_err(external)?;
        Ok(types.iter().map(SqlType::to_arrow).collect())
    }
}

#[cfg(test)]
mod tests;
