//! System relations: `ms_catalog`, `pg_catalog` and `information_schema`, computed when they are read.

mod information_schema;
mod ms_catalog;
mod pg_catalog;
mod table;

use std::sync::Arc;

use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use millstream_functions::from_datafusion;
use millstream_planner::{PlannerRelation, RelationKind};
use millstream_types::{ObjectId, Result, Schema};

use crate::catalog::Catalog;
use crate::database::Database;
pub(crate) use ms_catalog::{checkpoint_cells, checkpoint_columns, job_cells, job_columns, own_jobs};
pub(crate) use table::Rows as SystemRows;
use table::Rows;

/// A context for queries of `pg_catalog`, one per database.
///
/// # Errors
/// XX000 if it cannot be made.
pub(crate) fn catalog_context(catalog: &Arc<Catalog>, database: &str) -> Result<SessionContext> {
    pg_catalog::context(catalog, database)
}

/// Where system relations come from.
pub(crate) struct Source {
    pub(crate) db: Arc<Database>,
    pub(crate) settings: Vec<(&'static str, String, &'static str)>,
    pub(crate) database: String,
}

impl Source {
    /// The system relation of a name, if it is one.
    pub(crate) fn relation(&self, name: &[String]) -> Result<Option<PlannerRelation>> {
        let (schema, name) = match name {
            [schema, name] => (schema.as_str(), name.as_str()),
            [database, schema, name] if *database == self.database => (schema.as_str(), name.as_str()),
            _ => return Ok(None),
        };
        let rows: Option<Rows> = match schema {
            "ms_catalog" => ms_catalog::rows(self, name)?,
            "information_schema" => information_schema::rows(&self.db.catalog().snapshot(), &self.database, name),
            _ => None,
        };
        rows.map(|r| r.into_relation(name)).transpose()
    }
}

impl Rows {
    fn into_relation(self, name: &str) -> Result<PlannerRelation> {
        let batch = self.into_batch()?;
        let columns = Schema::from_arrow(&batch.schema())?.columns;
        let table = MemTable::try_new(batch.schema(), vec![vec![batch]]).map_err(from_datafusion)?;
        Ok(PlannerRelation {
            id: ObjectId(0),
            name: name.to_owned(),
            kind: RelationKind::System(Arc::new(table)),
            columns,
            hidden: vec![],
            key: None,
            append_only: false,
        })
    }
}
