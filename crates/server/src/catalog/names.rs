//! Names with all their parts.

use std::fmt;

use datafusion::sql::sqlparser::ast::ObjectName;
use millstream_sql::quote_identifier;
use millstream_types::{Error, Result, SqlState};

/// The database that every server has.
pub const DEFAULT_DATABASE: &str = "dev";
/// The schema where names without one live.
pub const DEFAULT_SCHEMA: &str = "public";
/// Schemas that every database has and nobody can change.
pub const SYSTEM_SCHEMAS: [&str; 3] = ["pg_catalog", "information_schema", "ms_catalog"];

/// `database.schema.name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QualifiedName {
    /// Database.
    pub database: String,
    /// Schema.
    pub schema: String,
    /// Name.
    pub name: String,
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quote_identifier(&self.name))
    }
}

/// The parts of a name as written (already folded).
///
/// # Errors
/// 42602 for a part that is no identifier.
pub fn parts(name: &ObjectName) -> Result<Vec<String>> {
    let part = |p: &datafusion::sql::sqlparser::ast::ObjectNamePart| p.as_ident().map(|i| i.value.clone());
    name.0.iter().map(part).collect::<Option<Vec<_>>>().ok_or_else(|| Error::new(SqlState::INVALID_NAME, format!("\"{name}\" is no name")))
}
