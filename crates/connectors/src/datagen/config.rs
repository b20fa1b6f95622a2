//! The options of a `datagen` source.

use std::collections::BTreeMap;

use millstream_types::{Error, Result, Schema, SqlState};

use super::column::{ATTRIBUTES, ColumnGenerator};
use crate::options::{Known, Options, known};

const KNOWN: [Known; 3] = [known("rows_per_second"), known("number_of_rows"), known("seed")];

/// Row numbers stay below this.
const MAX_ROWS: u64 = 1 << 60;

/// Parsed options.
#[derive(Debug)]
pub struct DatagenConfig {
    /// One per declared column.
    pub(super) columns: Vec<ColumnGenerator>,
    /// Rows of all subtasks together; `None`: no end.
    rows: Option<u64>,
    /// 0: as fast as possible.
    pub(super) per_second: u64,
}

impl DatagenConfig {
    /// Options: `rows_per_second` (default 10000; 0: as fast as possible), `number_of_rows` (absent: until the first sequence ends),
    /// `seed`, and per column `kind` ('random', the default, 'sequence', or 'now' for timestamps), `start`, `end` and `step` of a
    /// sequence, `min`, `max` and `length` of random values.
    ///
    /// # Errors
    /// 42704, 22023; 42P16 without columns; 0A000 for a column type that cannot be made up.
    pub fn parse(options: &BTreeMap<String, String>, schema: &Schema) -> Result<Self> {
        let options = Options::with_fields("datagen", options, &KNOWN, &ATTRIBUTES, schema)?;
        if schema.is_empty() {
            return Err(Error::new(SqlState::INVALID_TABLE_DEFINITION, "a datagen source needs columns")
                .with_hint("Declare them: CREATE SOURCE name (id bigint, word text) WITH (connector = 'datagen')."));
        }
        let seed = options.number("seed", 0..=u64::MAX)?.unwrap_or(0);
        let columns = schema.columns.iter().enumerate();
        let columns = columns.map(|(i, c)| ColumnGenerator::parse(&options, c, seed, i as u64)).collect::<Result<Vec<_>>>()?;
        let wanted = options.number("number_of_rows", 0..=MAX_ROWS)?;
        let rows = columns.iter().filter_map(ColumnGenerator::rows).chain(wanted).min();
        Ok(DatagenConfig { columns, rows, per_second: options.number("rows_per_second", 0..=1_000_000_000)?.unwrap_or(10_000) })
    }

    /// True if it ends.
    pub fn is_bounded(&self) -> bool {
        self.rows.is_some()
    }

    /// The number of the first row that is not there.
    pub(super) fn end(&self) -> u64 {
        self.rows.unwrap_or(MAX_ROWS)
    }
}
