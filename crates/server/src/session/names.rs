//! Names in a session: database and search path, for statements and for the planner.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast::ObjectName;
use millstream_planner::{PlannerCatalog, PlannerRelation, RelationKind};
use millstream_sql::catalog::{ConnectorDescriptor, ObjectDescriptor, ObjectKind, ROW_ID_COLUMN};
use millstream_types::{Column, Error, ObjectId, Result, SqlState, SqlType};

use super::Session;
use crate::catalog::{CatalogState, DEFAULT_SCHEMA, QualifiedName, SYSTEM_SCHEMAS, parts};
use crate::system;

impl Session {
    /// The full name of a new object.
    pub(crate) fn new_name(&self, name: &ObjectName) -> Result<QualifiedName> {
        let schema = || self.settings.search_path().into_iter().find(|s| !SYSTEM_SCHEMAS.contains(&s.as_str()));
        let parts = parts(name)?;
        let (database, schema, name) = match parts.as_slice() {
            [name] => (self.database.clone(), schema().unwrap_or_else(|| DEFAULT_SCHEMA.into()), name),
            [schema, name] => (self.database.clone(), schema.clone(), name),
            [database, schema, name] => (database.clone(), schema.clone(), name),
            _ => return Err(Error::new(SqlState::INVALID_NAME, "a name has at most three parts")),
        };
        if database != self.database {
            return Err(other_database());
        }
        Ok(QualifiedName { database, schema, name: name.clone() })
    }

    /// An existing object.
    ///
    /// # Errors
    /// 42P01 (42704 for a job) if there is none.
    pub(crate) fn object(&self, name: &ObjectName, what: &str) -> Result<Arc<ObjectDescriptor>> {
        let parts = parts(name)?;
        let state = self.db.catalog().snapshot();
        let found = find(&state, &self.database, &self.settings.search_path(), &parts)?;
        found.cloned().ok_or_else(|| {
            let state = if what == "streaming job" { SqlState::UNDEFINED_OBJECT } else { SqlState::UNDEFINED_TABLE };
            Error::new(state, format!("{what} \"{}\" does not exist", parts.join(".")))
        })
    }

    /// The catalog for the planner, as it is now.
    pub(crate) fn planner_catalog(&self) -> Arc<dyn PlannerCatalog> {
        Arc::new(SessionCatalog {
            state: self.db.catalog().snapshot(),
            system: system::Source { db: Arc::clone(&self.db), settings: self.settings.all(), database: self.database.clone() },
            database: self.database.clone(),
            search_path: self.settings.search_path(),
        })
    }
}

fn other_database() -> Error {
    Error::unsupported("reaching into another database").with_hint("connect to that database")
}

/// An object by the parts of its name.
pub(crate) fn find<'a>(
    state: &'a CatalogState,
    database: &str,
    path: &[String],
    parts: &[String],
) -> Result<Option<&'a Arc<ObjectDescriptor>>> {
    let named = |schema: &str, name: &str| QualifiedName { database: database.into(), schema: schema.into(), name: name.into() };
    Ok(match parts {
        [name] => path.iter().find_map(|schema| state.find(&named(schema, name))),
        [schema, name] => state.find(&named(schema, name)),
        [other, _, _] if other != database => return Err(other_database()),
        [_, schema, name] => state.find(&named(schema, name)),
        _ => return Err(Error::new(SqlState::INVALID_NAME, "a name has at most three parts")),
    })
}

struct SessionCatalog {
    state: Arc<CatalogState>,
    system: system::Source,
    database: String,
    search_path: Vec<String>,
}

impl PlannerCatalog for SessionCatalog {
    fn resolve(&self, name: &[String]) -> Result<Option<PlannerRelation>> {
        if let Some(relation) = self.system.relation(name)? {
            return Ok(Some(relation));
        }
        find(&self.state, &self.database, &self.search_path, name)?.map(|o| relation(o)).transpose()
    }
}

/// An object as the planner sees it.
///
/// # Errors
/// 42809 for a sink or a job.
pub(crate) fn relation(object: &ObjectDescriptor) -> Result<PlannerRelation> {
    let columns: Vec<Column> = object.kind.columns().iter().map(|c| c.column.clone()).collect();
    let base = |kind| PlannerRelation {
        id: object.id,
        name: object.name.clone(),
        kind,
        columns: columns.clone(),
        hidden: vec![],
        key: None,
        append_only: false,
    };
    Ok(match &object.kind {
        ObjectKind::Table(table) => {
            let hidden = if table.hidden_row_id { vec![Column::new(ROW_ID_COLUMN, SqlType::BigInt)] } else { vec![] };
            PlannerRelation { hidden, key: Some(table.primary_key.clone()), ..base(RelationKind::Table) }
        }
        ObjectKind::MaterializedView(view) => {
            PlannerRelation { key: view.key.clone(), append_only: view.append_only, ..base(RelationKind::MaterializedView) }
        }
        ObjectKind::View(view) => base(RelationKind::View { query: view.query.clone() }),
        ObjectKind::Source(source) => {
            let (connector, options) = connector(&source.connector);
            PlannerRelation { append_only: true, ..base(RelationKind::Source { connector, options }) }
        }
        ObjectKind::Sink(_) | ObjectKind::StreamingJob(_) => {
            let message = format!("cannot read from {} \"{}\"", object.kind.object_type(), object.name);
            return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
    })
}

/// The connector's name and its other options; FORMAT and ENCODE are options like others.
pub(crate) fn connector(descriptor: &ConnectorDescriptor) -> (String, std::collections::BTreeMap<String, String>) {
    let mut options = descriptor.options.clone();
    let name = options.remove("connector").unwrap_or_default();
    if let Some(encode) = &descriptor.encode {
        options.entry("format".into()).or_insert_with(|| encode.clone());
    }
    options.extend(descriptor.encode_options.clone());
    (name, options)
}

/// Jobs that a read of these objects needs: tables and materialized views.
pub(crate) fn jobs(state: &CatalogState, ids: &[ObjectId]) -> Vec<millstream_types::JobId> {
    let has_job =
        |id: &&ObjectId| state.object(**id).is_some_and(|o| matches!(o.kind, ObjectKind::Table(_) | ObjectKind::MaterializedView(_)));
    ids.iter().filter(has_job).map(|id| millstream_types::JobId(id.0)).collect()
}
