//! Object ids: fixed ones as in PostgreSQL, the others from our numbers, or from the name where there is no number.

use std::hash::{DefaultHasher, Hash, Hasher};

use millstream_types::ObjectId;

use crate::catalog::{CatalogState, DEFAULT_SCHEMA};

/// Ids below are PostgreSQL's own.
const FIRST_USER: u64 = 16_384;
/// Where the ids of primary key indexes start.
const FIRST_INDEX: u64 = 1 << 30;
/// Where the ids made of names start: 2^29 of them.
const FIRST_NAMED: u64 = 1 << 29;
/// The first role.
const FIRST_ROLE: usize = 10;

fn int(oid: u64) -> i32 {
    i32::try_from(oid).unwrap_or(i32::MAX)
}

/// Of a relation.
pub(super) fn relation(id: ObjectId) -> i32 {
    int(FIRST_USER + id.0)
}

/// The relation of an id.
pub(super) fn relation_of(oid: i32) -> Option<ObjectId> {
    u64::try_from(oid).ok()?.checked_sub(FIRST_USER).map(ObjectId)
}

/// Of a table's primary key: the index and the constraint.
pub(super) fn index(table: ObjectId) -> i32 {
    int(FIRST_INDEX + table.0)
}

/// The table of an index.
pub(super) fn table_of(index: i32) -> Option<ObjectId> {
    u64::try_from(index).ok()?.checked_sub(FIRST_INDEX).map(ObjectId)
}

fn named(name: &str) -> i32 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    int(FIRST_NAMED + hasher.finish() % (FIRST_INDEX - FIRST_NAMED))
}

/// Of a schema.
pub(super) fn schema(name: &str) -> i32 {
    match name {
        "pg_catalog" => 11,
        "information_schema" => 13_000,
        "ms_catalog" => 13_001,
        DEFAULT_SCHEMA => 2_200,
        other => named(other),
    }
}

/// Of a database.
pub(super) fn database(name: &str) -> i32 {
    named(name)
}

/// Of a connector.
pub(super) fn connector(name: &str) -> i32 {
    named(&format!("connector {name}"))
}

/// Everybody who owns something, the one of the built-in objects first.
pub(super) fn owners(state: &CatalogState) -> Vec<String> {
    let mut owners: Vec<String> = state.databases().flat_map(|d| state.objects(d)).map(|o| o.owner.clone()).collect();
    owners.sort_unstable();
    owners.dedup();
    owners.retain(|o| o != "root");
    owners.insert(0, "root".into());
    owners
}

/// Of a role in [`owners`].
pub(super) fn role(owners: &[String], name: &str) -> i32 {
    let place = owners.iter().position(|o| o == name).unwrap_or(0);
    i32::try_from(FIRST_ROLE + place).unwrap_or(i32::MAX)
}

/// The role of an id.
pub(super) fn role_of(owners: &[String], oid: i32) -> Option<&str> {
    usize::try_from(oid).ok()?.checked_sub(FIRST_ROLE).and_then(|i| owners.get(i)).map(String::as_str)
}
