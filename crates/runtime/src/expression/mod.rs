//! Expressions of the graph as vectorised evaluators: compiled once per task, evaluated once per batch.
//!
//! [`compile`] turns a [`ScalarExpr`] into DataFusion's physical expression; `float_order` gives floats PostgreSQL's equality. Batch reads
//! run the same kernels of `crates/functions`, so a view and its query agree.

mod compile;
mod float_order;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::physical_expr::PhysicalExpr;
use millstream_functions::{cast_array, from_datafusion};
use millstream_graph::ScalarExpr;
use millstream_types::{Error, Result, SqlType};

/// An expression ready to run over batches of one schema.
#[derive(Clone, Debug)]
pub struct Evaluator {
    physical: Arc<dyn PhysicalExpr>,
    /// The index, if it is a plain column: then evaluating is an `Arc` clone.
    column: Option<usize>,
    sql_type: SqlType,
    data_type: DataType,
    /// The expression as EXPLAIN shows it, for errors.
    text: String,
}

impl Evaluator {
    /// Compiles `expr` for batches of `schema`.
    ///
    /// # Errors
    /// 42883 for a function that the registry does not have, XX000 for a column out of range.
    pub fn new(expr: &ScalarExpr, schema: &SchemaRef) -> Result<Self> {
        let column = match expr {
            ScalarExpr::Column { index, .. } => Some(*index),
            _ => None,
        };
        let sql_type = expr.sql_type();
        let data_type = sql_type.to_arrow();
        Ok(Evaluator { physical: compile::compile(expr, schema)?, column, sql_type, data_type, text: expr.to_string() })
    }

    /// The input column it passes on unchanged, if that is all it does.
    pub fn as_column(&self) -> Option<usize> {
        self.column
    }

    /// One value per row, in the canonical Arrow type.
    ///
    /// # Errors
    /// What the functions in it raise (class 22), with the expression in the detail.
    pub fn evaluate(&self, rows: &RecordBatch) -> Result<ArrayRef> {
        if let Some(array) = self.column.and_then(|i| rows.columns().get(i)) {
            return Ok(Arc::clone(array));
        }
        let value = self.physical.evaluate(rows).and_then(|v| v.into_array(rows.num_rows()));
        let array = value.map_err(|e| self.explain(from_datafusion(e)))?;
        if *array.data_type() == self.data_type {
            return Ok(array);
        }
        cast_array(&array, &self.sql_type).map_err(|e| self.explain(e))
    }

    /// The rows for which it is true, as a mask without NULLs.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`]; XX000 if it is no boolean.
    pub fn mask(&self, rows: &RecordBatch) -> Result<BooleanArray> {
        let array = self.evaluate(rows)?;
        if *array.data_type() == DataType::Null {
            return Ok(BooleanArray::from(vec![false; rows.num_rows()]));
        }
        let mask = array.as_boolean_opt().ok_or_else(|| Error::internal(format!("condition {} is no boolean", self.text)))?;
        Ok(match mask.nulls() {
            None => mask.clone(),
            Some(valid) => BooleanArray::new(mask.values() & valid.inner(), None),
        })
    }

    fn explain(&self, e: Error) -> Error {
        let detail = match e.detail() {
            Some(detail) => format!("{detail}; in expression {}", self.text),
            None => format!("in expression {}", self.text),
        };
        e.with_detail(detail)
    }
}
