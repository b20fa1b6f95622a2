//! The workspace itself passes its own checks, so that `cargo test` alone says so.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use xtask::{Severity, Tree};

#[test]
fn the_workspace_is_tidy() {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let root = Path::new(&here).parent().unwrap();
    let found = xtask::check(&Tree::read(root).unwrap());
    let errors: Vec<_> = found.iter().filter(|f| f.severity == Severity::Error).map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn a_tree_on_disk_is_read_with_its_violations() {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("Cargo.lock", "version = 4\n");
    write(
        "crates/state/Cargo.toml",
        "[package]\nname = \"millstream-state\"\n[lints]\nworkspace = true\n[dependencies]\ndatafusion = \"55\"\n",
    );
    write("crates/state/src/helpers.rs", "fn main() {}\n");
    write("target/debug/build.rs", "fn main() {}\n");
    write(".git/config.rs", "fn main() {}\n");
    let found = xtask::check(&Tree::read(dir.path()).unwrap());
    let seen: Vec<_> = found.iter().map(|f| (f.path.as_str(), f.rule)).collect();
    assert_eq!(
        seen,
        [
            ("crates/state/src/helpers.rs", "header"),
            ("crates/state/src/helpers.rs", "empty-name"),
            ("crates/state/Cargo.toml", "datafusion"),
        ]
    );
}
