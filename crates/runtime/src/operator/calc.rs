//! WHERE and the select list: filter, then projection. Any changelog mode in, the same out: kinds follow their rows. No state; watermarks
//! pass through.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use millstream_graph::{CalcSpec, ScalarExpr};
use millstream_types::{ChangeBatch, Error, Result, Schema};

use super::{Output, StatelessOperator};
use crate::expression::Evaluator;

/// The operator of a [`CalcSpec`].
pub struct Calc {
    filter: Option<Evaluator>,
    /// Input columns that the projection reads: only these are copied when the filter drops rows.
    read: Vec<usize>,
    /// Over the columns in `read`.
    projection: Vec<Evaluator>,
    schema: SchemaRef,
}

impl Calc {
    /// Filter and projection over batches of `input` to batches of `output`.
    ///
    /// # Errors
    /// 42883 for an unknown function, XX000 for a column out of range.
    pub fn new(spec: &CalcSpec, input: &Schema, output: &Schema) -> Result<Self> {
        let filter = spec.filter.as_ref().map(|f| Evaluator::new(f, &input.to_arrow())).transpose()?;
        let mut read = vec![];
        spec.projection.iter().for_each(|e| e.visit_columns(&mut |i| read.push(i)));
        read.sort_unstable();
        read.dedup();
        if let Some(beyond) = read.iter().find(|i| **i >= input.len()) {
            return Err(Error::internal(format!("column ${beyond} of {}", input.len())));
        }
        let narrowed = input.project(&read).to_arrow();
        let projection = spec.projection.iter().map(|e| Evaluator::new(&moved(e, &read), &narrowed)).collect::<Result<_>>()?;
        Ok(Calc { filter, read, projection, schema: output.to_arrow() })
    }

    fn project(&self, batch: &ChangeBatch) -> Result<ChangeBatch> {
        let columns = self.projection.iter().map(|e| e.evaluate(batch.rows())).collect::<Result<Vec<ArrayRef>>>()?;
        Ok(batch.with_rows(rows(&self.schema, columns, batch.num_rows())?))
    }
}

impl StatelessOperator for Calc {
    fn process_batch(&mut self, _input: usize, batch: ChangeBatch, out: &mut dyn Output) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let mask = self.filter.as_ref().map(|f| f.mask(batch.rows())).transpose()?;
        let narrowed = batch.with_rows(batch.rows().project(&self.read)?);
        let kept = match mask {
            None => narrowed,
            Some(mask) => match mask.true_count() {
                0 => return Ok(()),
                all if all == batch.num_rows() => narrowed,
                _ => narrowed.filter(&mask)?,
            },
        };
        out.batch(self.project(&kept)?)
    }
}

/// A batch of the columns, also if there are none.
pub(crate) fn rows(schema: &SchemaRef, columns: Vec<ArrayRef>, count: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}

/// The expression over the columns `read` instead of all.
fn moved(expr: &ScalarExpr, read: &[usize]) -> ScalarExpr {
    let one = |e: &ScalarExpr| moved(e, read);
    let boxed = |e: &ScalarExpr| Box::new(moved(e, read));
    match expr {
        ScalarExpr::Column { index, sql_type } => {
            ScalarExpr::Column { index: read.binary_search(index).unwrap_or(*index), sql_type: sql_type.clone() }
        }
        ScalarExpr::Literal(_) => expr.clone(),
        ScalarExpr::Binary { op, left, right } => ScalarExpr::Binary { op: *op, left: boxed(left), right: boxed(right) },
        ScalarExpr::Not(e) => ScalarExpr::Not(boxed(e)),
        ScalarExpr::IsNull(e) => ScalarExpr::IsNull(boxed(e)),
        ScalarExpr::Case { branches, otherwise } => ScalarExpr::Case {
            branches: branches.iter().map(|(c, r)| (one(c), one(r))).collect(),
            otherwise: otherwise.as_deref().map(boxed),
        },
        ScalarExpr::Cast { expr, to } => ScalarExpr::Cast { expr: boxed(expr), to: to.clone() },
        ScalarExpr::InList { expr, list, negated } => {
            ScalarExpr::InList { expr: boxed(expr), list: list.iter().map(one).collect(), negated: *negated }
        }
        ScalarExpr::Like { expr, pattern, negated, case_insensitive } => {
            ScalarExpr::Like { expr: boxed(expr), pattern: boxed(pattern), negated: *negated, case_insensitive: *case_insensitive }
        }
        ScalarExpr::Function { name, args, return_type } => {
            ScalarExpr::Function { name: name.clone(), args: args.iter().map(one).collect(), return_type: return_type.clone() }
        }
    }
}

#[cfg(test)]
mod tests;
