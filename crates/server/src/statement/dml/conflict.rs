//! INSERT ... ON CONFLICT: under the table's lock, against the latest logged rows and the transaction's own.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, filter_record_batch, take_record_batch};
use datafusion::datasource::{DefaultTableSource, MemTable};
use datafusion::sql::sqlparser::ast::{ConflictTarget, DoUpdate, OnConflict, OnConflictAction};
use millstream_cluster::ReadLease;
use millstream_functions::from_datafusion;
use millstream_planner::dml::bind_conflict_update;
use millstream_state::KeyCodec;
use millstream_types::{ChangeBatch, Error, Result, Schema, SqlState};

use super::write::{Target, columns, updates, write};
use crate::session::Session;
use crate::statement::{query, scan};

/// Inserts what conflicts with nothing and does what the clause says with the rest; returns the rows that were written (visible columns).
pub(super) async fn run(session: &mut Session, target: &Target, on: &OnConflict, rows: RecordBatch, text: &str) -> Result<RecordBatch> {
    let key = target_key(target, on)?;
    let Some(key) = key else {
        // Without a key there is nothing to conflict with.
        let stored = target.stored(session, &rows)?;
        write(session, target, None, ChangeBatch::inserts(stored)).await?;
        return Ok(rows);
    };
    let writer = session.db.cluster().tables().clone();
    let locks = writer.lock(&[target.object.id]).await?;
    let lease = match session.transaction {
        None => Arc::new(writer.read_latest(&locks).await?),
        Some(_) => query::lease(session, &[target.object.id]).await?.ok_or_else(|| Error::internal("a table without an epoch"))?,
    };
    let split = split(session, target, &key, &rows, &lease)?;
    let stored = target.stored(session, &split.new)?;
    let mut changes = vec![ChangeBatch::inserts(stored)];
    let mut written = vec![split.new.clone()];
    if let OnConflictAction::DoUpdate(update) = &on.action {
        if split.repeated {
            return Err(Error::new(SqlState::CARDINALITY_VIOLATION, "ON CONFLICT DO UPDATE command cannot affect row a second time")
                .with_hint("ensure that no rows proposed for insertion within the same command have duplicate constrained values"));
        }
        if split.existing.num_rows() > 0 {
            let (old, new) = updated(session, target, update, &split, lease, text).await?;
            target.check_lengths(&new)?;
            changes.push(updates(&old, &new)?);
            written.push(new);
        }
    }
    let schema = target.relation.stored_schema().to_arrow();
    write(session, target, Some(&locks), ChangeBatch::concat(&schema, &changes)?).await?;
    Ok(concat_batches(&target.relation.visible_schema().to_arrow(), &written)?)
}

/// The primary key, if the clause names it or nothing; `None` for a table without one.
fn target_key(target: &Target, on: &OnConflict) -> Result<Option<Vec<usize>>> {
    let table = target.table()?;
    let no_constraint = || {
        Error::new(SqlState::INVALID_COLUMN_REFERENCE, "there is no unique or exclusion constraint matching the ON CONFLICT specification")
    };
    let key = (!table.hidden_row_id).then(|| table.primary_key.clone());
    match &on.conflict_target {
        Some(ConflictTarget::Columns(names)) => {
            let find = |n: &datafusion::sql::sqlparser::ast::Ident| {
                let place = table.columns.iter().position(|c| c.column.name == n.value);
                place.ok_or_else(|| Error::new(SqlState::UNDEFINED_COLUMN, format!("column \"{}\" does not exist", n.value)))
            };
            let mut named = names.iter().map(find).collect::<Result<Vec<_>>>()?;
            named.sort_unstable();
            let mut sorted = key.clone().ok_or_else(no_constraint)?;
            sorted.sort_unstable();
            if named == sorted { Ok(key) } else { Err(no_constraint()) }
        }
        Some(ConflictTarget::OnConstraint(_)) => Err(Error::unsupported("ON CONFLICT ON CONSTRAINT")),
        None if matches!(on.action, OnConflictAction::DoUpdate(_)) => {
            Err(Error::new(SqlState::SYNTAX_ERROR, "ON CONFLICT DO UPDATE requires inference specification or constraint name")
                .with_hint("for example, ON CONFLICT (column_name)"))
        }
        None => Ok(key),
    }
}

