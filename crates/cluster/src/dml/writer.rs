//! The way in for changes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use millstream_state::{LogPosition, RelationStore};
use millstream_types::{ChangeBatch, Epoch, Error, JobId, RelationId, Result, SqlState};
use parking_lot::RwLock;

use super::effects::Effects;
use super::table::Table;
use super::{TableInfo, TableLocks};
use crate::epoch::{EpochService, Isolation, ReadLease};

/// A transaction's changes, for commit.
#[derive(Clone, Debug, Default)]
pub struct TransactionChanges {
    /// The epoch that the transaction read at, if it read: changes of others since then to the same keys are conflicts.
    pub snapshot: Option<Epoch>,
    /// Full rows of the stored columns, -old before +new.
    pub changes: Vec<(RelationId, ChangeBatch)>,
}

/// A transaction that is in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Its epoch.
    pub epoch: Epoch,
    position: LogPosition,
}

/// Checks and logs transactions. Cheap to clone.
#[derive(Clone, Debug)]
pub struct TableWriter {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    tables: RwLock<BTreeMap<RelationId, Arc<Table>>>,
    epochs: EpochService,
    relations: Arc<RelationStore>,
}

/// What was found out about a transaction in one table.
struct Checked<'a> {
    table: &'a Arc<Table>,
    effects: Effects<'a>,
}

impl TableWriter {
    pub(crate) fn new(epochs: EpochService, relations: Arc<RelationStore>) -> Self {
        TableWriter { shared: Arc::new(Shared { tables: RwLock::default(), epochs, relations }) }
    }

    /// A table takes changes from now on. Its job must be running, and have all rows of the log.
    ///
    /// # Errors
    /// XX000 for key columns that cannot be encoded.
    pub fn register_table(&self, info: TableInfo) -> Result<()> {
        let table = Arc::new(Table::new(info)?);
        if let (true, Some(key)) = (table.info.hidden_row_id, table.info.key.first()) {
            let last = self.shared.relations.last_rows(table.info.table)?;
            let largest = last.column(*key).as_primitive_opt::<Int64Type>().and_then(arrow::compute::max);
            table.next_row_id.store(largest.unwrap_or(0) + 1, Ordering::Relaxed);
        }
        self.shared.tables.write().insert(table.info.table, table);
        Ok(())
    }

    /// It takes none any more.
    pub fn drop_table(&self, table: RelationId) {
        self.shared.tables.write().remove(&table);
    }

    fn table(&self, table: RelationId) -> Result<Arc<Table>> {
        self.shared
            .tables
            .read()
            .get(&table)
            .cloned()
            .ok_or_else(|| Error::new(SqlState::UNDEFINED_TABLE, format!("table {table} takes no changes")).with_detail("It was dropped."))
    }

    /// Locks tables against other writers, always in the same order.
    ///
    /// # Errors
    /// 42P01 for a table that is not registered.
    pub async fn lock(&self, tables: &[RelationId]) -> Result<TableLocks> {
        let tables = tables.iter().map(|t| self.table(*t)).collect::<Result<Vec<_>>>()?;
        Ok(TableLocks::take(tables).await)
    }

    /// Fresh ids for the hidden `_row_id` of a table.
    ///
    /// # Errors
    /// 42P01 for a table that is not registered.
    pub fn next_row_ids(&self, table: RelationId, count: usize) -> Result<Range<i64>> {
        let count = i64::try_from(count).map_err(Error::internal)?;
        let first = self.table(table)?.next_row_id.fetch_add(count, Ordering::Relaxed);
        Ok(first..first + count)
    }

    /// A strictly serializable read of the locked tables: it sees every logged record, and no other can come while the locks are held.
    ///
    /// # Errors
    /// As [`EpochService::read`].
    pub async fn read_latest(&self, locks: &TableLocks) -> Result<ReadLease> {
        let jobs = locks.tables().map(|t| locks.get(t).map(|t| t.info.job)).collect::<Result<Vec<JobId>>>()?;
        self.shared.epochs.read(&jobs, Isolation::StrictSerializable).await
    }

    /// Whether a transaction could commit now.
    ///
    /// # Errors
    /// As [`TableWriter::commit`].
    pub fn check(&self, locks: &TableLocks, transaction: &TransactionChanges) -> Result<()> {
        self.checked(locks, transaction).map(drop)
    }

    /// Checks a transaction and appends it to the log as one record. It may be acknowledged after [`TableWriter::wait_durable`], which
    /// needs no locks: a transaction that builds on this one is behind it in the log. `None`: nothing was changed.
    ///
    /// # Errors
    /// 23502, 23505, 40001; 53100 if the log is full, 55000 if a table's job is not running. Nothing was logged then.
    pub fn commit(&self, locks: &TableLocks, transaction: &TransactionChanges) -> Result<Option<Logged>> {
        let checked = self.checked(locks, transaction)?;
        if checked.is_empty() {
            return Ok(None);
        }
        let jobs: Vec<JobId> = checked.iter().map(|c| c.table.info.job).collect();
        let not_empty = transaction.changes.iter().filter(|(_, c)| !c.is_empty());
        let (epoch, position) = self.shared.epochs.append(&jobs, not_empty.cloned().collect())?;
        let snapshots = self.shared.epochs.oldest_hold() < epoch;
        for Checked { table, effects } in checked {
            effects.remember(&mut table.past.lock(), epoch, snapshots);
        }
        Ok(Some(Logged { epoch, position }))
    }

    /// Waits until a transaction is durable.
    ///
    /// # Errors
    /// 58030 or 53100 if the log has failed; then nobody knows whether it survives.
    pub async fn wait_durable(&self, logged: Logged) -> Result<()> {
        self.shared.epochs.wait_durable(logged.position).await
    }

    fn checked<'a>(&self, locks: &'a TableLocks, transaction: &'a TransactionChanges) -> Result<Vec<Checked<'a>>> {
        let mut by_table: BTreeMap<RelationId, Vec<&ChangeBatch>> = BTreeMap::new();
        for (table, changes) in transaction.changes.iter().filter(|(_, c)| !c.is_empty()) {
            by_table.entry(*table).or_default().push(changes);
        }
        let tables = by_table.into_iter().map(|(id, batches)| {
            let table = locks.get(id)?;
            batches.iter().try_for_each(|b| table.check_rows(b))?;
            let effects = Effects::new(table, batches)?;
            self.check_effects(table, &effects, transaction.snapshot)?;
            Ok(Checked { table, effects })
        });
        tables.collect()
    }

    fn check_effects(&self, table: &Table, effects: &Effects<'_>, snapshot: Option<Epoch>) -> Result<()> {
        let epochs = &self.shared.epochs;
        let mut past = table.past.lock();
        if let Some(forgotten) = past.recent.trim(epochs.oldest_hold()) {
            past.forgotten = past.forgotten.max(forgotten);
        }
        if let Some(snapshot) = snapshot {
            effects.check_conflicts(&past, snapshot)?;
        }
        // The hold keeps the version that the overlay was trimmed to.
        let visible = epochs.hold_newest(table.info.job)?;
        past.overlay.trim(visible.epoch());
        effects.check_keys(&past, &self.shared.relations, visible.epoch())
    }
}
