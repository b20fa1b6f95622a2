//! State: what operators and tables remember.
//!
//! [`key_codec`] turns key columns into ordered bytes, [`keyed`] holds the state of operators by key, [`snapshot`] and [`checkpoint`] carry it from
//! one attempt to the next, [`relation`] keeps the rows of tables and views in versions for readers and subscribers, [`log`] is the DML log.
//! [`metadata`] is what must survive whole.

pub mod checkpoint;
pub mod key_codec;
pub mod keyed;
pub mod log;
pub mod metadata;
pub mod relation;
pub mod snapshot;

pub use checkpoint::{
    CheckpointStorage, FrozenOperator, FrozenState, SegmentHandle, SegmentReader, SegmentSnapshot, SegmentWriter, SnapshotKind,
};
pub use key_codec::KeyCodec;
pub use keyed::{KeyedTable, StateTableId, StateValue};
pub use log::{FileLog, LogPosition, LogRecord, LogState, LogStore, LogWaker, MemoryLog, wait_durable};
pub use metadata::{Expected, MemoryMetadata, Metadata, MetadataStore, MetadataWrite, Revision, RocksMetadata};
pub use relation::{RelationSpec, RelationStore, RelationWriter, ScanRequest, ScanStream, Subscription, SubscriptionPoll};
pub use snapshot::{SnapshotReader, SnapshotWriter, StateEntry};
