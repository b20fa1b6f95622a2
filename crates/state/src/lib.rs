//! State: what operators and tables remember.
//!
//! [`key_codec`] turns key columns into ordered bytes, [`keyed`] holds the state of operators by key, [`snapshot`] carries it from one
//! attempt to the next, [`relation`] keeps the rows of tables and views in versions for readers and subscribers, [`log`] is the DML log.
//! Everything is in memory behind interfaces that a disk fits under.

pub mod key_codec;
pub mod keyed;
pub mod log;
pub mod metadata;
pub mod relation;
pub mod snapshot;

pub use key_codec::KeyCodec;
pub use keyed::{KeyedTable, StateTableId, StateValue};
pub use log::{LogPosition, LogRecord, LogStore, MemoryLog};
pub use metadata::{Expected, MemoryMetadata, Metadata, MetadataStore, MetadataWrite, Revision, RocksMetadata};
pub use relation::{RelationSpec, RelationStore, RelationWriter, ScanRequest, ScanStream, Subscription, SubscriptionPoll};
pub use snapshot::{MemorySnapshot, SnapshotReader, SnapshotWriter, StateEntry};
