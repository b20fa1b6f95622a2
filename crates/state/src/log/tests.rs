//! The log on disk: what was durable comes back, whatever happens to the rest.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use millstream_types::{ChangeBatch, Epoch, ObjectId, RelationId, SqlState};
use parking_lot::Mutex;
use proptest::prelude::*;

use super::*;

/// Files that forget what was not synced, and can be made to fail.
#[derive(Debug, Default)]
struct Forgetful {
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    syncs: Arc<AtomicUsize>,
    full: Arc<AtomicBool>,
}

struct ForgetfulFile {
    name: String,
    unsynced: Vec<u8>,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    syncs: Arc<AtomicUsize>,
    full: Arc<AtomicBool>,
}

impl LogFiles for Forgetful {
    fn create(&self, name: &str) -> io::Result<Box<dyn LogFile>> {
        self.files.lock().insert(name.into(), vec![]);
        let (files, syncs, full) = (Arc::clone(&self.files), Arc::clone(&self.syncs), Arc::clone(&self.full));
        Ok(Box::new(ForgetfulFile { name: name.into(), unsynced: vec![], files, syncs, full }))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.files.lock().keys().cloned().collect())
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        Ok(self.files.lock()[name].clone())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.files.lock().remove(name);
        Ok(())
    }
}

impl LogFile for ForgetfulFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.full.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.unsynced.extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.files.lock().entry(self.name.clone()).or_default().append(&mut self.unsynced);
        Ok(())
    }
}

const T: RelationId = ObjectId(1);

fn record(epoch: Epoch, tables: &[RelationId], value: i64) -> LogRecord {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![value]));
    let rows = RecordBatch::try_from_iter([("a", column)]).unwrap();
    LogRecord { epoch, changes: tables.iter().map(|t| (*t, ChangeBatch::inserts(rows.clone()))).collect() }
}

fn open(files: &Arc<Forgetful>) -> Result<FileLog> {
    FileLog::open(Arc::clone(files) as Arc<dyn LogFiles>, 1 << 30)
}

fn positions(log: &FileLog, table: RelationId) -> Vec<LogPosition> {
    log.read(table, 0, Epoch::MAX, usize::MAX).unwrap().unwrap().into_iter().map(|(position, _, _)| position).collect()
}

#[tokio::test]
async fn what_was_acknowledged_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let files = || Arc::new(Directory::open(directory.path()).unwrap());
    let log = FileLog::open(files(), 1 << 30).unwrap();
    for i in 1..=20 {
        let position = log.append(record(i, &[T], i as i64)).unwrap();
        wait_durable(&log, position).await.unwrap();
    }
    drop(log);
    let log = FileLog::open(files(), 1 << 30).unwrap();
    assert_eq!(positions(&log, T), (1..=20).collect::<Vec<_>>());
    assert_eq!(log.append(record(21, &[T], 21)).unwrap(), 21, "positions go on");
    log.truncate(T, 21);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "files without records go");
}

#[tokio::test]
async fn many_writers_share_a_sync() {
    let files = Arc::new(Forgetful::default());
    let log = Arc::new(open(&files).unwrap());
    let positions: Vec<_> = (0..200).map(|i| log.append(record(1, &[T], i)).unwrap()).collect();
    futures::future::join_all(positions.iter().map(|p| wait_durable(log.as_ref(), *p))).await;
    assert!(files.syncs.load(Ordering::Relaxed) < 100, "{:?}", files.syncs);
}

#[tokio::test]
async fn a_full_disk_ends_the_log_and_loses_nothing_that_was_acknowledged() {
    let files = Arc::new(Forgetful::default());
    let log = open(&files).unwrap();
    let first = log.append(record(1, &[T], 1)).unwrap();
    wait_durable(&log, first).await.unwrap();
    files.full.store(true, Ordering::Relaxed);
    let second = log.append(record(1, &[T], 2)).unwrap();
    let error = wait_durable(&log, second).await.unwrap_err();
    assert_eq!(error.state(), SqlState::DISK_FULL);
    assert_eq!(log.append(record(1, &[T], 3)).unwrap_err().state(), SqlState::DISK_FULL);
    drop(log);
    files.full.store(false, Ordering::Relaxed);
    assert_eq!(positions(&open(&files).unwrap(), T), [1]);
}

