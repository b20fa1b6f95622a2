//! The vocabulary every other crate speaks: ids, SQL types, change batches, stream elements, key groups, time, limits and errors.
//!
//! In the order a row meets them: [`sql_type`] and [`schema`] say what a column is, [`change_batch`] carries rows with their
//! [`row_kind`], [`stream_element`] puts batches, watermarks and barriers into one stream, [`key_group`] says which subtask owns a
//! key, [`ids`] names jobs, tasks and relations, [`error`] is the one error type, [`faults`] makes failures on demand, [`limits`] holds every limit with its unit.

pub mod change_batch;
pub mod changelog;
pub mod clock;
pub mod datum;
pub mod error;
pub mod faults;
pub mod ids;
pub mod key_group;
pub mod limits;
pub mod row_kind;
pub mod schema;
pub mod sql_type;
pub mod stream_element;

pub use change_batch::ChangeBatch;
pub use changelog::ChangelogMode;
pub use clock::{Clock, SimulatedClock, SystemClock};
pub use datum::Datum;
pub use error::{Error, Result, SqlState};
pub use ids::*;
pub use key_group::{KeyGroup, KeyGroupRange, KeyHasher};
pub use row_kind::RowKind;
pub use schema::{Column, Schema};
pub use sql_type::SqlType;
pub use stream_element::{Barrier, CheckpointMark, StreamElement, WATERMARK_MAX, Watermark};
