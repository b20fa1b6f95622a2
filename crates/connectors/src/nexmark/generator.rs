//! Any column of any table for a list of event numbers.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, StructArray, TimestampMicrosecondArray, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::DataType;
use millstream_types::{Error, Result};

use super::bid::{self, Channels};
use super::config::NexmarkConfig;
use super::model::{EventTime, FIRST_ID, auction_seller, bid_auction, bid_bidder, last_auction, last_person, price};
use super::table::{AUCTIONS_PER_ROUND, EVENTS_PER_ROUND, Table};
use super::{auction, person};
use crate::random::{RandomColumn, again, below};

/// Categories of auctions, and the first.
const CATEGORIES: u64 = 5;
const FIRST_CATEGORY: u64 = 10;

/// Makes columns.
pub(super) struct Generator {
    seed: u64,
    time: EventTime,
    channels: Arc<Channels>,
}

fn numbers(events: &[u64], f: impl Fn(u64) -> i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(events.iter().map(|&n| f(n))))
}

fn no_column(table: Table, index: usize) -> Error {
    Error::internal(format!("nexmark's {table:?} has no column {index}"))
}

impl Generator {
    pub(super) fn new(config: &NexmarkConfig) -> Self {
        Generator { seed: config.seed, time: EventTime::new(config.rate), channels: Channels::new(config.seed) }
    }

    /// Column `index` of `table` for `events`, all of which are of the table's kind.
    pub(super) fn column(&self, table: Table, index: usize, events: &[u64]) -> Result<ArrayRef> {
        match table {
            Table::Person => self.person(index, events),
            Table::Auction => self.auction(index, events),
            Table::Bid => self.bid(index, events),
            Table::All => match index {
                0 => Ok(Arc::new(Int32Array::from_iter_values(events.iter().map(|n| event_type(*n))))),
                1 => self.nested(Table::Person, events),
                2 => self.nested(Table::Auction, events),
                3 => self.nested(Table::Bid, events),
                _ => Err(no_column(table, index)),
            },
        }
    }

    fn random(&self, table: Table, index: usize) -> RandomColumn {
        RandomColumn::new(self.seed, table as u64 * 16 + index as u64)
    }

    fn times(&self, events: &[u64]) -> ArrayRef {
        Arc::new(TimestampMicrosecondArray::from_iter_values(events.iter().map(|&n| self.time.at(n))))
    }

    fn person(&self, index: usize, events: &[u64]) -> Result<ArrayRef> {
        let random = self.random(Table::Person, index);
        match index {
            0 => Ok(numbers(events, |n| (FIRST_ID + last_person(n)) as i64)),
            1 => person::name(random, events),
            2 => person::email_address(random, events),
            3 => person::credit_card(random, events),
            4 => person::city(random, events),
            5 => person::state(random, events),
            6 => Ok(self.times(events)),
            7 => person::extra(random, events),
            _ => Err(no_column(Table::Person, index)),
        }
    }

    fn auction(&self, index: usize, events: &[u64]) -> Result<ArrayRef> {
        let table = Table::Auction;
        let random = self.random(table, index);
        Ok(match index {
            0 => numbers(events, |n| (FIRST_ID + last_auction(n)) as i64),
            1 => auction::item_name(random, events)?,
            2 => auction::description(random, events)?,
            3 => numbers(events, |n| price(random.at(n))),
            4 => {
                let initial = self.random(table, 3);
                numbers(events, |n| price(initial.at(n)) + price(again(random.at(n))))
            }
            5 => self.times(events),
            6 => Arc::new(TimestampMicrosecondArray::from_iter_values(events.iter().map(|&n| self.time.expires(n, random.at(n))))),
            7 => numbers(events, |n| auction_seller(n, random.at(n))),
            8 => numbers(events, |n| (FIRST_CATEGORY + below(random.at(n), CATEGORIES)) as i64),
            9 => auction::extra(random, self.random(table, 1), self.random(table, 2), events)?,
            _ => return Err(no_column(table, index)),
        })
    }

    fn bid(&self, index: usize, events: &[u64]) -> Result<ArrayRef> {
        let table = Table::Bid;
        let random = self.random(table, index);
        match index {
            0 => Ok(numbers(events, |n| bid_auction(n, random.at(n)))),
            1 => Ok(numbers(events, |n| bid_bidder(n, random.at(n)))),
            2 => Ok(numbers(events, |n| price(random.at(n)))),
            3 => self.channels.names(random, events),
            4 => self.channels.urls(self.random(table, 3), events),
            5 => Ok(self.times(events)),
            6 => bid::extra(random, events),
            _ => Err(no_column(table, index)),
        }
    }

    /// All columns of one kind as rows, NULL for events of other kinds.
    fn nested(&self, table: Table, events: &[u64]) -> Result<ArrayRef> {
        let mut own = vec![];
        let place = |n: &u64| {
            let mine = kind(*n) == table;
            if mine {
                own.push(*n);
            }
            mine.then(|| own.len() as u32 - 1)
        };
        let places: UInt32Array = events.iter().map(place).collect();
        let schema = table.schema();
        let columns = (0..schema.len()).map(|i| self.column(table, i, &own)).collect::<Result<Vec<_>>>()?;
        let DataType::Struct(fields) = millstream_types::SqlType::Row(schema.columns).to_arrow() else {
            return Err(Error::internal("a row type is no struct"));
        };
        if own.is_empty() {
            return Ok(arrow::array::new_null_array(&DataType::Struct(fields), events.len()));
        }
        Ok(take(&StructArray::try_new(fields, columns, None)?, &places, None)?)
    }
}

fn kind(n: u64) -> Table {
    match n % EVENTS_PER_ROUND {
        0 => Table::Person,
        offset if offset <= AUCTIONS_PER_ROUND => Table::Auction,
        _ => Table::Bid,
    }
}

fn event_type(n: u64) -> i32 {
    kind(n) as i32
}
