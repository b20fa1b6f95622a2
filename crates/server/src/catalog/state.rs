//! One version of the catalog.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use millstream_sql::catalog::ObjectDescriptor;
use millstream_types::{Error, ObjectId, Result, SqlState};

use super::names::{DEFAULT_DATABASE, DEFAULT_SCHEMA, QualifiedName, SYSTEM_SCHEMAS};

/// Databases with their schemas, objects by number and by name.
#[derive(Clone, Debug, Default)]
pub struct CatalogState {
    databases: BTreeMap<String, BTreeSet<String>>,
    objects: BTreeMap<ObjectId, Arc<ObjectDescriptor>>,
    /// Names with the object, or `None` while a CREATE is at work.
    names: BTreeMap<QualifiedName, Option<ObjectId>>,
    last_id: u64,
}

impl CatalogState {
    pub(super) fn new() -> Self {
        let mut state = CatalogState { last_id: 100, ..CatalogState::default() };
        state.databases.insert(DEFAULT_DATABASE.into(), BTreeSet::from([DEFAULT_SCHEMA.to_owned()]));
        state
    }

    /// The catalog of an earlier process: databases with their schemas, all objects, the number of the newest one ever made.
    pub(super) fn restored(databases: BTreeMap<String, BTreeSet<String>>, objects: Vec<ObjectDescriptor>, last_id: u64) -> Self {
        let mut state = CatalogState { databases, last_id, ..CatalogState::default() };
        for object in objects {
            state.last_id = state.last_id.max(object.id.0);
            state.publish(object);
        }
        state
    }

    /// Databases with their schemas.
    pub(super) fn namespaces(&self) -> &BTreeMap<String, BTreeSet<String>> {
        &self.databases
    }

    /// The number of the newest object, also if it is gone.
    pub(super) fn last_id(&self) -> u64 {
        self.last_id
    }

    /// The objects of all databases, by number.
    pub fn all_objects(&self) -> impl Iterator<Item = &Arc<ObjectDescriptor>> {
        self.objects.values()
    }

    /// True if the database exists.
    pub fn has_database(&self, name: &str) -> bool {
        self.databases.contains_key(name)
    }

    /// All databases.
    pub fn databases(&self) -> impl Iterator<Item = &str> {
        self.databases.keys().map(String::as_str)
    }

    /// The schemas of a database that users can change.
    pub fn schemas(&self, database: &str) -> impl Iterator<Item = &str> {
        self.databases.get(database).into_iter().flatten().map(String::as_str)
    }

    /// An object by number.
    pub fn object(&self, id: ObjectId) -> Option<&Arc<ObjectDescriptor>> {
        self.objects.get(&id)
    }

    /// An object by name.
    pub fn find(&self, name: &QualifiedName) -> Option<&Arc<ObjectDescriptor>> {
        self.names.get(name).copied().flatten().and_then(|id| self.objects.get(&id))
    }

    /// The objects of a database, by schema and name.
    pub fn objects(&self, database: &str) -> impl Iterator<Item = &Arc<ObjectDescriptor>> {
        let ids = self.names.iter().filter(move |(n, _)| n.database == database).filter_map(|(_, id)| *id);
        ids.filter_map(|id| self.objects.get(&id))
    }

    /// Objects that need `id` directly.
    pub fn dependents(&self, id: ObjectId) -> impl Iterator<Item = &Arc<ObjectDescriptor>> {
        self.objects.values().filter(move |o| o.depends_on.contains(&id))
    }

    /// `roots` and everything that needs them, dependents first.
    pub fn closure(&self, roots: &[ObjectId]) -> Vec<ObjectId> {
        let mut found = vec![];
        for root in roots {
            self.visit(*root, &mut found);
        }
        found
    }

