//! The options of a `nexmark` source.

use std::collections::BTreeMap;

use millstream_types::{Error, Result, Schema, SqlState};

use super::table::Table;
use crate::options::{Known, Options, aliased, known};

const KNOWN: [Known; 5] = [
    aliased("table", &["table_type"]),
    aliased("events", &["number_of_events"]),
    aliased("rate", &["event_rate"]),
    aliased("rows_per_second", &["real_rate"]),
    known("seed"),
];

/// Event numbers stay below this, so that times and ids never overflow.
const MAX_EVENTS: u64 = 1 << 50;

/// Parsed options.
#[derive(Clone, Copy, Debug)]
pub struct NexmarkConfig {
    pub(super) table: Table,
    /// Events of all kinds and subtasks together; `None`: no end.
    pub(super) events: Option<u64>,
    /// Events per second of event time.
    pub(super) rate: u64,
    /// Events per second of wall-clock time; 0: as fast as possible.
    pub(super) per_second: u64,
    pub(super) seed: u64,
}

impl NexmarkConfig {
    /// Options: `table` ('person', 'auction', 'bid'; absent: all events in one), `events` (absent: unbounded), `rate` (event time,
    /// default 10000 per second), `rows_per_second` (wall-clock time, all kinds together, default 0: as fast as possible), `seed`.
    ///
    /// # Errors
    /// 42704, 22023.
    pub fn parse(options: &BTreeMap<String, String>) -> Result<Self> {
        let options = Options::new("nexmark", options, &KNOWN)?;
        let tables = [("person", Table::Person), ("auction", Table::Auction), ("bid", Table::Bid)];
        Ok(NexmarkConfig {
            table: options.choice("table", &tables)?.unwrap_or(Table::All),
            events: options.number("events", 0..=MAX_EVENTS)?,
            rate: options.number("rate", 1..=1_000_000_000)?.unwrap_or(10_000),
            per_second: options.number("rows_per_second", 0..=1_000_000_000)?.unwrap_or(0),
            seed: options.number("seed", 0..=u64::MAX)?.unwrap_or(0),
        })
    }

    /// True if it ends.
    pub fn is_bounded(&self) -> bool {
        self.events.is_some()
    }

    /// The number of the first event that is not there.
    pub(super) fn end(&self) -> u64 {
        self.events.unwrap_or(MAX_EVENTS)
    }

    /// The declared columns, if they are some of the table's; all of the table's if none are declared.
    ///
    /// # Errors
    /// 42703 for a column the table does not have, 42804 for another type.
    pub fn schema(&self, declared: &Schema) -> Result<Schema> {
        let all = self.table.schema();
        if declared.is_empty() {
            return Ok(all);
        }
        self.columns_of(declared)?;
        Ok(declared.clone())
    }

    /// For each declared column the table's column of that name.
    pub(super) fn columns_of(&self, declared: &Schema) -> Result<Vec<usize>> {
        let all = self.table.schema();
        let find = |column: &millstream_types::Column| {
            let Some(index) = all.index_of(&column.name) else {
                let names: Vec<_> = all.columns.iter().map(|c| c.name.as_str()).collect();
                return Err(Error::new(SqlState::UNDEFINED_COLUMN, format!("nexmark has no column \"{}\" here", column.name))
                    .with_detail(format!("The columns are {}.", names.join(", "))));
            };
            let real = &all.columns[index].sql_type;
            if *real != column.sql_type {
                return Err(Error::new(
                    SqlState::DATATYPE_MISMATCH,
                    format!("column \"{}\" is of type {real}, not {}", column.name, column.sql_type),
                ));
            }
            Ok(index)
        };
        declared.columns.iter().map(find).collect()
    }
}
