//! UPDATE and DELETE.

use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::sql::sqlparser::ast::{Delete, FromTable, SelectItem, TableFactor, TableWithJoins, Update};
use millstream_cluster::TableLocks;
use millstream_planner::BoundQuery;
use millstream_planner::dml::{BoundChange, bind_delete, bind_update};
use millstream_types::{Error, Result, Schema, SqlState};

use super::write::{Target, columns, deletes, updates, write};
use crate::pg::service::Response;
use crate::session::Session;
use crate::statement::{Described, command, query, returning};

pub(in crate::statement) fn describe_update(session: &Session, update: &Update, text: &str) -> Result<Described> {
    let target = named(session, &update.table)?;
    let bound = bind_update(&session.planner_catalog(), update, text, &target.relation)?;
    described(session, &target, bound, update.returning.as_deref(), text)
}

pub(in crate::statement) fn describe_delete(session: &Session, delete: &Delete, text: &str) -> Result<Described> {
    let target = named(session, delete_target(delete)?)?;
    let bound = bind_delete(&session.planner_catalog(), delete, text, &target.relation)?;
    described(session, &target, bound, delete.returning.as_deref(), text)
}

fn described(session: &Session, target: &Target, bound: BoundChange, items: Option<&[SelectItem]>, text: &str) -> Result<Described> {
    let columns = items.map(|r| returning::schema(session, &target.relation, r, text)).transpose()?;
    Ok(Described { params: bound.query.params, columns })
}

/// The rows that UPDATE or DELETE would change, for EXPLAIN.
pub(in crate::statement) fn plan_update(session: &Session, update: &Update, text: &str) -> Result<BoundQuery> {
    let target = named(session, &update.table)?;
    Ok(bind_update(&session.planner_catalog(), update, text, &target.relation)?.query)
}

/// As [`plan_update`].
pub(in crate::statement) fn plan_delete(session: &Session, delete: &Delete, text: &str) -> Result<BoundQuery> {
    let target = named(session, delete_target(delete)?)?;
    Ok(bind_delete(&session.planner_catalog(), delete, text, &target.relation)?.query)
}

pub(in crate::statement) async fn update(session: &mut Session, update: &Update, text: &str) -> Result<Response> {
    let target = named(session, &update.table)?;
    let bound = bind_update(&session.planner_catalog(), update, text, &target.relation)?;
    let old_columns = bound.old_columns;
    let (locks, rows) = affected(session, &target, bound, text).await?;
    let (stored, visible) = (target.relation.stored_schema(), target.relation.visible_schema());
    let old = columns(&rows, 0..old_columns, &stored.to_arrow())?;
    let new = columns(&rows, old_columns..old_columns + visible.len(), &visible.to_arrow())?;
    target.check_lengths(&new)?;
    let mut new_columns = new.columns().to_vec();
    new_columns.extend(old.columns()[visible.len()..].iter().map(Arc::clone));
    let new_stored = RecordBatch::try_new(stored.to_arrow(), new_columns)?;
    let changes = updates(&old, &new_stored)?;
    write(session, &target, locks.as_ref(), changes).await?;
    finish(session, &target, new, update.returning.as_deref(), "UPDATE", text).await
}

pub(in crate::statement) async fn delete(session: &mut Session, delete: &Delete, text: &str) -> Result<Response> {
    let target = named(session, delete_target(delete)?)?;
    let bound = bind_delete(&session.planner_catalog(), delete, text, &target.relation)?;
    let (locks, rows) = affected(session, &target, bound, text).await?;
    let stored: Schema = target.relation.stored_schema();
    let old = columns(&rows, 0..stored.len(), &stored.to_arrow())?;
    let visible: Vec<usize> = (0..target.relation.columns.len()).collect();
    let shown = old.project(&visible)?;
    write(session, &target, locks.as_ref(), deletes(old)).await?;
    finish(session, &target, shown, delete.returning.as_deref(), "DELETE", text).await
}

async fn finish(
    session: &mut Session,
    target: &Target,
    rows: RecordBatch,
    items: Option<&[SelectItem]>,
    verb: &str,
    text: &str,
) -> Result<Response> {
    let tag = format!("{verb} {}", rows.num_rows());
    match items {
        Some(items) => returning::run(session, &target.relation, items, rows, tag, text).await,
        None => Ok(command(tag)),
    }
}

/// The rows that a statement changes. Outside a transaction they are the latest, and the lock is kept until they are written.
async fn affected(
    session: &mut Session,
    target: &Target,
    bound: BoundChange,
    text: &str,
) -> Result<(Option<TableLocks>, Vec<RecordBatch>)> {
    let mut relations = bound.query.relations.clone();
    if !relations.contains(&target.object.id) {
        relations.push(target.object.id);
    }
    let locks = match session.transaction {
        None => Some(session.db.cluster().tables().lock(&[target.object.id]).await?),
        Some(_) => None,
    };
    let lease = query::lease(session, &relations).await?;
    let rows = query::collect(session, bound.query, lease, text).await?;
    let rows = first_per_target(&rows, bound.old_columns)?;
    Ok((locks, rows))
}

/// With FROM or USING a row may be found several times: it changes once, as in PostgreSQL.
fn first_per_target(rows: &[RecordBatch], old_columns: usize) -> Result<Vec<RecordBatch>> {
    let Some(first) = rows.first() else { return Ok(vec![]) };
    let all = arrow::compute::concat_batches(&first.schema(), rows)?;
    let types = all.columns()[..old_columns].iter().map(|c| arrow::row::SortField::new(c.data_type().clone())).collect();
    let converter = arrow::row::RowConverter::new(types)?;
    let keys = converter.convert_columns(&all.columns()[..old_columns])?;
    let mut seen = std::collections::HashSet::new();
    let mask: arrow::array::BooleanArray = keys.iter().map(|k| Some(seen.insert(k.owned()))).collect();
    Ok(vec![arrow::compute::filter_record_batch(&all, &mask)?])
}

fn delete_target(delete: &Delete) -> Result<&TableWithJoins> {
    let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) = &delete.from;
    tables.first().ok_or_else(|| Error::new(SqlState::SYNTAX_ERROR, "DELETE needs a table"))
}

fn named(session: &Session, table: &TableWithJoins) -> Result<Target> {
    if !table.joins.is_empty() {
        return Err(Error::unsupported("changing a join").with_hint("use FROM or USING"));
    }
    match &table.relation {
        TableFactor::Table { name, .. } => Target::find(session, name),
        _ => Err(Error::new(SqlState::SYNTAX_ERROR, "the target must be a table")),
    }
}
