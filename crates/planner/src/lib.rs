//! The planner: statements to plans. It does no input or output.
//!
//! In the order a query passes them: [`catalog`] is what the planner asks about names, [`bind`] turns a query into a typed
//! `LogicalPlan` with PostgreSQL's meaning, [`stream`] turns that into a StreamGraph, [`batch`] into a plan of an ad hoc read, [`dml`]
//! does the same for INSERT, UPDATE and DELETE.

pub mod batch;
pub mod bind;
pub mod catalog;
pub mod dml;
pub mod settings;
pub mod stream;
#[cfg(test)]
mod testing;

pub use bind::{BoundQuery, bind_query};
pub use catalog::{PlannerCatalog, PlannerRelation, RelationKind};
pub use settings::PlannerSettings;
pub use stream::{SinkTarget, StreamPlan, plan_job, plan_table, plan_view};
