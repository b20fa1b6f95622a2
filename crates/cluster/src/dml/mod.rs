//! INSERT, UPDATE and DELETE after planning: constraints are checked, transactions enter the log.
//!
//! [`writer`] is the way in, [`table`] what is kept per table, [`effects`] what a transaction does to each key, [`memory`] the keys that
//! were logged lately.
//!
//! Guarantees: what [`TableWriter::wait_durable`] has returned for is never lost; a transaction is one record in one
//! epoch, seen whole or not at all; of two transactions that changed one key, the one that commits second and has not seen the first is
//! refused (40001). Not guaranteed: that an INSERT fails at the statement rather than at COMMIT when both transactions are open.

mod effects;
mod locks;
mod memory;
mod table;
mod writer;

pub use locks::TableLocks;
pub use table::TableInfo;
pub use writer::{Logged, TableWriter, TransactionChanges};
