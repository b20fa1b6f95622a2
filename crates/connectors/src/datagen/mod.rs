//! Source `datagen`: made-up rows, each column a sequence or random, the same for the same seed.
//!
//! [`config`] parses options (Flink's names: `fields.<column>.kind`, `rows-per-second`, `number-of-rows`), [`column`] makes one column,
//! [`reader`] gives subtask i of p every p-th row.

mod column;
mod config;
mod reader;
#[cfg(test)]
mod tests;

pub use config::DatagenConfig;
pub use reader::DatagenReader;
