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

type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// Folds constants and simplifies expressions row by row: kinds, keys and event time do not depend on it. Functions of the time of
/// day were refused before: it would fold them too.
fn expression_rules() -> Vec<Rule> {
    vec![Arc::new(SimplifyExpressions::new())]
}

fn rules() -> Vec<Rule> {
    let mut rules = expression_rules();
    let plans: [Rule; 3] = [
        // WHERE true disappears, WHERE false leaves no rows: the same for every kind of change.
        Arc::new(EliminateFilter::new()),
        // A filter below a projection or a GROUP BY over its keys drops a row's insert and its retraction alike.
        Arc::new(PushDownFilter::new()),
        // Columns that nobody reads are not read, and adjacent projections become one. Rows are neither merged nor split by it.
        Arc::new(OptimizeProjections::new()),
    ];
    rules.extend(plans);
    rules
}

/// Optimizes a plan for streaming; without `merge` its steps stay as they were written.
pub(super) fn optimize(plan: &LogicalPlan, merge: bool, text: &str) -> Result<LogicalPlan> {
    let rules = if merge { rules() } else { expression_rules() };
    let context = OptimizerContext::new().with_skip_failing_rules(false);
    Optimizer::with_rules(rules).optimize(plan.clone(), &context, |_, _| ()).map_err(|e| from_datafusion_in(text, e))
}
