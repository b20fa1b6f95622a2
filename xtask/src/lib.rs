//! Checks on the workspace itself that no compiler makes: house rules for files (`tidy`) and for dependencies (`deps`).
//!
//! A rule reads a [`Tree`] and returns [`Finding`]s; it does no I/O, so a test can hand it a tree that breaks it.

pub mod deps;
mod finding;
pub mod tidy;
mod tree;

pub use finding::{Finding, Severity};
pub use tree::Tree;

/// Everything that both commands find.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = tidy::check(tree);
    found.extend(deps::check(tree));
    found
}
