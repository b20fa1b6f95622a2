//! Streams: a bound query to a StreamGraph.
//!
//! [`refuse`] finds in the text what cannot be followed incrementally, [`optimize`] prunes and pushes down with rules that are safe for
//! streams, [`generator`] makes operators from plan nodes with [`expression`]s, [`aggregate`] the GROUP BYs.

mod aggregate;
mod expression;
mod generator;
mod merge;
mod optimize;
mod refuse;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use millstream_graph::{MaterializeSpec, OperatorSpec, SinkSpec, StreamGraph, TableLogSpec};
use millstream_sql::statement::SelectStatement;
use millstream_types::{ChangelogMode, Column, Error, JobId, ObjectId, RelationId, Result, Schema, SqlState, SqlType, limits};

pub use expression::datum_of;

use crate::bind;
use crate::catalog::PlannerCatalog;
use crate::settings::PlannerSettings;
use crate::{BoundQuery, bind_query};
use generator::Generator;

/// A job that was planned.
#[derive(Debug, Clone)]
pub struct StreamPlan {
    /// What runs.
    pub graph: StreamGraph,
    /// Columns of the view, or of nothing for a job with sinks.
    pub schema: Schema,
    /// Columns of the view that identify a row.
    pub key: Option<Vec<usize>>,
    /// True if rows are never taken back.
    pub append_only: bool,
    /// Relations of other jobs that it reads.
    pub upstream: Vec<ObjectId>,
    /// All objects that it needs: upstream relations, sources, sinks.
    pub depends_on: Vec<ObjectId>,
    /// True if it reads an external source.
    pub external: bool,
}

/// A sink that a job inserts into.
#[derive(Debug, Clone)]
pub struct SinkTarget {
    /// Its number.
    pub id: ObjectId,
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its connector.
    pub connector: String,
    /// Its options, without `connector`.
    pub options: BTreeMap<String, String>,
    /// It takes no updates.
    pub append_only: bool,
}

/// A table's job: its log, kept.
///
/// # Errors
/// XX000 for a graph that breaks a rule.
pub fn plan_table(job: JobId, name: &str, schema: &Schema, key: &[usize], settings: &PlannerSettings) -> Result<StreamGraph> {
    let mut generator = Generator::new(job, name, settings);
    let relation: RelationId = ObjectId(job.0);
    let spec = TableLogSpec { table: relation, name: name.to_owned(), schema: schema.clone(), key: key.to_vec() };
    let log =
        generator.source(OperatorSpec::TableLog(spec), schema.clone(), ChangelogMode::Retract, Some(key.to_vec()), settings.parallelism);
    let spec = MaterializeSpec { relation, name: name.to_owned(), key: Some(key.to_vec()) };
    generator.consumer(OperatorSpec::Materialize(spec), &log)?;
    generator.finish()
}

/// A materialized view's job. `columns` are the names that CREATE gave, or empty.
///
/// # Errors
/// 0A000 with position for what cannot be followed, 42701 for two columns of one name, 42601 for the wrong number of names.
pub fn plan_view(
    catalog: &Arc<dyn PlannerCatalog>,
    query: &SelectStatement,
    text: &str,
    job: JobId,
    name: &str,
    columns: &[String],
    settings: &PlannerSettings,
) -> Result<StreamPlan> {
    let bound = bind_stream(catalog, query, text)?;
    let names = view_columns(&bound.schema, columns)?;
    let mut generator = Generator::new(job, name, settings);
    let plan = optimize::optimize(&bound.plan, settings.merge_calcs, text)?;
    generator.reads(&plan)?;
    let stream = generator.stream(&plan)?;
    let schema = Schema::new(names.into_iter().zip(&bound.schema.columns).map(|(n, c)| Column::new(n, c.sql_type.clone())).collect());
    let (changelog, key, _) = generator.properties(&stream)?;
    let (key, append_only) = (key.filter(|k| !k.is_empty()), changelog == ChangelogMode::Append);
    let spec = MaterializeSpec { relation: ObjectId(job.0), name: name.to_owned(), key: key.clone() };
    let end = generator.consumer(OperatorSpec::Materialize(spec), &stream)?;
    generator.rename(&end, &schema);
    generator.into_plan(schema, key, append_only)
}

