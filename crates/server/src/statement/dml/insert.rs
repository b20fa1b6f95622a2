//! INSERT.

use datafusion::sql::sqlparser::ast::{OnInsert, TableObject};
use millstream_planner::dml::{InsertTarget, bind_insert};
use millstream_sql::statement::Insert;
use millstream_types::{ChangeBatch, Error, Result};

use super::conflict;
use super::write::{Target, write};
use crate::pg::service::Response;
use crate::session::Session;
use crate::statement::{Described, command, query, returning};

fn target(session: &Session, insert: &Insert) -> Result<(Target, InsertTarget)> {
    let TableObject::TableName(name) = &insert.insert.table else { return Err(Error::unsupported("INSERT into a function or query")) };
    let target = Target::find(session, name)?;
    let table = target.table()?;
    let columns = table.columns.iter().map(|c| c.column.clone()).collect();
    let defaults = table.columns.iter().map(|c| c.default.clone()).collect();
    let insert_target = InsertTarget { name: target.object.name.clone(), columns, defaults };
    Ok((target, insert_target))
}

pub(in crate::statement) fn describe(session: &Session, insert: &Insert, text: &str) -> Result<Described> {
    let (target, insert_target) = target(session, insert)?;
    let bound = bind_insert(&session.planner_catalog(), &insert.insert, text, &insert_target)?;
    let columns = insert.insert.returning.as_ref().map(|r| returning::schema(session, &target.relation, r, text)).transpose()?;
    Ok(Described { params: bound.params, columns })
}

pub(in crate::statement) async fn run(session: &mut Session, insert: &Insert, text: &str) -> Result<Response> {
    let (target, insert_target) = target(session, insert)?;
    let bound = bind_insert(&session.planner_catalog(), &insert.insert, text, &insert_target)?;
    let lease = query::lease(session, &bound.relations).await?;
    let batches = query::collect(session, bound, lease, text).await?;
    let rows = target.visible(&batches)?;
    target.check_lengths(&rows)?;
    let written = match &insert.insert.on {
        None => {
            let stored = target.stored(session, &rows)?;
            write(session, &target, None, ChangeBatch::inserts(stored)).await?;
            rows
        }
        Some(OnInsert::OnConflict(on)) => conflict::run(session, &target, on, rows, text).await?,
        Some(_) => return Err(Error::unsupported("ON DUPLICATE KEY UPDATE").with_hint("use ON CONFLICT (key) DO UPDATE")),
    };
    let tag = format!("INSERT 0 {}", written.num_rows());
    match &insert.insert.returning {
        Some(items) => returning::run(session, &target.relation, items, written, tag, text).await,
        None => Ok(command(tag)),
    }
}
