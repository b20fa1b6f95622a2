//! Aggregates of the batch side with PostgreSQL's result types: `sum` and `avg` are ours, the others DataFusion's where the meaning is
//! the same.
//!
//! Rooms: [`total`] declares `sum` and `avg`, [`accumulate`] adds values up (one group, many groups), [`distinct`] and [`sliding`] are the
//! variants for DISTINCT and for moving window frames, [`extreme`] is `min` and `max`,
//! [`retyped`] gives a DataFusion aggregate PostgreSQL's result type.

mod accumulate;
mod distinct;
mod extreme;
mod finish;
mod retyped;
mod sliding;
#[cfg(test)]
mod tests;
mod total;

pub use finish::finish_totals;

use std::sync::Arc;

use datafusion::functions_aggregate as df;
use datafusion::logical_expr::AggregateUDF;

/// Every aggregate.
pub(crate) fn all() -> Vec<Arc<AggregateUDF>> {
    let every = df::bool_and_or::bool_and_udaf().as_ref().clone().with_aliases(["every"]);
    vec![
        Arc::new(total::sum()),
        Arc::new(total::avg()),
        df::count::count_udaf(),
        Arc::new(extreme::min()),
        Arc::new(extreme::max()),
        Arc::new(every),
        df::bool_and_or::bool_or_udaf(),
        Arc::new(retyped::text(df::string_agg::string_agg_udaf())),
        df::array_agg::array_agg_udaf(),
        df::bit_and_or_xor::bit_and_udaf(),
        df::bit_and_or_xor::bit_or_udaf(),
        df::bit_and_or_xor::bit_xor_udaf(),
        df::stddev::stddev_udaf(),
        df::stddev::stddev_pop_udaf(),
        df::variance::var_samp_udaf(),
        df::variance::var_pop_udaf(),
        df::covariance::covar_samp_udaf(),
        df::covariance::covar_pop_udaf(),
        df::correlation::corr_udaf(),
        df::first_last::first_value_udaf(),
        df::first_last::last_value_udaf(),
        df::nth_value::nth_value_udaf(),
        df::grouping::grouping_udaf(),
    ]
}
