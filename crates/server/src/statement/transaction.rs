//! BEGIN, COMMIT, ROLLBACK.
//!
//! A transaction reads one epoch, fixed at its first read, plus its own writes to tables. COMMIT logs all its writes as one record; if
//! another transaction has changed one of the same rows since that epoch, it is refused with 40001.

use millstream_cluster::TransactionChanges;
use millstream_sql::statement::TransactionEnd;
use millstream_types::{Error, RelationId, Result, SqlState};

use super::command;
use crate::pg::service::{Response, Severity};
use crate::session::Session;
use crate::session::transaction::{Block, Transaction};

pub(super) fn begin(session: &mut Session) -> Result<Response> {
    match &mut session.transaction {
        Some(t) if t.block == Block::Explicit => {
            session.notice(Severity::Warning, SqlState::ACTIVE_SQL_TRANSACTION, "there is already a transaction in progress".into());
        }
        // What the message has done so far becomes part of the block, as in PostgreSQL.
        Some(t) => t.block = Block::Explicit,
        None => session.transaction = Some(Transaction::new(Block::Explicit)),
    }
    Ok(command("BEGIN"))
}

pub(super) async fn end(session: &mut Session, end: &TransactionEnd, wants_commit: bool) -> Result<Response> {
    if end.chain {
        return Err(Error::unsupported("AND CHAIN"));
    }
    let Some(transaction) = &session.transaction else {
        session.notice(Severity::Warning, SqlState::NO_ACTIVE_SQL_TRANSACTION, "there is no transaction in progress".into());
        return Ok(command(if wants_commit { "COMMIT" } else { "ROLLBACK" }));
    };
    if wants_commit && !transaction.failed {
        commit(session).await?;
        return Ok(command("COMMIT"));
    }
    rollback(session);
    Ok(command("ROLLBACK"))
}

/// Commits the session's transaction; it is over, one way or the other.
pub(crate) async fn commit(session: &mut Session) -> Result<()> {
    restore_settings(session);
    let Some(transaction) = session.transaction.take() else { return Ok(()) };
    if transaction.writes.is_empty() {
        return Ok(());
    }
    let tables: Vec<RelationId> = transaction.writes.keys().copied().collect();
    let changes = transaction.writes.into_iter().flat_map(|(table, batches)| batches.into_iter().map(move |b| (table, b)));
    let changes = TransactionChanges { snapshot: transaction.lease.as_ref().map(|l| l.epoch()), changes: changes.collect() };
    let writer = session.db.cluster().tables();
    let locks = writer.lock(&tables).await?;
    session.logged = writer.commit(&locks, &changes)?;
    Ok(())
}

/// Forgets the session's transaction.
pub(crate) fn rollback(session: &mut Session) {
    restore_settings(session);
    session.transaction = None;
}

fn restore_settings(session: &mut Session) {
    if let Some(saved) = session.saved_settings.take() {
        session.settings = saved;
    }
}
