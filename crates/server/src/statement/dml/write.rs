//! Changes on their way into the log or the transaction.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::compute::concat_batches;
use datafusion::sql::sqlparser::ast::ObjectName;
use millstream_cluster::{TableLocks, TransactionChanges};
use millstream_planner::PlannerRelation;
use millstream_sql::catalog::{ObjectDescriptor, ObjectKind, TableDescriptor};
use millstream_types::{ChangeBatch, Error, Result, RowKind, SqlState};

use crate::session::{Session, names};

/// The table of a statement.
pub(super) struct Target {
    pub(super) object: Arc<ObjectDescriptor>,
    pub(super) relation: PlannerRelation,
}

impl Target {
    /// The table of a name.
    ///
    /// # Errors
    /// 42P01; 42809 for something that takes no changes.
    pub(super) fn find(session: &Session, name: &ObjectName) -> Result<Target> {
        let object = session.object(name, "relation")?;
        match &object.kind {
            ObjectKind::Table(_) => Ok(Target { relation: names::relation(&object)?, object }),
            other => {
                let kind = other.object_type();
                Err(Error::new(SqlState::WRONG_OBJECT_TYPE, format!("cannot change {kind} \"{}\"", object.name))
                    .with_detail(format!("A {kind} takes no INSERT, UPDATE or DELETE.")))
            }
        }
    }

    pub(super) fn table(&self) -> Result<&TableDescriptor> {
        match &self.object.kind {
            ObjectKind::Table(table) => Ok(table),
            _ => Err(Error::internal("the target is no table")),
        }
    }

    /// All batches as one, of the table's visible columns.
    pub(super) fn visible(&self, batches: &[RecordBatch]) -> Result<RecordBatch> {
        let schema = self.relation.visible_schema().to_arrow();
        let batches: Vec<RecordBatch> =
            batches.iter().map(|b| RecordBatch::try_new(Arc::clone(&schema), b.columns().to_vec())).collect::<Result<_, _>>()?;
        Ok(concat_batches(&schema, &batches)?)
    }

    /// Checks varchar lengths, and puts fresh row ids behind rows of a table without key.
    pub(super) fn stored(&self, session: &Session, visible: &RecordBatch) -> Result<RecordBatch> {
        self.check_lengths(visible)?;
        let mut columns = visible.columns().to_vec();
        if self.table()?.hidden_row_id {
            let ids = session.db.cluster().tables().next_row_ids(self.object.id, visible.num_rows())?;
            columns.push(Arc::new(Int64Array::from_iter_values(ids)));
        }
        Ok(RecordBatch::try_new(self.relation.stored_schema().to_arrow(), columns)?)
    }

    /// PostgreSQL's `varchar(n)`.
    pub(super) fn check_lengths(&self, visible: &RecordBatch) -> Result<()> {
        for (column, array) in self.table()?.columns.iter().zip(visible.columns()) {
            let Some(most) = column.max_chars else { continue };
            let too_long = |text: Option<&str>| text.is_some_and(|t| t.chars().count() > most as usize);
            if array.as_string_opt::<i32>().is_some_and(|a| a.iter().any(too_long)) {
                let state = SqlState::from_code("22001").unwrap_or(SqlState::DATA_EXCEPTION);
                return Err(Error::new(state, format!("value too long for type character varying({most})"))
                    .with_detail(format!("Column \"{}\".", column.column.name)));
            }
        }
        Ok(())
    }
}

/// Old and new rows as changes: -U +U pairs.
pub(super) fn updates(old: &RecordBatch, new: &RecordBatch) -> Result<ChangeBatch> {
    let schema = old.schema();
    let both = concat_batches(&schema, [old, new])?;
    let rows = u32::try_from(old.num_rows()).map_err(Error::internal)?;
    let order: arrow::array::UInt32Array = (0..rows).flat_map(|i| [i, rows + i]).collect();
    let kinds = (0..rows).flat_map(|_| [RowKind::UpdateBefore, RowKind::UpdateAfter]).collect();
    Ok(ChangeBatch::new(arrow::compute::take_record_batch(&both, &order)?, kinds))
}

/// Rows that go.
pub(super) fn deletes(old: RecordBatch) -> ChangeBatch {
    let kinds = vec![RowKind::Delete; old.num_rows()];
    ChangeBatch::new(old, kinds)
}

/// Columns `range` of batches, as one batch of `schema`.
pub(super) fn columns(batches: &[RecordBatch], range: std::ops::Range<usize>, schema: &arrow::datatypes::SchemaRef) -> Result<RecordBatch> {
    let cut = batches.iter().map(|b| {
        let columns: Vec<ArrayRef> = b.columns()[range.clone()].iter().map(Arc::clone).collect();
        RecordBatch::try_new(Arc::clone(schema), columns)
    });
    let cut = cut.collect::<Result<Vec<_>, _>>()?;
    Ok(concat_batches(schema, &cut)?)
}

/// Puts changes into the session's transaction, checked against what is there now; outside one, logs them under the given locks.
pub(super) async fn write(session: &mut Session, target: &Target, locks: Option<&TableLocks>, changes: ChangeBatch) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let table = target.object.id;
    let writer = session.db.cluster().tables().clone();
    let taken = if locks.is_none() { Some(writer.lock(&[table]).await?) } else { None };
    let locks = locks.or(taken.as_ref()).ok_or_else(|| Error::internal("no lock"))?;
    match &mut session.transaction {
        None => {
            session.logged = writer.commit(locks, &TransactionChanges { snapshot: None, changes: vec![(table, changes)] })?;
            Ok(())
        }
        Some(transaction) => {
            let writes = transaction.writes.entry(table).or_default();
            writes.push(changes);
            let all = writes.iter().map(|c| (table, c.clone())).collect();
            let snapshot = transaction.lease.as_ref().map(|l| l.epoch());
            let checked = writer.check(locks, &TransactionChanges { snapshot, changes: all });
            if checked.is_err() {
                writes.pop();
            }
            checked
        }
    }
}
