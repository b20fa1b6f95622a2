//! SET and RESET.

use millstream_sql::statement::{Reset, SetScope, SetVariable};
use millstream_types::{Result, SqlState};

use super::command;
use crate::pg::service::{Response, Severity};
use crate::session::Session;

pub(super) fn run(session: &mut Session, set: &SetVariable) -> Result<Response> {
    if set.scope == SetScope::Local {
        if session.transaction.is_none() {
            session.notice(
                Severity::Warning,
                SqlState::NO_ACTIVE_SQL_TRANSACTION,
                "SET LOCAL can only be used in transaction blocks".into(),
            );
            return Ok(command("SET"));
        }
        if session.saved_settings.is_none() {
            session.saved_settings = Some(session.settings.clone());
        }
    }
    let changed = match &set.values {
        Some(values) => session.settings.set(&set.name, &values.join(", ")),
        None => session.settings.reset(Some(&set.name)),
    };
    changed.map_err(|e| e.with_position(set.position.0)).map(|()| command("SET"))
}

pub(super) fn reset(session: &mut Session, reset: &Reset) -> Result<Response> {
    session.settings.reset(reset.name.as_deref())?;
    Ok(command("RESET"))
}
