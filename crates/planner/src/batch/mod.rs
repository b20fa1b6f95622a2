//! Ad hoc reads: the same bound plans, run by DataFusion over the relations' rows at one epoch.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::Transformed;
use datafusion::datasource::DefaultTableSource;
use datafusion::execution::context::SessionState;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionConfig;
use millstream_functions::{from_datafusion, registry};
use millstream_types::{Result, limits};

use crate::catalog::{PlannerRelation, RelationSource};

/// What DataFusion needs to run plans: its own optimizer, our functions. Reads run on one partition: most are small, and a partition
/// more costs more than it brings. Made once and shared.
pub fn session_state(runtime: Arc<RuntimeEnv>) -> SessionState {
    let mut config =
        SessionConfig::new().with_target_partitions(1).with_batch_size(limits::BATCH_TARGET_ROWS).with_information_schema(false);
    config.options_mut().sql_parser.map_string_types_to_utf8view = false;
    config.options_mut().optimizer.skip_failed_rules = false;
    SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_default_features()
        .with_scalar_functions(registry().all_scalars())
        .with_aggregate_functions(registry().all_aggregates())
        .build()
}

/// The rows of a relation, with its hidden columns or without.
pub type Provider<'a> = &'a dyn Fn(&Arc<PlannerRelation>, bool) -> Result<Arc<dyn TableProvider>>;

/// The plan with the rows that `provider` gives for each relation.
///
/// # Errors
/// What `provider` raises.
pub fn with_rows(plan: LogicalPlan, provider: Provider<'_>) -> Result<LogicalPlan> {
    let replaced = plan.transform_up_with_subqueries(|node| {
        let LogicalPlan::TableScan(mut scan) = node else { return Ok(Transformed::no(node)) };
        let source = (scan.source.as_ref() as &dyn std::any::Any).downcast_ref::<RelationSource>();
        let Some(source) = source else { return Ok(Transformed::no(LogicalPlan::TableScan(scan))) };
        let with_hidden = source.with_hidden();
        let rows = provider(&source.relation, with_hidden).map_err(millstream_functions::external)?;
        scan.source = Arc::new(DefaultTableSource::new(rows));
        Ok(Transformed::yes(LogicalPlan::TableScan(scan)))
    });
    replaced.map(|t| t.data).map_err(from_datafusion)
}
