//! Both stores behave the same; the one on disk survives.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn expect(key: &str, revision: Option<Revision>) -> Expected {
    Expected { key: key.into(), revision }
}

fn put(key: &str, value: &str) -> MetadataWrite {
    MetadataWrite::Put(key.into(), value.into())
}

fn contents(store: &dyn MetadataStore) -> BTreeMap<String, (Revision, Vec<u8>)> {
    store.scan("").unwrap().into_iter().map(|(k, m)| (k, (m.revision, m.value))).collect()
}

fn check(store: &dyn MetadataStore) {
    let first = store.commit(&[expect("job/1", None)], vec![put("job/1", "a"), put("job/2", "b"), put("other", "c")]).unwrap();
    assert_eq!(store.get("job/1").unwrap().unwrap(), Metadata { revision: first, value: b"a".to_vec() });
    assert_eq!(store.scan("job/").unwrap().len(), 2);
    let stale = store.commit(&[expect("job/1", None)], vec![put("job/1", "x"), put("job/3", "x")]).unwrap_err();
    assert_eq!(stale.state(), SqlState::SERIALIZATION_FAILURE);
    assert_eq!(store.get("job/3").unwrap(), None, "a refused commit writes nothing");
    let second = store.commit(&[expect("job/1", Some(first))], vec![put("job/1", "d"), MetadataWrite::Delete("job/2".into())]).unwrap();
    assert!(second > first);
    assert_eq!(store.scan("job/").unwrap().len(), 1);
}

#[test]
fn commits_are_atomic_and_compare() {
    check(&MemoryMetadata::default());
    let directory = tempfile::tempdir().unwrap();
    check(&RocksMetadata::open(directory.path()).unwrap());
}

#[test]
fn a_second_opener_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let _first = RocksMetadata::open(directory.path()).unwrap();
    let error = RocksMetadata::open(directory.path()).unwrap_err();
    assert_eq!(error.state(), SqlState::OBJECT_IN_USE);
    assert!(error.message().contains(&directory.path().display().to_string()), "{error}");
}

#[test]
fn a_newer_layout_is_refused_before_anything_is_read() {
    let directory = tempfile::tempdir().unwrap();
    drop(RocksMetadata::open(directory.path()).unwrap());
    {
        let db = rocksdb::DB::open_default(directory.path()).unwrap();
        db.put(b"\0layout", 99u32.to_le_bytes()).unwrap();
    }
    let error = RocksMetadata::open(directory.path()).unwrap_err();
    assert!(error.detail().unwrap().contains("layout 99"), "{error}");
}

#[test]
fn a_flipped_bit_is_found() {
    let directory = tempfile::tempdir().unwrap();
    {
        let store = RocksMetadata::open(directory.path()).unwrap();
        store.commit(&[], vec![put("k", &"value".repeat(1000))]).unwrap();
        store.commit(&[], vec![put("l", "last")]).unwrap();
    }
    let log = std::fs::read_dir(directory.path()).unwrap().map(|e| e.unwrap().path()).find(|p| p.extension().is_some_and(|e| e == "log"));
    let log = log.unwrap();
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.windows(5).rposition(|w| w == b"value").unwrap() - 1000;
    bytes[middle] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    let error = RocksMetadata::open(directory.path()).map(|s| contents(&s)).unwrap_err();
    assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn the_store_on_disk_is_the_one_in_memory_after_every_reopening(
        commits in prop::collection::vec(prop::collection::vec((0u8..6, prop::option::of("[a-z]{0,8}")), 1..4), 1..12)
    ) {
        let directory = tempfile::tempdir().unwrap();
        let model = MemoryMetadata::default();
        for commit in commits {
            let store = RocksMetadata::open(directory.path()).unwrap();
            let writes: Vec<MetadataWrite> = commit
                .into_iter()
                .map(|(key, value)| match value {
                    Some(value) => put(&format!("k{key}"), &value),
                    None => MetadataWrite::Delete(format!("k{key}")),
                })
                .collect();
            prop_assert_eq!(store.commit(&[], writes.clone()).unwrap(), model.commit(&[], writes).unwrap());
            prop_assert_eq!(contents(&store), contents(&model));
        }
    }
}
