//! RETURNING: a SELECT over the rows that were written.

use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::datasource::MemTable;
use datafusion::sql::sqlparser::ast::{Ident, ObjectName, ObjectNamePart, Query, SelectItem, SetExpr, TableFactor};
use millstream_functions::from_datafusion;
use millstream_planner::{PlannerCatalog, PlannerRelation, RelationKind, bind_query};
use millstream_types::{Error, Result, Schema};

use super::{query, rows};
use crate::pg::service::Response;
use crate::session::Session;

/// The written rows under the table's name; everything else is not there.
struct Written(PlannerRelation);

impl PlannerCatalog for Written {
    fn resolve(&self, name: &[String]) -> Result<Option<PlannerRelation>> {
        Ok((name.last() == Some(&self.0.name)).then(|| self.0.clone()))
    }
}

fn select(table: &str, items: &[SelectItem]) -> Result<Query> {
    let mut query = *millstream_sql::parse_query("SELECT 1 FROM t")?.query;
    let SetExpr::Select(select) = query.body.as_mut() else { return Err(Error::internal("SELECT is no SELECT")) };
    select.projection = items.to_vec();
    for from in &mut select.from {
        if let TableFactor::Table { name, .. } = &mut from.relation {
            *name = ObjectName(vec![ObjectNamePart::Identifier(Ident::with_quote('"', table))]);
        }
    }
    Ok(query)
}

/// The columns of RETURNING.
pub(super) fn schema(_: &Session, table: &PlannerRelation, items: &[SelectItem], text: &str) -> Result<Schema> {
    let catalog: Arc<dyn PlannerCatalog> = Arc::new(Written(table.clone()));
    Ok(bind_query(&catalog, &select(&table.name, items)?, text)?.schema)
}

/// Answers with RETURNING over `written` (visible columns).
pub(super) async fn run(
    session: &Session,
    table: &PlannerRelation,
    items: &[SelectItem],
    written: RecordBatch,
    tag: String,
    text: &str,
) -> Result<Response> {
    let memory = MemTable::try_new(table.visible_schema().to_arrow(), vec![vec![written]]).map_err(from_datafusion)?;
    let relation = PlannerRelation { kind: RelationKind::System(Arc::new(memory)), hidden: vec![], ..table.clone() };
    let catalog: Arc<dyn PlannerCatalog> = Arc::new(Written(relation));
    let bound = bind_query(&catalog, &select(&table.name, items)?, text)?;
    let schema = bound.schema.clone();
    let batches = query::collect(session, bound, None, text).await?;
    Ok(rows::tagged(schema, batches, tag))
}