#[tokio::test]
async fn a_record_that_was_durable_and_is_damaged_is_an_error() {
    let files = Arc::new(Forgetful::default());
    let log = open(&files).unwrap();
    for i in 0..5 {
        let position = log.append(record(1, &[T], i)).unwrap();
        wait_durable(&log, position).await.unwrap();
    }
    drop(log);
    let (name, good) = files.files.lock().first_key_value().map(|(n, b)| (n.clone(), b.clone())).unwrap();
    let mut damaged = good.clone();
    damaged[60] ^= 1;
    files.files.lock().insert(name.clone(), damaged);
    let error = open(&files).unwrap_err();
    assert_eq!(error.state(), SqlState::DATA_CORRUPTED);
    assert!(error.message().contains(&name), "{error}");
    // The last record may be torn: it is not known to have been durable.
    files.files.lock().insert(name, good[..good.len() - 3].to_vec());
    assert_eq!(positions(&open(&files).unwrap(), T), [1, 2, 3, 4]);
}

#[test]
fn the_golden_frame_is_still_read() {
    let golden = include_bytes!("../../tests/golden/log_v1.bin");
    let first = frame::read_header(golden).unwrap().unwrap();
    let scan = frame::scan(golden, first).unwrap();
    let found: Vec<_> = scan.records.iter().map(|(p, _, r)| (*p, r.epoch, r.changes.len())).collect();
    assert_eq!(found, [(7, 3, 2), (8, 4, 1)]);
    assert_eq!(scan.records[1].2.changes[0].1.num_rows(), 1);
}

#[derive(Clone, Debug)]
enum Step {
    Append { table: u64, wait: bool },
    Truncate { table: u64 },
    Crash,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1u64..4, any::<bool>()).prop_map(|(table, wait)| Step::Append { table, wait }),
        1 => (1u64..4).prop_map(|table| Step::Truncate { table }),
        1 => Just(Step::Crash),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_acknowledged_record_is_lost_and_none_comes_twice(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let files = Arc::new(Forgetful::default());
        let mut log = Some(open(&files).unwrap());
        // By table: the records that must be there, and those that may be.
        let (mut must, mut may): (BTreeMap<u64, Vec<LogPosition>>, BTreeMap<u64, Vec<LogPosition>>) = Default::default();
        for (epoch, step) in (1u64..).zip(steps) {
            let current = log.as_ref().unwrap();
            match step {
                Step::Append { table, wait } => {
                    let position = current.append(record(epoch, &[ObjectId(table)], 1)).unwrap();
                    may.entry(table).or_default().push(position);
                    if wait {
                        runtime.block_on(wait_durable(current, position)).unwrap();
                        // Positions are one order: all before it are durable, too.
                        must = may.clone();
                    }
                }
                Step::Truncate { table } => {
                    current.truncate(ObjectId(table), epoch);
                    must.remove(&table);
                    may.remove(&table);
                }
                Step::Crash => {
                    // The thread may have been anywhere: what was not synced when the files are copied is lost.
                    let copy = Arc::new(Forgetful { files: Arc::new(Mutex::new(files.files.lock().clone())), ..Forgetful::default() });
                    drop(log.take());
                    *files.files.lock() = copy.files.lock().clone();
                    log = Some(open(&files).unwrap());
                    let reopened = log.as_ref().unwrap();
                    let last = reopened.watch().borrow().durable;
                    for table in 1..4 {
                        let found = positions(reopened, ObjectId(table));
                        let kept: Vec<_> = found.iter().copied().filter(|p| may.get(&table).is_some_and(|m| m.contains(p))).collect();
                        let needed = must.get(&table).cloned().unwrap_or_default();
                        prop_assert!(needed.iter().all(|p| kept.contains(p)), "table {table}: {needed:?} in {found:?}");
                        prop_assert!(found.is_sorted_by(|a, b| a < b));
                        // Truncated records may come back from a file that is still needed; their owner truncates again.
                        reopened.truncate(ObjectId(table), if may.contains_key(&table) { 0 } else { epoch });
                        may.entry(table).or_default().retain(|p| *p <= last);
                        may.insert(table, positions(reopened, ObjectId(table)));
                    }
                    must = may.clone();
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), valid in any::<bool>()) {
        let bytes = if valid { [frame::header(1), bytes].concat() } else { bytes };
        let files = Arc::new(Forgetful::default());
        files.files.lock().insert("1.log".into(), bytes);
        // An error or a log, never a panic.
        let _ = open(&files);
    }
}
