//! Queries of `pg_catalog` from psql and drivers: DataFusion plans them itself, after rules that take PostgreSQL's peculiarities out.

use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::compute::cast;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::{DataFrame, SessionContext};
use datafusion::sql::parser::Statement as DfStatement;
use datafusion::sql::sqlparser::ast::{
    DataType, Expr, Function, FunctionArguments, Query, Statement as SqlStatement, visit_expressions, visit_expressions_mut,
    visit_relations,
};
use datafusion_pg_catalog::sql::PostgresCompatibilityParser;
use futures::{FutureExt, StreamExt};
use millstream_functions::from_datafusion;
use millstream_sql::Parsed;
use millstream_sql::statement::{SelectStatement, Statement};
use millstream_types::{Column, Error, Result, Schema, SqlType};

use super::Described;
use crate::catalog::parts;
use crate::pg::service::Response;
use crate::session::{Session, names};

static PARSER: LazyLock<PostgresCompatibilityParser> = LazyLock::new(PostgresCompatibilityParser::new);

/// Relations of the catalog that never have rows here.
const ALWAYS_EMPTY: [&str; 2] = ["pg_options_to_table", "pg_auth_members"];

/// Functions of PostgreSQL's catalog without `pg_` in front.
const FUNCTIONS: [&str; 10] = [
    "format_type",
    "obj_description",
    "shobj_description",
    "col_description",
    "has_table_privilege",
    "has_schema_privilege",
    "has_database_privilege",
    "has_any_column_privilege",
    "quote_ident",
    "current_schemas",
];

/// True if a query reads PostgreSQL's catalog, or calls functions that are only there, and reads nothing of the user's.
pub(super) fn is_one(session: &Session, query: &Query) -> bool {
    let (mut catalog, mut others) = (false, false);
    let _ = visit_relations(query, |name| {
        match parts(name).unwrap_or_default().as_slice() {
            [.., schema, _] if schema == "pg_catalog" => catalog = true,
            // The planner reads these too, so they do not decide.
            [.., schema, _] if schema == "information_schema" => (),
            [.., schema, _] if schema == "ms_catalog" => others = true,
            found => match (is_object(session, found), found) {
                (true, _) => others = true,
                (false, [name]) if name.starts_with("pg_") => catalog = true,
                // A WITH query, or nothing.
                (false, _) => (),
            },
        }
        ControlFlow::<()>::Continue(())
    });
    if others {
        return false;
    }
    let _ = visit_expressions(query, |expr| {
        catalog |= is_catalog_expression(expr);
        ControlFlow::<()>::Continue(())
    });
    catalog
}

fn is_object(session: &Session, parts: &[String]) -> bool {
    let state = session.db.catalog().snapshot();
    names::find(&state, &session.database, &session.settings.search_path(), parts).is_ok_and(|o| o.is_some())
}

fn is_catalog_expression(expr: &Expr) -> bool {
    match expr {
        Expr::Function(function) => match parts(&function.name).unwrap_or_default().as_slice() {
            [schema, _] => schema == "pg_catalog",
            [name] => name.starts_with("pg_") || FUNCTIONS.contains(&name.as_str()),
            _ => false,
        },
        Expr::Cast { data_type: DataType::Regclass, .. } => true,
        Expr::Cast { data_type: DataType::Custom(name, _), .. } => {
            parts(name).unwrap_or_default().last().is_some_and(|n| n.starts_with("reg") || n == "oid")
        }
        _ => false,
    }
}

/// The text that the crate's rules start from: the client's own if it still says what the tree says (some rules look for whole texts of
/// known clients), else the tree's.
fn source_text(select: &SelectStatement, text: &str) -> String {
    let unchanged = |p: &[Parsed]| matches!(p, [Parsed { statement: Statement::Query(s), .. }] if s.query == select.query);
    if millstream_sql::parse(text).is_ok_and(|p| unchanged(&p)) { text.to_owned() } else { select.query.to_string() }
}

/// `ARRAY(SELECT ...)`, which DataFusion does not have, as an aggregate over the query. Over what is always empty here it is the empty
/// array: those queries call table functions that DataFusion does not have either.
fn replace_array_queries(statement: &mut SqlStatement) -> Result<()> {
    let done = visit_expressions_mut(statement, |expr| {
        let Expr::Function(Function { name, args: FunctionArguments::Subquery(query), .. }) = expr else {
            return ControlFlow::Continue(());
        };
        if !name.to_string().eq_ignore_ascii_case("array") {
            return ControlFlow::Continue(());
        }
        let empty = visit_relations(query.as_ref(), |relation| {
            let last = parts(relation).ok().and_then(|p| p.last().cloned()).unwrap_or_default();
            if ALWAYS_EMPTY.contains(&last.as_str()) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .is_break();
        let text = if empty { "CAST(make_array() AS TEXT[])".to_owned() } else { format!("(SELECT array_agg(c) FROM ({query}) AS q (c))") };
        match millstream_sql::parse_expression(&text) {
            Ok(replaced) => {
                *expr = replaced;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    });
    match done {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

async fn plan(context: &SessionContext, select: &SelectStatement, text: &str) -> Result<LogicalPlan> {
    let mut statements = PARSER.parse(&source_text(select, text)).map_err(|e| from_datafusion(e.into()))?;
    let mut statement = statements.pop().ok_or_else(|| Error::internal("a query without a statement"))?;
    replace_array_queries(&mut statement)?;
    context.state().statement_to_plan(DfStatement::Statement(Box::new(statement))).await.map_err(from_datafusion)
}

fn schema(plan: &LogicalPlan) -> Schema {
    let column = |f: &Arc<arrow::datatypes::Field>| {
        let sql_type = SqlType::from_arrow(f.data_type()).unwrap_or(SqlType::Text);
        Column::new(f.name(), if sql_type == SqlType::Unknown { SqlType::Text } else { sql_type })
    };
    Schema::new(plan.schema().fields().iter().map(column).collect())
}

/// Parameters and columns. Parameters of catalog queries are text: DataFusion casts them.
pub(super) fn describe(session: &Session, select: &SelectStatement, text: &str) -> Result<Described> {
    let context = session.db.catalog_context(&session.database)?;
    // Relations of the catalog are in memory: planning never waits.
    let planned = plan(&context, select, text).now_or_never().ok_or_else(|| Error::internal("the catalog made a plan wait"))?;
    Ok(Described { params: vec![], columns: Some(schema(&planned?)) })
}

pub(super) async fn run(session: &Session, select: &SelectStatement, text: &str) -> Result<Response> {
    let context = session.db.catalog_context(&session.database)?;
    let planned = plan(&context, select, text).await?;
    let schema = schema(&planned);
    let rows = DataFrame::new(context.state(), planned).execute_stream().await.map_err(from_datafusion)?;
    let target = schema.to_arrow();
    let announced = Arc::clone(&target);
    let rows = rows.map(move |batch| {
        let batch = batch?;
        let columns = batch.columns().iter().zip(target.fields()).map(|(c, f)| cast(c, f.data_type())).collect::<Result<_, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&target), columns, &options)?)
    });
    Ok(Response::Rows { schema, stream: Box::pin(RecordBatchStreamAdapter::new(announced, rows)) })
}
