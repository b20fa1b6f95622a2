//! The optimizer rules that streams may use: an explicit list, because a rule that is right for rows may be wrong for changes.

use std::sync::Arc;

use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::eliminate_filter::EliminateFilter;
use datafusion::optimizer::optimize_projections::OptimizeProjections;
use datafusion::optimizer::push_down_filter::PushDownFilter;
use datafusion::optimizer::simplify_expressions::SimplifyExpressions;
use datafusion::optimizer::{Optimizer, OptimizerContext, OptimizerRule};
use millstream_functions::from_datafusion_in;
use millstream_types::Result;

fn rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    vec![
        // Folds constants and simplifies expressions row by row: kinds, keys and event time do not depend on it.
        Arc::new(SimplifyExpressions::new()),
        // WHERE true disappears, WHERE false leaves no rows: the same for every kind of change.
        Arc::new(EliminateFilter::new()),
        // A filter below a projection or a GROUP BY over its keys drops a row's insert and its retraction alike.
        Arc::new(PushDownFilter::new()),
        // Columns that nobody reads are not read, and adjacent projections become one. Rows are neither merged nor split by it.
        Arc::new(OptimizeProjections::new()),
    ]
}

/// Optimizes a plan for streaming; without `merge` it stays as it was written.
pub(super) fn optimize(plan: &LogicalPlan, merge: bool, text: &str) -> Result<LogicalPlan> {
    if !merge {
        return Ok(plan.clone());
    }
    let context = OptimizerContext::new().with_skip_failing_rules(false);
    Optimizer::with_rules(rules()).optimize(plan.clone(), &context, |_, _| ()).map_err(|e| from_datafusion_in(text, e))
}
