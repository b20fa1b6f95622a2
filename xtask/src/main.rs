//! `cargo xtask`: runs the workspace's checks and prints what breaks them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use xtask::{Finding, Severity, Tree};

const USAGE: &str = "usage: cargo xtask <command>

  check   tidy and deps
  tidy    house rules for files: headers, lengths, names, leftovers, links
  deps    which crate may use which, and one version of each shared dependency";

fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let check: fn(&Tree) -> Vec<Finding> = match command.as_str() {
        "check" => xtask::check,
        "tidy" => xtask::tidy::check,
        "deps" => xtask::deps::check,
        _ => {
            say(&mut std::io::stderr(), USAGE);
            return ExitCode::from(2);
        }
    };
    match workspace_root().and_then(|root| Tree::read(&root)) {
        Ok(tree) => report(&tree, &check(&tree)),
        Err(error) => {
            say(&mut std::io::stderr(), &format!("xtask: {error}"));
            ExitCode::from(2)
        }
    }
}

fn report(tree: &Tree, found: &[Finding]) -> ExitCode {
    let mut out = std::io::stdout().lock();
    for finding in found {
        say(&mut out, &finding.to_string());
    }
    let errors = found.iter().filter(|f| f.severity == Severity::Error).count();
    say(&mut out, &format!("xtask: {} files, {errors} errors, {} warnings", tree.len(), found.len() - errors));
    if errors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The nearest folder upwards that holds the lock file: looked for at run time, since checkouts may share one built binary.
fn workspace_root() -> std::io::Result<PathBuf> {
    let here = std::env::current_dir()?;
    let root = here.ancestors().find(|dir| dir.join("Cargo.lock").is_file());
    root.map(Path::to_path_buf).ok_or_else(|| std::io::Error::other("no Cargo.lock in this folder or above it"))
}

fn say(out: &mut dyn Write, text: &str) {
    // A closed pipe is the reader's choice; the exit code still tells.
    let _ = writeln!(out, "{text}");
}
