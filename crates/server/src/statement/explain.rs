//! EXPLAIN: the stages of a plan, as text, JSON or DOT.

use millstream_cluster::execution_graph;
use millstream_graph::{JobGraphGenerator, StreamGraph};
use millstream_planner::{bind_query, plan_job, plan_view};
use millstream_sql::statement::{Explain, ExplainFormat, ExplainStage, ExplainTarget, SelectStatement, Statement};
use millstream_types::{Error, JobId, Result, Schema, SqlType};

use super::create::{streaming_job, table};
use super::dml::change;
use super::options::JobSettings;
use super::rows;
use crate::pg::service::Response;
use crate::session::Session;
use crate::system::SystemRows;

const COLUMN: &str = "QUERY PLAN";

pub(super) fn schema() -> Schema {
    SystemRows::new(&[(COLUMN, SqlType::Text)]).schema
}

pub(super) fn run(session: &Session, explain: &Explain, text: &str) -> Result<Response> {
    if explain.analyze {
        return Err(Error::unsupported("EXPLAIN ANALYZE"));
    }
    let ExplainTarget::Statement(statement) = &explain.target else { return Err(Error::unsupported("EXPLAIN JOB")) };
    let stages = match (explain.stages.as_slice(), statement.as_ref()) {
        ([], Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_)) => vec![ExplainStage::Logical],
        ([], _) => vec![ExplainStage::StreamGraph],
        (stages, _) => stages.to_vec(),
    };
    let format = explain.format.unwrap_or(ExplainFormat::Text);
    let mut shown = SystemRows::new(&[(COLUMN, SqlType::Text)]);
    for stage in stages {
        for line in stage_text(session, statement, stage, format, text)?.lines() {
            shown.push(vec![line.into()]);
        }
    }
    rows::shown(shown, "EXPLAIN")
}

fn stage_text(session: &Session, statement: &Statement, stage: ExplainStage, format: ExplainFormat, text: &str) -> Result<String> {
    if stage == ExplainStage::Logical {
        return logical(session, statement, format, text);
    }
    let graph = planned(session, statement, text)?;
    let job_graph = JobGraphGenerator::generate(&graph)?;
    Ok(match (stage, format) {
        (ExplainStage::StreamGraph, ExplainFormat::Text) => graph.to_string(),
        (ExplainStage::StreamGraph, ExplainFormat::Json) => json(&graph)?,
        (ExplainStage::StreamGraph, ExplainFormat::Dot) => graph.to_dot(),
        (ExplainStage::JobGraph, ExplainFormat::Text) => job_graph.to_string(),
        (ExplainStage::JobGraph, ExplainFormat::Json) => json(&job_graph)?,
        (ExplainStage::JobGraph, ExplainFormat::Dot) => job_graph.to_dot(),
        (ExplainStage::ExecutionGraph, format) => {
            let graph = execution_graph(&job_graph);
            match format {
                ExplainFormat::Text => graph.to_string(),
                ExplainFormat::Json => json(&graph)?,
                ExplainFormat::Dot => graph.to_dot(),
            }
        }
        (ExplainStage::Changelog, ExplainFormat::Text) => changelog(&graph),
        (ExplainStage::Changelog, _) => return Err(Error::unsupported("EXPLAIN (CHANGELOG) in this format").with_hint("use FORMAT TEXT")),
        (ExplainStage::State, _) => return Err(Error::unsupported("EXPLAIN (STATE)")),
        (ExplainStage::Logical, _) => return Err(Error::internal("the logical stage has no graph")),
    })
}

fn json<T: serde::Serialize>(value: &T) -> Result<String> {
    serde_json::to_string_pretty(value).map_err(Error::internal)
}

/// Operator, changes on its output, and the columns that identify a row.
fn changelog(graph: &StreamGraph) -> String {
    let lines = graph.nodes.iter().map(|n| {
        let key = match &n.upsert_key {
            Some(key) => {
                let names: Vec<_> = key.iter().filter_map(|&k| n.schema.columns.get(k)).map(|c| c.name.as_str()).collect();
                format!(" key=[{}]", names.join(", "))
            }
            None => String::new(),
        };
        format!("{}: {} {}{key}", n.id, n.spec.name(), n.changelog)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn logical(session: &Session, statement: &Statement, format: ExplainFormat, text: &str) -> Result<String> {
    let catalog = session.planner_catalog();
    let select = |query: &SelectStatement| bind_query(&catalog, &query.query, text);
    let plans = match statement {
        Statement::Query(query) => vec![select(query)?],
        Statement::CreateMaterializedView(s) => vec![select(&s.query)?],
        Statement::CreateView(s) => vec![select(&s.query)?],
        Statement::CreateStreamingJob(s) => {
            let inserts = s.body.inserts().iter().map(|i| streaming_job::insert(session, i)).collect::<Result<Vec<_>>>()?;
            inserts.iter().map(|(query, _, _)| select(query)).collect::<Result<Vec<_>>>()?
        }
        Statement::Update(s) => vec![change::plan_update(session, s, text)?],
        Statement::Delete(s) => vec![change::plan_delete(session, s, text)?],
        Statement::Insert(s) => match &s.insert.source {
            Some(query) => vec![select(&SelectStatement { query: query.clone(), emit: s.emit })?],
            None => return Err(Error::unsupported("EXPLAIN of INSERT DEFAULT VALUES")),
        },
        _ => return Err(Error::unsupported("EXPLAIN of this statement")),
    };
    let shown = plans.iter().map(|p| match format {
        ExplainFormat::Text => p.plan.display_indent().to_string(),
        ExplainFormat::Json => p.plan.display_pg_json().to_string(),
        ExplainFormat::Dot => p.plan.display_graphviz().to_string(),
    });
    Ok(shown.collect::<Vec<_>>().join("\n"))
}

/// What a statement would run as a stream. A SELECT is shown as the view over it.
fn planned(session: &Session, statement: &Statement, text: &str) -> Result<StreamGraph> {
    let catalog = session.planner_catalog();
    let job = JobId(0);
    let plan = match statement {
        Statement::CreateTable(s) => return table::graph(session, s, text),
        Statement::Query(query) => plan_view(&catalog, query, text, job, "query", &[], &JobSettings::new(session, &[])?.planner),
        Statement::CreateMaterializedView(s) => {
            let given: Vec<String> = s.columns.iter().map(|c| c.value.clone()).collect();
            let settings = JobSettings::new(session, &s.options)?;
            plan_view(&catalog, &s.query, text, job, &s.name.to_string(), &given, &settings.planner)
        }
        Statement::CreateStreamingJob(s) => {
            let inserts = s.body.inserts().iter().map(|i| streaming_job::insert(session, i)).collect::<Result<Vec<_>>>()?;
            let settings = JobSettings::new(session, &s.options)?;
            plan_job(&catalog, &inserts, text, job, &s.name.to_string(), &settings.planner)
        }
        Statement::Insert(s) => {
            let inserts = vec![streaming_job::insert(session, s)?];
            plan_job(&catalog, &inserts, text, job, "insert", &JobSettings::new(session, &[])?.planner)
        }
        _ => Err(Error::unsupported("EXPLAIN of this statement")),
    };
    Ok(plan?.graph)
}