    fn visit(&self, id: ObjectId, found: &mut Vec<ObjectId>) {
        if found.contains(&id) {
            return;
        }
        for dependent in self.dependents(id).map(|o| o.id).collect::<Vec<_>>() {
            self.visit(dependent, found);
        }
        if !found.contains(&id) {
            found.push(id);
        }
    }

    pub(super) fn reserve(&mut self, name: &QualifiedName) -> Result<ObjectId> {
        let schemas = self.databases.get(&name.database).ok_or_else(|| no_database(&name.database))?;
        if SYSTEM_SCHEMAS.contains(&name.schema.as_str()) {
            return Err(Error::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("schema \"{}\" cannot be changed", name.schema)));
        }
        if !schemas.contains(&name.schema) {
            return Err(no_schema(&name.schema));
        }
        if self.names.contains_key(name) {
            return Err(Error::new(SqlState::DUPLICATE_TABLE, format!("relation \"{}\" already exists", name.name)));
        }
        self.last_id += 1;
        self.names.insert(name.clone(), None);
        Ok(ObjectId(self.last_id))
    }

    pub(super) fn publish(&mut self, descriptor: ObjectDescriptor) {
        let name =
            QualifiedName { database: descriptor.database.clone(), schema: descriptor.schema.clone(), name: descriptor.name.clone() };
        self.names.insert(name, Some(descriptor.id));
        self.objects.insert(descriptor.id, Arc::new(descriptor));
    }

    pub(super) fn release(&mut self, name: &QualifiedName) {
        self.names.remove(name);
    }

    pub(super) fn remove(&mut self, ids: &[ObjectId]) -> Result<()> {
        for id in ids {
            if let Some(dependent) = self.dependents(*id).find(|d| !ids.contains(&d.id)) {
                return Err(Error::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, "cannot drop an object because others depend on it")
                    .with_detail(format!("{} \"{}\" depends on it.", dependent.kind.object_type(), dependent.name)));
            }
        }
        self.objects.retain(|id, _| !ids.contains(id));
        self.names.retain(|_, id| id.is_none_or(|id| !ids.contains(&id)));
        Ok(())
    }

    pub(super) fn create_database(&mut self, name: &str) -> Result<()> {
        if self.has_database(name) {
            return Err(Error::new(SqlState::DUPLICATE_DATABASE, format!("database \"{name}\" already exists")));
        }
        self.databases.insert(name.into(), BTreeSet::from([DEFAULT_SCHEMA.to_owned()]));
        Ok(())
    }

    pub(super) fn create_schema(&mut self, database: &str, name: &str) -> Result<()> {
        let schemas = self.databases.get_mut(database).ok_or_else(|| no_database(database))?;
        if SYSTEM_SCHEMAS.contains(&name) || !schemas.insert(name.into()) {
            return Err(Error::new(SqlState::DUPLICATE_SCHEMA, format!("schema \"{name}\" already exists")));
        }
        Ok(())
    }

    pub(super) fn drop_database(&mut self, name: &str) -> Result<()> {
        if !self.has_database(name) {
            return Err(no_database(name));
        }
        if self.names.keys().any(|n| n.database == name) {
            return Err(Error::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, format!("database \"{name}\" is not empty"))
                .with_hint("use DROP DATABASE ... CASCADE to drop its objects too"));
        }
        self.databases.remove(name);
        Ok(())
    }

    pub(super) fn drop_schema(&mut self, database: &str, name: &str) -> Result<()> {
        if self.names.keys().any(|n| n.database == database && n.schema == name) {
            return Err(Error::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, format!("schema \"{name}\" is not empty"))
                .with_hint("use DROP SCHEMA ... CASCADE to drop its objects too"));
        }
        let removed = self.databases.get_mut(database).is_some_and(|s| s.remove(name));
        if removed { Ok(()) } else { Err(no_schema(name)) }
    }
}

fn no_database(name: &str) -> Error {
    Error::new(SqlState::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist"))
}

fn no_schema(name: &str) -> Error {
    Error::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist"))
}
