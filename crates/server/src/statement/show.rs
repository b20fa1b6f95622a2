//! SHOW.

use millstream_sql::catalog::ColumnDescriptor;
use millstream_sql::statement::{ObjectType, Show, ShowObjects};
use millstream_types::sql_type::{NUMERIC_DEFAULT_SCALE, NUMERIC_MAX_PRECISION};
use millstream_types::{Error, JobId, Result, Schema, SqlState, SqlType};

use super::rows;
use crate::pg::service::Response;
use crate::session::Session;
use crate::system::{self, SystemRows};

fn text(columns: &[&str]) -> SystemRows {
    let columns: Vec<_> = columns.iter().map(|c| (*c, SqlType::Text)).collect();
    SystemRows::new(&columns)
}

pub(super) fn run(session: &Session, show: &Show) -> Result<Response> {
    rows::shown(content(session, show)?, "SHOW")
}

/// The columns, for Describe.
pub(super) fn schema(session: &Session, show: &Show) -> Result<Schema> {
    Ok(content(session, show)?.schema)
}

fn content(session: &Session, show: &Show) -> Result<SystemRows> {
    match show {
        Show::Objects(objects) => list(session, objects),
        Show::Create(kind, name) => {
            let object = session.object(name, &kind.to_string())?;
            if object.kind.object_type() != *kind {
                return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a {kind}", object.name))
                    .with_detail(format!("It is a {}.", object.kind.object_type())));
            }
            let mut shown = text(&["name", "create_statement"]);
            shown.push(vec![object.name.as_str().into(), object.displayed_definition().into()]);
            Ok(shown)
        }
        Show::Columns(name) => {
            let object = session.object(name, "relation")?;
            let mut shown = text(&["name", "type", "nullable", "default"]);
            for c in object.kind.columns() {
                let nullable = if c.not_null { "no" } else { "yes" };
                shown.push(vec![c.column.name.as_str().into(), type_name(c).into(), nullable.into(), c.default.clone().into()]);
            }
            Ok(shown)
        }
        Show::Checkpoints(name) => {
            let object = session.object(name, "streaming job")?;
            let mut shown = system::checkpoint_columns();
            for checkpoint in session.db.cluster().checkpoints(JobId(object.id.0)) {
                shown.push(system::checkpoint_cells(&object.name, &checkpoint));
            }
            Ok(shown)
        }
        Show::Variable(name) => {
            let mut shown = text(&[name]);
            shown.push(vec![session.settings.get(name)?.into()]);
            Ok(shown)
        }
        Show::All => {
            let mut shown = text(&["name", "setting", "description"]);
            for (name, value, meaning) in session.settings.all() {
                shown.push(vec![name.into(), value.into(), meaning.into()]);
            }
            Ok(shown)
        }
    }
}

fn list(session: &Session, objects: &ShowObjects) -> Result<SystemRows> {
    let pattern = objects.pattern.as_deref();
    let wanted = |name: &str| pattern.is_none_or(|p| like(p, name));
    let state = session.db.catalog().snapshot();
    let mut shown = text(&["name"]);
    match objects.object_type {
        ObjectType::StreamingJob => {
            let source = system::Source { db: std::sync::Arc::clone(&session.db), settings: vec![], database: session.database.clone() };
            let mut jobs = system::job_columns();
            system::own_jobs(&source).iter().filter(|j| wanted(&j.name)).for_each(|j| jobs.push(system::job_cells(j)));
            return Ok(jobs);
        }
        ObjectType::Database => state.databases().filter(|n| wanted(n)).for_each(|n| shown.push(vec![n.into()])),
        ObjectType::Schema => state.schemas(&session.database).filter(|n| wanted(n)).for_each(|n| shown.push(vec![n.into()])),
        kind => {
            shown = text(&["schema", "name"]);
            let of_kind = state.objects(&session.database).filter(|o| o.kind.object_type() == kind && wanted(&o.name));
            let in_schema = of_kind.filter(|o| objects.schema.as_ref().is_none_or(|s| s.value == o.schema));
            in_schema.for_each(|o| shown.push(vec![o.schema.as_str().into(), o.name.as_str().into()]));
        }
    }
    Ok(shown)
}

/// The type as it was declared: with the length of a varchar, and numeric without digits where none were given.
fn type_name(column: &ColumnDescriptor) -> String {
    match (&column.column.sql_type, column.max_chars) {
        (_, Some(most)) => format!("character varying({most})"),
        (SqlType::Numeric { precision, scale }, _) if (*precision, *scale) == (NUMERIC_MAX_PRECISION, NUMERIC_DEFAULT_SCALE) => {
            "numeric".into()
        }
        (sql_type, None) => sql_type.to_string(),
    }
}

/// LIKE with `%` and `_`.
fn like(pattern: &str, name: &str) -> bool {
    let array = arrow::array::StringArray::from(vec![name]);
    let pattern = arrow::array::StringArray::new_scalar(pattern);
    arrow::compute::like(&array, &pattern).is_ok_and(|mask| mask.value(0))
}
