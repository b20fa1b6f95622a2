//! House rules for files, one per module. Each is a function from the tree to what breaks it.

mod header;
mod ignored_tests;
mod length;
mod links;
mod names;
mod registry_hosts;
mod sleeps;
mod unfinished;
mod whitespace;
mod words;

use crate::{Finding, Tree};

/// Runs every rule.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let rules: [fn(&Tree) -> Vec<Finding>; 9] = [
        header::check,
        length::check,
        unfinished::check,
        ignored_tests::check,
        sleeps::check,
        names::check,
        whitespace::check,
        links::check,
        registry_hosts::check,
    ];
    rules.iter().flat_map(|rule| rule(tree)).collect()
}
