//! Prepared statements and the portals that run them, with rows that may be fetched in parts.

use std::sync::Arc;

use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use millstream_functions::from_datafusion;
use millstream_types::{Datum, Result, Schema};

use super::encode::{Format, RowEncoder};
use super::service::QuerySession;

/// A prepared statement of the extended protocol.
pub(super) struct PreparedStatement<S: QuerySession> {
    /// `None` for the empty statement.
    pub(super) prepared: Option<S::Prepared>,
    /// Characters of the message before the statement.
    pub(super) offset: usize,
    /// Object ids of the parameters' types.
    pub(super) parameter_oids: Vec<u32>,
}

impl<S: QuerySession> PreparedStatement<S> {
    /// Columns of the result, if it has any.
    pub(super) fn columns(&self) -> Option<&Schema> {
        self.prepared.as_ref().and_then(S::columns)
    }
}

/// A prepared statement with its parameters.
pub(super) struct Portal<S: QuerySession> {
    pub(super) statement: Arc<PreparedStatement<S>>,
    pub(super) parameters: Vec<Datum>,
    /// One per column.
    pub(super) formats: Vec<Format>,
    pub(super) state: PortalState,
}

/// How far a portal is.
pub(super) enum PortalState {
    /// Not run yet.
    Ready,
    /// Rows are left. `tag` is the tag of RETURNING and its kind.
    Suspended { rows: RowCursor, tag: Option<String> },
    /// Ran to its end; `rows` if it had any columns.
    Done { rows: bool },
}

/// The rows of a result, one after the other.
pub(super) struct RowCursor {
    schema: Schema,
    formats: Vec<Format>,
    stream: SendableRecordBatchStream,
    batch: Option<RowEncoder>,
    row: usize,
}

impl RowCursor {
    /// A cursor before the first row; `formats` has one entry per column.
    pub(super) fn new(schema: Schema, formats: Vec<Format>, stream: SendableRecordBatchStream) -> Self {
        RowCursor { schema, formats, stream, batch: None, row: 0 }
    }

    /// Waits until rows are at hand; false at the end. May be dropped and called again.
    ///
    /// # Errors
    /// Those of the query.
    pub(super) async fn fetch(&mut self) -> Result<bool> {
        while self.batch.as_ref().is_none_or(|batch| self.row >= batch.len()) {
            self.batch = None;
            let Some(batch) = self.stream.next().await else { return Ok(false) };
            let batch = batch.map_err(from_datafusion)?;
            self.batch = Some(RowEncoder::new(&batch, &self.schema, &self.formats)?);
            self.row = 0;
        }
        Ok(true)
    }

    /// The next row at hand, as its batch and place.
    pub(super) fn next(&mut self) -> Option<(&RowEncoder, usize)> {
        let batch = self.batch.as_ref().filter(|batch| self.row < batch.len())?;
        self.row += 1;
        Some((batch, self.row - 1))
    }
}
