//! Source `nexmark`: persons, auctions and bids of an online auction, 1 : 3 : 46, made up as columns.
//!
//! The model is the public one (`nexmark/nexmark`, after Beam's): which ids exist at an event, how hot some are, how long texts are. The
//! values are ours: each depends only on (seed, event number, column), so columns nobody reads are not made, and neither projection
//! nor parallelism changes any value. [`table`] says which columns there are, [`config`] parses options, [`model`] holds ids, times and
//! prices, [`bid`], [`auction`] and [`person`] make the columns, [`text`] builds string columns, [`reader`] cuts them into batches.

mod auction;
mod bid;
mod config;
mod generator;
mod model;
mod person;
mod reader;
mod table;
#[cfg(test)]
mod tests;
mod text;

pub use config::NexmarkConfig;
pub use reader::NexmarkReader;
