//! The catalog in the metadata store: an object is a value, so are the schemas of a database. A new version is written as the difference to
//! the one before, in one commit.
//!
//! Names that a running CREATE holds are not written: after a crash they are free again. Numbers of objects are never used twice: the
//! newest one is written with every object, and jobs of objects that were not published are removed at the next start.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use millstream_sql::catalog::ObjectDescriptor;
use millstream_state::{MetadataStore, MetadataWrite};
use millstream_types::faults::crash_point;
use millstream_types::{Error, Result, SqlState};
use parking_lot::{Mutex, RwLock};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{CatalogState, CatalogStore};

/// Version of the values that this binary writes.
const VERSION: u16 = 1;
const OBJECTS: &str = "catalog/object/";
const DATABASES: &str = "catalog/database/";
const LAST_ID: &str = "catalog/last_id";

/// A value with the version that is looked at before the rest.
#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    version: u16,
    value: T,
}

/// Keeps the newest version in memory and in the metadata store.
#[derive(Debug)]
pub struct DurableStore {
    newest: RwLock<Arc<CatalogState>>,
    metadata: Arc<dyn MetadataStore>,
    /// Held while a version is written; readers go on with the one before.
    writing: Mutex<()>,
}

impl DurableStore {
    /// Reads the catalog; an empty store gets the default one.
    ///
    /// # Errors
    /// XX001 for values that cannot be read, or of a newer version.
    pub fn open(metadata: Arc<dyn MetadataStore>) -> Result<Self> {
        let mut databases = BTreeMap::new();
        for (key, found) in metadata.scan(DATABASES)? {
            let schemas: BTreeSet<String> = decode(&key, &found.value)?;
            databases.insert(key[DATABASES.len()..].to_owned(), schemas);
        }
        let state = if databases.is_empty() {
            let state = CatalogState::new();
            metadata.commit(&[], difference(&CatalogState::default(), &state)?)?;
            state
        } else {
            let stored = metadata.scan(OBJECTS)?;
            let objects = stored.iter().map(|(key, found)| decode::<ObjectDescriptor>(key, &found.value));
            let last_id = metadata.get(LAST_ID)?.map(|found| decode(LAST_ID, &found.value)).transpose()?.unwrap_or_default();
            CatalogState::restored(databases, objects.collect::<Result<_>>()?, last_id)
        };
        Ok(DurableStore { newest: RwLock::new(Arc::new(state)), metadata, writing: Mutex::new(()) })
    }
}

impl CatalogStore for DurableStore {
    fn load(&self) -> Arc<CatalogState> {
        Arc::clone(&self.newest.read())
    }

    fn compare_and_set(&self, current: &Arc<CatalogState>, next: CatalogState) -> Result<bool> {
        let _writing = self.writing.lock();
        if !Arc::ptr_eq(&self.newest.read(), current) {
            return Ok(false);
        }
        let writes = difference(current, &next)?;
        if !writes.is_empty() {
            let grows = next.all_objects().count() > current.all_objects().count();
            if grows {
                crash_point("create-before-publish");
            }
            self.metadata.commit(&[], writes)?;
            crash_point(if grows { "create-published" } else { "drop-unpublished" });
        }
        *self.newest.write() = Arc::new(next);
        Ok(true)
    }
}

fn difference(before: &CatalogState, after: &CatalogState) -> Result<Vec<MetadataWrite>> {
    let mut writes = vec![];
    for (name, schemas) in after.namespaces() {
        if before.namespaces().get(name) != Some(schemas) {
            writes.push(MetadataWrite::Put(format!("{DATABASES}{name}"), encode(schemas)?));
        }
    }
    let gone = before.namespaces().keys().filter(|name| !after.namespaces().contains_key(*name));
    writes.extend(gone.map(|name| MetadataWrite::Delete(format!("{DATABASES}{name}"))));
    for object in after.all_objects() {
        if before.object(object.id).is_none_or(|known| !Arc::ptr_eq(known, object)) {
            writes.push(MetadataWrite::Put(key(object), encode(object.as_ref())?));
        }
    }
    let gone = before.all_objects().filter(|o| after.object(o.id).is_none());
    writes.extend(gone.map(|o| MetadataWrite::Delete(key(o))));
    if !writes.is_empty() {
        writes.push(MetadataWrite::Put(LAST_ID.into(), encode(&after.last_id())?));
    }
    Ok(writes)
}

fn key(object: &ObjectDescriptor) -> String {
    format!("{OBJECTS}{:020}", object.id.0)
}

fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(&Versioned { version: VERSION, value }).map_err(Error::internal)
}

fn decode<T: DeserializeOwned>(key: &str, bytes: &[u8]) -> Result<T> {
    #[derive(Deserialize)]
    struct Fence {
        version: u16,
    }
    let wrong = |e: serde_json::Error| Error::new(SqlState::DATA_CORRUPTED, format!("\"{key}\" cannot be read")).with_detail(e.to_string());
    let Fence { version } = serde_json::from_slice(bytes).map_err(wrong)?;
    if version > VERSION {
        return Err(Error::new(SqlState::DATA_CORRUPTED, format!("\"{key}\" was written by a newer version of Millstream"))
            .with_detail(format!("It has version {version}, this binary knows up to {VERSION}.")));
    }
    serde_json::from_slice(bytes).map(|v: Versioned<T>| v.value).map_err(wrong)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use millstream_state::MemoryMetadata;

    use super::*;
    use crate::catalog::{Catalog, QualifiedName};

    #[test]
    fn a_catalog_comes_back_without_names_that_were_only_reserved() {
        let metadata: Arc<dyn MetadataStore> = Arc::new(MemoryMetadata::default());
        let open = || Arc::new(Catalog::new(DurableStore::open(Arc::clone(&metadata)).unwrap()));
        let name = |name: &str| QualifiedName { database: "dev".into(), schema: "s".into(), name: name.into() };
        let first = open();
        first.create_schema("dev", "s").unwrap();
        first.create_database("other").unwrap();
        let view = first.reserve(name("v")).unwrap();
        let id = view.id;
        let object = ObjectDescriptor {
            id,
            database: "dev".into(),
            schema: "s".into(),
            name: "v".into(),
            owner: "root".into(),
            definition: "CREATE VIEW v AS SELECT 1".into(),
            depends_on: vec![],
            kind: millstream_sql::catalog::ObjectKind::View(millstream_sql::catalog::ViewDescriptor {
                columns: vec![],
                query: "SELECT 1".into(),
            }),
        };
        view.publish(object).unwrap();
        let unpublished = first.reserve(name("w")).unwrap();
        let again = open();
        let state = again.snapshot();
        assert_eq!(state.databases().collect::<Vec<_>>(), ["dev", "other"]);
        assert_eq!(state.find(&name("v")).unwrap().id, id);
        assert!(state.find(&name("w")).is_none());
        assert!(again.reserve(name("w")).is_ok());
        again.remove(&[id]).unwrap();
        assert!(open().snapshot().find(&name("v")).is_none());
        drop(unpublished);
    }
}
