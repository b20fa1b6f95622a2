//! Connectors: where rows come from outside and go to outside.
//!
//! In the order a statement meets them: [`registry`] is the closed list of connectors, `options` parses what stands in WITH (...).
//! Sources: [`nexmark`] and [`datagen`] make rows up, paced by `throttle`, from the hashes in `random`; [`filesystem`] reads files, and
//! writes them. Other sinks: [`blackhole`] counts, [`print`] logs.

pub mod blackhole;
pub mod datagen;
pub mod filesystem;
pub mod nexmark;
mod options;
pub mod print;
mod random;
pub mod registry;
mod throttle;

pub use registry::{ConnectorRegistry, SinkProperties, SourceProperties};
