//! The state machine of checkpoints, and the record.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::time::Duration;

use millstream_state::{SegmentWriter, SnapshotKind};
use millstream_types::{ExecutionAttemptId, ExecutionVertexId, JobId, JobVertexId, OperatorId};

use super::core::{AbortCause, Action, CheckpointCore, Event};
use super::record::JobCheckpoint;
use crate::gateway::{PersistedOperator, PersistedTask};

const A: JobId = JobId(1);
const B: JobId = JobId(2);
const C: JobId = JobId(3);
const START: Duration = Duration::from_secs(10);

fn frozen(job: JobId, epoch: u64) -> Event<u8> {
    Event::Frozen { job, epoch, frozen: 7 }
}

#[test]
fn a_group_is_written_when_all_of_it_has_handed_over() {
    let mut core = CheckpointCore::new(Duration::from_secs(60));
    assert_eq!(core.on(Event::Triggered { epoch: 5, jobs: vec![A, B] }, START), []);
    assert_eq!(core.on(Event::Triggered { epoch: 5, jobs: vec![C] }, START), []);
    assert_eq!(core.on(frozen(A, 5), START), []);
    let alone = Action::Persist { epoch: 5, started: START, jobs: BTreeMap::from([(C, 7)]) };
    assert_eq!(core.on(frozen(C, 5), START), [alone], "another group waits for nobody");
    let both = Action::Persist { epoch: 5, started: START, jobs: BTreeMap::from([(A, 7), (B, 7)]) };
    assert_eq!(core.on(frozen(B, 5), START), [both]);
    assert_eq!(core.on(frozen(B, 5), START), [], "a second hand-over is nothing");
}

#[test]
fn a_group_that_loses_a_job_or_takes_too_long_is_given_up() {
    let mut core = CheckpointCore::new(Duration::from_secs(60));
    core.on(Event::Triggered { epoch: 5, jobs: vec![A, B] }, START);
    core.on(frozen(A, 5), START);
    let gone = Action::Abort { epoch: 5, started: START, jobs: vec![A, B], cause: AbortCause::Gone(B) };
    assert_eq!(core.on(Event::Gone { job: B }, START), [gone]);
    assert_eq!(core.on(frozen(A, 5), START), [], "its late parts are of no use");
    core.on(Event::Triggered { epoch: 9, jobs: vec![A] }, START);
    assert_eq!(core.on_time(START + Duration::from_secs(60)), []);
    let late = Action::Abort { epoch: 9, started: START, jobs: vec![A], cause: AbortCause::Timeout };
    assert_eq!(core.on_time(START + Duration::from_secs(61)), [late]);
}

fn task(subtask: u32, kind: SnapshotKind, file: &str, bytes: usize, committables: Vec<Vec<u8>>) -> PersistedTask {
    let vertex = ExecutionVertexId { job: A, vertex: JobVertexId(1), subtask };
    let segment = Some(SegmentWriter::handle(file, 0, &vec![0; bytes]));
    let operator = PersistedOperator { operator: OperatorId(4), kind, segment, keys: 3, committables };
    PersistedTask { attempt: ExecutionAttemptId { vertex, attempt: 0 }, parallelism: 2, operators: vec![operator], sync: Duration::ZERO }
}

#[test]
fn records_chain_changes_until_they_are_long_and_keep_subtasks_that_have_ended() {
    let both = [task(0, SnapshotKind::Full, "a", 3 << 20, vec![b"x".to_vec()]), task(1, SnapshotKind::Full, "a", 100, vec![])];
    let first = JobCheckpoint::next(None, A, 5, true, &both);
    assert_eq!((first.base(), first.files().count()), (5, 2));
    let one = [task(0, SnapshotKind::Delta, "b", 100, vec![])];
    let second = JobCheckpoint::next(Some(&first), A, 6, true, &one);
    assert_eq!(second.files().collect::<Vec<_>>(), ["a", "b", "a"]);
    assert_eq!(second.subtasks().map(|s| s.committables.len()).sum::<usize>(), 0, "what was published is not published again");
    let long = JobCheckpoint::next(Some(&second), A, 7, true, &[task(0, SnapshotKind::Delta, "c", 3 << 20, vec![])]);
    assert_eq!(long.base(), 0, "more changes than state: everything is written anew");
    let anew = JobCheckpoint::next(Some(&long), A, 8, true, &[task(0, SnapshotKind::Full, "d", 50, vec![])]);
    assert_eq!(anew.files().collect::<Vec<_>>(), ["d", "a"]);
    let read = JobCheckpoint::decode("k", &anew.encode().unwrap()).unwrap();
    assert_eq!(read, anew);
    let newer = String::from_utf8(anew.encode().unwrap()).unwrap().replace("\"version\":1", "\"version\":9");
    assert!(JobCheckpoint::decode("k", newer.as_bytes()).unwrap_err().detail().unwrap().contains("version 9"));
}
