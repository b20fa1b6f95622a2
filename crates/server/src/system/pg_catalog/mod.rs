//! `pg_catalog`: what psql and drivers ask of PostgreSQL's catalog. Relations that show our objects are ours; types, functions and the
//! rest come from the datafusion-pg-catalog crate, as do the rules that turn PostgreSQL's catalog queries into ones DataFusion runs.

mod attributes;
mod classes;
mod constraints;
mod foreign;
mod functions;
mod namespaces;
mod oids;
mod schema;
mod views;

use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_pg_catalog::pg_catalog::setup_pg_catalog;
use millstream_functions::from_datafusion;
use millstream_types::Result;

use super::table::Rows;
use crate::catalog::{Catalog, CatalogState, DEFAULT_SCHEMA};
use schema::SystemCatalog;

/// The rows of a relation that shows our objects; `None` for the others.
fn rows(state: &CatalogState, database: &str, name: &str) -> Option<Rows> {
    Some(match name {
        "pg_namespace" => namespaces::pg_namespace(state, database),
        "pg_database" => namespaces::pg_database(state),
        "pg_roles" => namespaces::pg_roles(state),
        "pg_class" => classes::pg_class(state, database),
        "pg_attribute" => attributes::pg_attribute(state, database),
        "pg_attrdef" => attributes::pg_attrdef(state, database),
        "pg_index" => constraints::pg_index(state, database),
        "pg_constraint" => constraints::pg_constraint(state, database),
        "pg_foreign_server" => foreign::pg_foreign_server(state, database),
        "pg_foreign_table" => foreign::pg_foreign_table(state, database),
        "pg_tables" => views::pg_tables(state, database),
        "pg_views" => views::pg_views(state, database),
        "pg_matviews" => views::pg_matviews(state, database),
        _ => return None,
    })
}

/// A DataFusion context in which catalog queries of one database run. Its relations read the catalog when they are scanned.
///
/// # Errors
/// XX000 if the crate's tables cannot be read.
pub(super) fn context(catalog: &Arc<Catalog>, database: &str) -> Result<SessionContext> {
    let mut config = SessionConfig::new()
        .with_target_partitions(1)
        .with_default_catalog_and_schema(database, DEFAULT_SCHEMA)
        .with_create_default_catalog_and_schema(false);
    config.options_mut().sql_parser.map_string_types_to_utf8view = false;
    let context = SessionContext::new_with_config(config);
    let schemas = Arc::new(SystemCatalog::new(Arc::clone(catalog), database));
    context.register_catalog(database, Arc::clone(&schemas) as _);
    setup_pg_catalog(&context, database, EmptyContextProvider).map_err(|e: Box<DataFusionError>| from_datafusion(*e))?;
    functions::register(&context, catalog);
    Ok(context)
}
