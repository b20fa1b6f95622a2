//! A catalog for tests: a table with a key, one without, a source, a view, a materialized view.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::collect;
use millstream_functions::{from_datafusion, from_datafusion_in, to_text};
use millstream_types::{Column, ObjectId, Result, Schema, SqlType};

use crate::catalog::{PlannerCatalog, PlannerRelation, RelationKind};
use crate::{batch, bind_query};

pub(crate) struct TestCatalog;

fn columns(list: &[(&str, SqlType)]) -> Vec<Column> {
    list.iter().map(|(n, t)| Column::new(*n, t.clone())).collect()
}

fn relation(id: u64, name: &str, kind: RelationKind, list: &[(&str, SqlType)]) -> PlannerRelation {
    PlannerRelation { id: ObjectId(id), name: name.into(), kind, columns: columns(list), hidden: vec![], key: None, append_only: false }
}

impl PlannerCatalog for TestCatalog {
    fn resolve(&self, name: &[String]) -> Result<Option<PlannerRelation>> {
        use SqlType::{BigInt, Boolean, Double, Integer, Text, Timestamp};
        let name = name.last().map_or("", String::as_str);
        Ok(Some(match name {
            "orders" => PlannerRelation {
                key: Some(vec![0]),
                ..relation(
                    1,
                    name,
                    RelationKind::Table,
                    &[("id", BigInt), ("city", Text), ("amount", Integer), ("paid", Boolean), ("rate", Double)],
                )
            },
            "log" => PlannerRelation {
                hidden: columns(&[("_row_id", BigInt)]),
                key: Some(vec![2]),
                ..relation(2, name, RelationKind::Table, &[("at", Timestamp), ("line", Text)])
            },
            "bid" => {
                let kind = RelationKind::Source { connector: "nexmark".into(), options: BTreeMap::new() };
                let list = [("auction", BigInt), ("bidder", BigInt), ("price", BigInt), ("channel", Text)];
                PlannerRelation { append_only: true, ..relation(3, name, kind, &list) }
            }
            "big" => {
                let kind = RelationKind::View { query: "SELECT id, city, amount * 2 FROM orders WHERE amount > 100".into() };
                relation(4, name, kind, &[("id", BigInt), ("city", Text), ("double_amount", Integer)])
            }
            "moment" => {
                let kind = RelationKind::View { query: "SELECT id, now() AS at FROM orders".into() };
                relation(5, name, kind, &[("id", BigInt), ("at", SqlType::TimestampTz)])
            }
            "pair" => {
                let kind = RelationKind::View { query: "SELECT a.id, b.line FROM orders AS a JOIN log AS b ON a.city = b.line".into() };
                relation(6, name, kind, &[("id", BigInt), ("line", Text)])
            }
            _ => return Ok(None),
        }))
    }
}

/// Rows of `orders`: (1, a, 10, true, 1.5), (2, b, NULL, false, NaN), (3, a, 0, NULL, -0).
fn orders() -> Result<RecordBatch> {
    let schema = columns(&[
        ("id", SqlType::BigInt),
        ("city", SqlType::Text),
        ("amount", SqlType::Integer),
        ("paid", SqlType::Boolean),
        ("rate", SqlType::Double),
    ]);
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![1, 2, 3])),
        Arc::new(StringArray::from(vec!["a", "b", "a"])),
        Arc::new(Int32Array::from(vec![Some(10), None, Some(0)])),
        Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])),
        Arc::new(Float64Array::from(vec![1.5, f64::NAN, -0.0])),
    ];
    Ok(RecordBatch::try_new(Schema::new(schema).to_arrow(), arrays)?)
}

fn provider(relation: &PlannerRelation) -> Result<Arc<dyn TableProvider>> {
    let (schema, rows) = match relation.name.as_str() {
        "orders" => {
            let rows = orders()?;
            (rows.schema(), vec![rows])
        }
        _ => (relation.visible_schema().to_arrow(), vec![]),
    };
    MemTable::try_new(schema, vec![rows]).map(|t| Arc::new(t) as Arc<dyn TableProvider>).map_err(from_datafusion)
}

/// Runs a query as an ad hoc read: names of its columns, then its rows, values parted by `|`.
pub(crate) async fn run(sql: &str) -> Result<Vec<String>> {
    let query = millstream_sql::parse_query(sql)?;
    let bound = bind_query(&catalog(), &query.query, sql)?;
    let mut lines = vec![bound.schema.columns.iter().map(|c| format!("{} {}", c.name, c.sql_type)).collect::<Vec<_>>().join("|")];
    lines.extend(rows(bound.plan, sql).await?);
    Ok(lines)
}

/// Runs a plan.
pub(crate) async fn rows(plan: LogicalPlan, sql: &str) -> Result<Vec<String>> {
    let plan = batch::with_rows(plan, &|relation, _| provider(relation))?;
    let state = batch::session_state(Arc::new(RuntimeEnv::default()));
    let failed = |e| from_datafusion_in(sql, e);
    let physical = state.create_physical_plan(&plan).await.map_err(failed)?;
    let batches = collect(physical, state.task_ctx()).await.map_err(failed)?;
    let mut lines = vec![];
    for batch in &batches {
        let texts = batch.columns().iter().map(to_text).collect::<Result<Vec<_>>>()?;
        let value = |t: &StringArray, row| if t.is_null(row) { "NULL".to_owned() } else { t.value(row).to_owned() };
        lines.extend((0..batch.num_rows()).map(|row| texts.iter().map(|t| value(t, row)).collect::<Vec<_>>().join("|")));
    }
    Ok(lines)
}

pub(crate) fn catalog() -> Arc<dyn PlannerCatalog> {
    Arc::new(TestCatalog)
}
