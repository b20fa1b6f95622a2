//! A database as DataFusion's catalog provider: the system schemas, and user schemas whose relations have columns but no rows here.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, SchemaProvider, TableProvider};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::datasource::MemTable;
use parking_lot::RwLock;

use super::super::{information_schema, table::Rows};
use crate::catalog::{Catalog, CatalogState};

/// A database.
#[derive(Debug)]
pub(super) struct SystemCatalog {
    catalog: Arc<Catalog>,
    database: String,
    /// `pg_catalog`, registered by the crate.
    registered: RwLock<BTreeMap<String, Arc<dyn SchemaProvider>>>,
}

impl SystemCatalog {
    pub(super) fn new(catalog: Arc<Catalog>, database: &str) -> Self {
        SystemCatalog { catalog, database: database.to_owned(), registered: RwLock::default() }
    }
}

impl CatalogProvider for SystemCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.registered.read().keys().cloned().chain(["information_schema".to_owned()]).collect()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let rows: fn(&CatalogState, &str, &str) -> Option<Rows> = match name {
            "pg_catalog" => super::rows,
            "information_schema" => information_schema::rows,
            _ => return None,
        };
        let behind = self.registered.read().get(name).cloned();
        Some(Arc::new(SystemSchema { catalog: Arc::clone(&self.catalog), database: self.database.clone(), rows, behind }))
    }

    fn register_schema(&self, name: &str, schema: Arc<dyn SchemaProvider>) -> DfResult<Option<Arc<dyn SchemaProvider>>> {
        Ok(self.registered.write().insert(name.to_owned(), schema))
    }
}

/// A system schema: our relations, then those of the crate.
#[derive(Debug)]
struct SystemSchema {
    catalog: Arc<Catalog>,
    database: String,
    rows: fn(&CatalogState, &str, &str) -> Option<Rows>,
    behind: Option<Arc<dyn SchemaProvider>>,
}

#[async_trait]
impl SchemaProvider for SystemSchema {
    fn table_names(&self) -> Vec<String> {
        match &self.behind {
            Some(behind) => behind.table_names(),
            None => information_schema::NAMES.map(str::to_owned).to_vec(),
        }
    }

    async fn table(&self, name: &str) -> DfResult<Option<Arc<dyn TableProvider>>> {
        if let Some(rows) = (self.rows)(&self.catalog.snapshot(), &self.database, name) {
            let batch = rows.into_batch().map_err(|e| DataFusionError::External(Box::new(e)))?;
            return Ok(Some(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?)));
        }
        match &self.behind {
            Some(behind) => behind.table(name).await,
            None => Ok(None),
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        self.table_names().iter().any(|n| n == name)
    }
}
