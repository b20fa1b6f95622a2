//! INSERT, UPDATE, DELETE and TRUNCATE: rows are computed by the batch engine and go to the `TableWriter` as changes.
//!
//! Outside a transaction block a statement that reads its table holds the table's lock from its read to its commit, so that two of
//! `SET v = v + 1` never lose one. Inside a block it reads the block's epoch and its own writes; COMMIT finds conflicts.

pub(super) mod change;
mod conflict;
pub(super) mod insert;
pub(super) mod truncate;
mod write;
