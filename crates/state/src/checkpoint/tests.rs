//! Segments: written, merged, damaged.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use bytes::Bytes;
use millstream_types::{KeyGroupRange, SqlState};
use proptest::prelude::*;

use super::*;
use crate::{SnapshotReader, SnapshotWriter, StateEntry, StateTableId};

const ALL: KeyGroupRange = KeyGroupRange { start: 0, end: 128 };

fn entry(key_group: u16, table: u16, key: &[u8], value: Option<&[u8]>) -> StateEntry {
    StateEntry { key_group, table: StateTableId(table), key: key.to_vec(), value: value.map(<[u8]>::to_vec) }
}

fn segment(entries: impl IntoIterator<Item = StateEntry>) -> (SegmentHandle, Bytes) {
    let mut writer = SegmentWriter::default();
    entries.into_iter().for_each(|e| writer.put(e).unwrap());
    let bytes = writer.into_bytes();
    (SegmentWriter::handle("f", 0, &bytes), bytes.into())
}

fn drain(mut snapshot: SegmentSnapshot, range: KeyGroupRange) -> Vec<StateEntry> {
    std::iter::from_fn(|| snapshot.next(range).unwrap()).collect()
}

#[test]
fn the_golden_segment_is_still_read() {
    // The 1st version of the format, byte by byte: two entries, one of them gone.
    let golden =
        b"MSSG\x01\x00\x07\x00\x02\x00\x03\x00\x00\x00key\x05\x00\x00\x00\x01abcd\x08\x00\x02\x00\x01\x00\x00\x00k\xff\xff\xff\xff";
    let (handle, written) = segment([entry(7, 2, b"key", Some(b"\x01abcd")), entry(8, 2, b"k", None)]);
    assert_eq!(written.as_ref(), golden);
    let mut snapshot = SegmentSnapshot::default();
    snapshot.add(&handle, Bytes::from_static(golden), ALL).unwrap();
    assert_eq!(drain(snapshot, ALL), [entry(7, 2, b"key", Some(b"\x01abcd"))]);
}

#[test]
fn a_newer_version_is_refused_by_its_number() {
    let (handle, bytes) = segment([]);
    let mut bytes = bytes.to_vec();
    bytes[4] = 9;
    let error = SegmentSnapshot::default().add(&handle, bytes.into(), ALL).unwrap_err();
    assert!(error.detail().unwrap().contains("version 9"), "{error}");
}

#[tokio::test]
async fn files_are_checked_when_they_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let storage = CheckpointStorage::local(directory.path()).unwrap();
    let (_, bytes) = segment([entry(1, 0, b"a", Some(b"1"))]);
    let handle = SegmentWriter::handle("5/one", 0, &bytes);
    storage.write("5/one", bytes.clone()).await.unwrap();
    assert_eq!(storage.read(&handle).await.unwrap(), bytes);
    assert_eq!(storage.list().await.unwrap(), ["5/one"]);
    let mut damaged = bytes.to_vec();
    damaged[10] ^= 1;
    std::fs::write(directory.path().join("5/one"), damaged).unwrap();
    let error = storage.read(&handle).await.unwrap_err();
    assert_eq!(error.state(), SqlState::DATA_CORRUPTED);
    assert!(error.message().contains("5/one"), "{error}");
    storage.delete(vec!["5/one".into(), "5/two".into()]).await.unwrap();
    assert_eq!(storage.read(&handle).await.unwrap_err().state(), SqlState::UNDEFINED_FILE);
}

proptest! {
    #[test]
    fn later_segments_win_and_ranges_split(
        segments in prop::collection::vec(prop::collection::vec((0u16..128, 0u8..12, prop::option::of(0u8..9)), 0..20), 1..5)
    ) {
        let (mut model, mut low, mut high) = (BTreeMap::new(), SegmentSnapshot::default(), SegmentSnapshot::default());
        let parts = [KeyGroupRange { start: 0, end: 50 }, KeyGroupRange { start: 50, end: 128 }];
        for changes in segments {
            // A key has one key group.
            let changes: Vec<_> = changes.into_iter().map(|(_, key, value)| (u16::from(key) * 10, key, value)).collect();
            for (group, key, value) in &changes {
                match value {
                    Some(value) => model.insert(*key, (*group, *value)),
                    None => model.remove(key),
                };
            }
            let (handle, bytes) = segment(changes.iter().map(|(g, k, v)| entry(*g, 0, &[*k], v.as_ref().map(std::slice::from_ref))));
            handle.check(&bytes).unwrap();
            low.add(&handle, bytes.clone(), parts[0]).unwrap();
            high.add(&handle, bytes, parts[1]).unwrap();
        }
        let found: Vec<StateEntry> = drain(low, parts[0]).into_iter().chain(drain(high, parts[1])).collect();
        let expected: Vec<StateEntry> = model.into_iter().map(|(k, (g, v))| entry(g, 0, &[k], Some(&[v]))).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200), valid in any::<bool>()) {
        let bytes = if valid { [b"MSSG\x01\x00".as_slice(), &bytes].concat() } else { bytes };
        let handle = SegmentWriter::handle("f", 0, &bytes);
        // An error or entries, never a panic.
        let _ = SegmentSnapshot::default().add(&handle, bytes.into(), ALL);
    }
}
