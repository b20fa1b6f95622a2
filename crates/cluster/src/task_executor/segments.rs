//! The state of many tasks as one file.

use millstream_runtime::task::FrozenTask;
use millstream_state::{SegmentWriter, SnapshotKind};
use millstream_types::{ExecutionAttemptId, Result};

use crate::gateway::{PersistedOperator, PersistedTask};

/// A file and what is in it.
pub(super) struct Written {
    pub(super) bytes: Vec<u8>,
    pub(super) tasks: Vec<PersistedTask>,
}

/// Puts the state of tasks one behind the other. Work for a thread that may be busy for a while.
///
/// # Errors
/// What an operator raises while its state is written.
pub(super) fn encode(file: &str, tasks: Vec<(ExecutionAttemptId, FrozenTask)>) -> Result<Written> {
    let mut written = Written { bytes: vec![], tasks: vec![] };
    for (attempt, task) in tasks {
        let mut operators = vec![];
        for frozen in task.operators {
            let segment = frozen.state.into_segment()?;
            let unchanged = frozen.kind == SnapshotKind::Delta && segment.entries() == 0;
            let segment = (!unchanged).then(|| {
                let bytes = segment.into_bytes();
                let handle = SegmentWriter::handle(file, written.bytes.len() as u64, &bytes);
                written.bytes.extend_from_slice(&bytes);
                handle
            });
            let (operator, kind, keys) = (frozen.operator, frozen.kind, frozen.keys);
            operators.push(PersistedOperator { operator, kind, segment, keys, committables: frozen.committables });
        }
        written.tasks.push(PersistedTask { attempt, parallelism: task.parallelism, operators, sync: task.sync });
    }
    Ok(written)
}