/// A streaming job's graph: one sink per INSERT, sources shared.
///
/// # Errors
/// As [`plan_view`]; 42804 for columns that do not fit, 0A000 for changes into a sink that only appends.
pub fn plan_job(
    catalog: &Arc<dyn PlannerCatalog>,
    inserts: &[(SelectStatement, Vec<String>, SinkTarget)],
    text: &str,
    job: JobId,
    name: &str,
    settings: &PlannerSettings,
) -> Result<StreamPlan> {
    let mut generator = Generator::new(job, name, settings);
    let mut plans = vec![];
    for (query, columns, sink) in inserts {
        let bound = bind_stream(catalog, query, text)?;
        let plan = crate::dml::assign(bound.plan, &sink.columns, columns, &sink.name)?;
        let plan = bind::final_casts(plan).map_err(|e| millstream_functions::from_datafusion_in(text, e))?;
        let plan = optimize::optimize(&plan, settings.merge_calcs, text)?;
        generator.reads(&plan)?;
        plans.push(plan);
    }
    for (plan, (_, _, sink)) in plans.iter().zip(inserts) {
        let stream = generator.stream(plan)?;
        if sink.append_only && generator.properties(&stream)?.0 != ChangelogMode::Append {
            return Err(Error::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("sink \"{}\" only appends, but the query changes rows it has sent", sink.name),
            )
            .with_detail(format!("Connector \"{}\" takes no updates.", sink.connector))
            .with_hint("insert a query without GROUP BY or DISTINCT over tables, or use a sink that takes updates (print, blackhole)"));
        }
        let spec = SinkSpec {
            name: sink.name.clone(),
            connector: sink.connector.clone(),
            options: sink.options.clone(),
            columns: sink.columns.clone(),
        };
        let end = generator.consumer(OperatorSpec::Sink(spec), &stream)?;
        generator.rename(&end, &Schema::new(sink.columns.clone()));
        generator.depends_on(sink.id);
    }
    generator.into_plan(Schema::default(), None, false)
}

fn bind_stream(catalog: &Arc<dyn PlannerCatalog>, query: &SelectStatement, text: &str) -> Result<BoundQuery> {
    refuse::check(query, text)?;
    let bound = bind_query(catalog, &query.query, text)?;
    if !bound.params.is_empty() {
        return Err(
            Error::new(SqlState::UNDEFINED_PARAMETER, "there is no parameter $1").with_hint("a streaming query takes no parameters")
        );
    }
    refuse::check_plan(&bound.plan)?;
    if bound.schema.len() > limits::MAX_COLUMNS {
        return Err(Error::new(SqlState::TOO_MANY_COLUMNS, format!("a view can have at most {} columns", limits::MAX_COLUMNS)));
    }
    Ok(bound)
}

/// Names of a view's columns: given ones, then those of the query. PostgreSQL's rules.
pub fn view_columns(schema: &Schema, given: &[String]) -> Result<Vec<String>> {
    if given.len() > schema.len() {
        return Err(Error::new(SqlState::SYNTAX_ERROR, "CREATE VIEW specifies more column names than columns"));
    }
    let names: Vec<String> = schema.columns.iter().enumerate().map(|(i, c)| given.get(i).unwrap_or(&c.name).clone()).collect();
    let mut seen = BTreeSet::new();
    if let Some(twice) = names.iter().find(|n| !seen.insert(n.as_str())) {
        return Err(Error::new(SqlState::DUPLICATE_COLUMN, format!("column \"{twice}\" specified more than once"))
            .with_hint("give the column another name with AS"));
    }
    if let Some(unknown) = schema.columns.iter().find(|c| c.sql_type == SqlType::Unknown) {
        return Err(Error::new(SqlState::INDETERMINATE_DATATYPE, format!("column \"{}\" has no type", unknown.name))
            .with_hint("cast it: NULL::text"));
    }
    Ok(names)
}