/// Rows apart.
struct Split {
    /// Rows whose key is not there.
    new: RecordBatch,
    /// Stored rows that are there, and the proposed row for each.
    existing: RecordBatch,
    excluded: RecordBatch,
    /// A key was proposed twice.
    repeated: bool,
}

fn split(session: &Session, target: &Target, key: &[usize], rows: &RecordBatch, lease: &ReadLease) -> Result<Split> {
    let own = session.transaction.as_ref().and_then(|t| t.writes.get(&target.object.id)).cloned().unwrap_or_default();
    let key_columns = |batch: &RecordBatch| key.iter().map(|&k| Arc::clone(batch.column(k))).collect::<Vec<ArrayRef>>();
    let schema = target.relation.visible_schema().project(key);
    let keys = RecordBatch::try_new(schema.to_arrow(), key_columns(rows))?;
    let existing = if own.is_empty() {
        session.db.cluster().serving().get(target.object.id, &keys, lease.epoch())?
    } else {
        scan::overlay(session.db.cluster(), &target.relation, lease, &own)?.get(target.object.id, &keys, 1)?
    };
    let codec = KeyCodec::new(schema.columns.iter().map(|c| c.sql_type.to_arrow()))?;
    let proposed = codec.encode(&key_columns(rows))?;
    let there = codec.encode(&key_columns(&existing))?;
    let places: HashMap<&[u8], u32> = there.iter().zip(0u32..).map(|(k, i)| (k.data(), i)).collect();
    let mut seen = std::collections::HashSet::new();
    let (mut is_new, mut old, mut new, mut repeated) = (vec![], vec![], vec![], false);
    for (k, i) in proposed.iter().zip(0u32..) {
        let first = seen.insert(k.data());
        repeated |= !first;
        let place = places.get(k.data());
        is_new.push(first && place.is_none());
        if let (true, Some(place)) = (first, place) {
            old.push(*place);
            new.push(i);
        }
    }
    Ok(Split {
        new: filter_record_batch(rows, &BooleanArray::from(is_new))?,
        existing: take_record_batch(&existing, &UInt32Array::from(old))?,
        excluded: take_record_batch(rows, &UInt32Array::from(new))?,
        repeated,
    })
}

/// Old stored rows, and what they become (visible columns).
async fn updated(
    session: &Session,
    target: &Target,
    update: &DoUpdate,
    split: &Split,
    lease: Arc<ReadLease>,
    text: &str,
) -> Result<(RecordBatch, RecordBatch)> {
    let (stored, visible) = (target.relation.stored_schema(), target.relation.visible_schema());
    let named = |prefix: &str, schema: &Schema| {
        schema.columns.iter().map(|c| millstream_types::Column::new(format!("{prefix} {}", c.name), c.sql_type.clone())).collect::<Vec<_>>()
    };
    let mut pair_columns = named("stored", &stored);
    pair_columns.extend(named("excluded", &visible));
    let schema = Schema::new(pair_columns).to_arrow();
    let columns_of: Vec<ArrayRef> = split.existing.columns().iter().chain(split.excluded.columns()).map(Arc::clone).collect();
    let pairs = RecordBatch::try_new(Arc::clone(&schema), columns_of)?;
    let table = MemTable::try_new(schema, vec![vec![pairs]]).map_err(from_datafusion)?;
    let source = Arc::new(DefaultTableSource::new(Arc::new(table)));
    let catalog = session.planner_catalog();
    let bound = bind_conflict_update(&catalog, &update.assignments, update.selection.as_ref(), text, &target.relation, source)?;
    let rows = query::collect(session, bound, Some(lease), text).await?;
    let old = columns(&rows, 0..stored.len(), &stored.to_arrow())?;
    let new = columns(&rows, stored.len()..stored.len() + visible.len(), &visible.to_arrow())?;
    Ok((old, new))
}
