//! The catalog: databases, schemas and objects. Readers work on an immutable snapshot in memory; changes make a new one, in memory or
//! durably ([`store`] and [`durable`]).

mod durable;
mod names;
mod state;
mod store;

use std::sync::Arc;

use millstream_sql::catalog::ObjectDescriptor;
use millstream_types::{Error, ObjectId, Result, SqlState};

pub use durable::DurableStore;
pub use names::{DEFAULT_DATABASE, DEFAULT_SCHEMA, QualifiedName, SYSTEM_SCHEMAS, parts};
pub use state::CatalogState;
pub use store::{CatalogStore, MemoryStore};

/// The catalog of a server.
#[derive(Debug)]
pub struct Catalog {
    store: Box<dyn CatalogStore>,
}

impl Default for Catalog {
    fn default() -> Self {
        Catalog { store: Box::new(MemoryStore::new(CatalogState::new())) }
    }
}

/// A name that a running CREATE has for itself; given back when dropped.
#[derive(Debug)]
pub struct Reservation {
    catalog: Arc<Catalog>,
    /// The name.
    pub name: QualifiedName,
    /// The new object's number.
    pub id: ObjectId,
    published: bool,
}

impl Catalog {
    /// A catalog in a store.
    pub fn new(store: impl CatalogStore + 'static) -> Self {
        Catalog { store: Box::new(store) }
    }

    /// The catalog as it is now.
    pub fn snapshot(&self) -> Arc<CatalogState> {
        self.store.load()
    }

    fn change<T>(&self, change: impl Fn(&mut CatalogState) -> Result<T>) -> Result<T> {
        loop {
            let current = self.store.load();
            let mut next = CatalogState::clone(&current);
            let result = change(&mut next)?;
            if self.store.compare_and_set(&current, next)? {
                return Ok(result);
            }
        }
    }

    /// Takes a name for a new object: of two that want it at once, one gets it.
    ///
    /// # Errors
    /// 42P07 if it is taken, 3D000 and 3F000 for unknown namespaces.
    pub fn reserve(self: &Arc<Self>, name: QualifiedName) -> Result<Reservation> {
        let id = self.change(|s| s.reserve(&name))?;
        Ok(Reservation { catalog: Arc::clone(self), name, id, published: false })
    }

    /// Makes a database.
    ///
    /// # Errors
    /// 42P04 if it exists.
    pub fn create_database(&self, name: &str) -> Result<()> {
        self.change(|s| s.create_database(name))
    }

    /// Makes a schema.
    ///
    /// # Errors
    /// 42P06 if it exists, 3D000 for an unknown database.
    pub fn create_schema(&self, database: &str, name: &str) -> Result<()> {
        self.change(|s| s.create_schema(database, name))
    }

    /// Removes a database that has no objects any more.
    ///
    /// # Errors
    /// 3D000 if it does not exist, 2BP01 if it has objects.
    pub fn drop_database(&self, name: &str) -> Result<()> {
        self.change(|s| s.drop_database(name))
    }

    /// Removes a schema that has no objects any more.
    ///
    /// # Errors
    /// 3F000 if it does not exist, 2BP01 if it has objects.
    pub fn drop_schema(&self, database: &str, name: &str) -> Result<()> {
        self.change(|s| s.drop_schema(database, name))
    }

    /// Removes objects, all or none.
    ///
    /// # Errors
    /// 2BP01 if one has got a dependent meanwhile.
    pub fn remove(&self, ids: &[ObjectId]) -> Result<()> {
        self.change(|s| s.remove(ids))
    }
}

impl Reservation {
    /// Makes the object known.
    ///
    /// # Errors
    /// 42P01-like if something that it needs was dropped meanwhile.
    pub fn publish(mut self, descriptor: ObjectDescriptor) -> Result<()> {
        self.catalog.change(|s| {
            if let Some(gone) = descriptor.depends_on.iter().find(|d| s.object(**d).is_none()) {
                return Err(Error::new(SqlState::UNDEFINED_TABLE, format!("an object that \"{}\" needs was dropped", descriptor.name))
                    .with_detail(format!("It was {gone}.")));
            }
            s.publish(descriptor.clone());
            Ok(())
        })?;
        self.published = true;
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.published {
            // A name that was not published has no dependents: releasing it cannot fail.
            let _ = self.catalog.change(|s| {
                s.release(&self.name);
                Ok(())
            });
        }
    }
}
