//! Rules for dependencies: which crate may use which, and one version of each dependency whose types cross crates.

mod arrows;
mod manifest;
mod versions;

use crate::{Finding, Tree};

/// Runs every rule.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = arrows::check(tree);
    found.extend(versions::check(tree));
    found
}
