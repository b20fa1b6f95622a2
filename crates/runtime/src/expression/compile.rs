//! [`ScalarExpr`] to DataFusion's [`PhysicalExpr`], one arm per kind of expression.

use std::sync::{Arc, LazyLock};

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::{DataFusionError, ScalarValue};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::{ColumnarValue, Operator, ScalarUDF};
use datafusion::physical_expr::expressions::{BinaryExpr, CaseExpr, Column, InListExpr, IsNullExpr, LikeExpr, Literal, NotExpr};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use millstream_functions::{cast_udf, from_datafusion, is_time_dependent, is_volatile, registry};
use millstream_graph::{BinaryOperator, ScalarExpr};
use millstream_types::{Datum, Error, Result, SqlState, SqlType};

use super::float_order::float_order;

type Physical = Arc<dyn PhysicalExpr>;

/// The evaluator of `expr` over batches of `schema`.
pub(super) fn compile(expr: &ScalarExpr, schema: &SchemaRef) -> Result<Physical> {
    Ok(match expr {
        ScalarExpr::Column { index, .. } => column(*index, schema)?,
        ScalarExpr::Literal(datum) => literal(datum)?,
        ScalarExpr::Binary { op, left, right } => {
            let (left, right) = match op {
                BinaryOperator::And | BinaryOperator::Or => (compile(left, schema)?, compile(right, schema)?),
                _ => (comparable(left, schema)?, comparable(right, schema)?),
            };
            Arc::new(BinaryExpr::new(left, operator(*op), right))
        }
        ScalarExpr::Not(e) => Arc::new(NotExpr::new(compile(e, schema)?)),
        ScalarExpr::IsNull(e) => Arc::new(IsNullExpr::new(compile(e, schema)?)),
        ScalarExpr::Case { branches, otherwise } => {
            let to = expr.sql_type();
            let branch = |(c, r): &(ScalarExpr, ScalarExpr)| Ok((compile(c, schema)?, typed(r, &to, schema)?));
            let branches = branches.iter().map(branch).collect::<Result<Vec<_>>>()?;
            let otherwise = otherwise.as_ref().map(|e| typed(e, &to, schema)).transpose()?;
            Arc::new(CaseExpr::try_new(None, branches, otherwise).map_err(from_datafusion)?)
        }
        ScalarExpr::Cast { expr, to } if expr.sql_type() == *to => compile(expr, schema)?,
        ScalarExpr::Cast { expr, to } => call(cast_udf(to), vec![compile(expr, schema)?], to, schema)?,
        ScalarExpr::InList { expr, list, negated } => {
            let list = list.iter().map(|e| comparable(e, schema)).collect::<Result<Vec<_>>>()?;
            Arc::new(InListExpr::try_new(comparable(expr, schema)?, list, *negated, schema).map_err(from_datafusion)?)
        }
        ScalarExpr::Like { expr, pattern, negated, case_insensitive } => {
            Arc::new(LikeExpr::new(*negated, *case_insensitive, compile(expr, schema)?, compile(pattern, schema)?))
        }
        ScalarExpr::Function { name, args, return_type } => {
            let udf = registry().scalar(name).ok_or_else(|| {
                Error::new(SqlState::UNDEFINED_FUNCTION, format!("function {name} does not exist"))
                    .with_hint("the job was planned by another version of Millstream: create it again")
            })?;
            let args = args.iter().map(|a| compile(a, schema)).collect::<Result<Vec<_>>>()?;
            call(udf, args, return_type, schema)?
        }
    })
}

fn column(index: usize, schema: &Schema) -> Result<Physical> {
    let field = schema.fields().get(index).ok_or_else(|| Error::internal(format!("column ${index} of {}", schema.fields().len())))?;
    Ok(Arc::new(Column::new(field.name(), index)))
}

fn literal(datum: &Datum) -> Result<Physical> {
    let value = ScalarValue::try_from_array(&datum.to_array()?, 0).map_err(from_datafusion)?;
    Ok(Arc::new(Literal::new(value)))
}

/// An operand of a comparison. Arrow compares floats by their bits; PostgreSQL has one zero and one NaN.
fn comparable(expr: &ScalarExpr, schema: &SchemaRef) -> Result<Physical> {
    let compiled = compile(expr, schema)?;
    match expr.sql_type() {
        t @ (SqlType::Real | SqlType::Double) => call(float_order(), vec![compiled], &t, schema),
        _ => Ok(compiled),
    }
}

/// A branch of CASE; a bare NULL takes the type of the others.
fn typed(expr: &ScalarExpr, to: &SqlType, schema: &SchemaRef) -> Result<Physical> {
    match expr {
        ScalarExpr::Literal(Datum::Null(SqlType::Unknown)) => literal(&Datum::Null(to.clone())),
        other => compile(other, schema),
    }
}

/// A call whose result has the type `to`, folded if it is constant.
fn call(udf: Arc<ScalarUDF>, args: Vec<Physical>, to: &SqlType, schema: &SchemaRef) -> Result<Physical> {
    static CONFIG: LazyLock<Arc<ConfigOptions>> = LazyLock::new(|| Arc::new(ConfigOptions::new()));
    let constant = args.iter().all(|a| a.is::<Literal>()) && !is_time_dependent(udf.name()) && !is_volatile(udf.name());
    let call = ScalarFunctionExpr::try_new(udf, args, schema, Arc::clone(&CONFIG)).map_err(from_datafusion)?;
    let exact = *call.return_type() == to.to_arrow();
    let mut physical: Physical = Arc::new(call);
    if !exact {
        let cast = ScalarFunctionExpr::try_new(cast_udf(to), vec![physical], schema, Arc::clone(&CONFIG)).map_err(from_datafusion)?;
        physical = Arc::new(cast);
    }
    Ok(if constant { fold(&physical).unwrap_or(physical) } else { physical })
}

/// The value of a constant expression; an error is left for the rows that reach it, of which there may be none.
fn fold(physical: &Physical) -> Option<Physical> {
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let one = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).ok()?;
    let value = match physical.evaluate(&one).ok()? {
        ColumnarValue::Scalar(value) => Ok(value),
        ColumnarValue::Array(array) if array.len() == 1 => ScalarValue::try_from_array(&array, 0),
        ColumnarValue::Array(_) => Err(DataFusionError::Internal("a constant of several rows".into())),
    };
    Some(Arc::new(Literal::new(value.ok()?)))
}

fn operator(op: BinaryOperator) -> Operator {
    match op {
        BinaryOperator::Eq => Operator::Eq,
        BinaryOperator::NotEq => Operator::NotEq,
        BinaryOperator::Lt => Operator::Lt,
        BinaryOperator::LtEq => Operator::LtEq,
        BinaryOperator::Gt => Operator::Gt,
        BinaryOperator::GtEq => Operator::GtEq,
        BinaryOperator::And => Operator::And,
        BinaryOperator::Or => Operator::Or,
        BinaryOperator::IsDistinctFrom => Operator::IsDistinctFrom,
        BinaryOperator::IsNotDistinctFrom => Operator::IsNotDistinctFrom,
    }
}
