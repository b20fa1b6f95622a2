//! The texts of auctions.

use arrow::array::ArrayRef;
use millstream_types::Result;

use super::text::{TextColumn, push_extra, push_text, text_len};
use crate::random::RandomColumn;

const MAX_NAME: u64 = 20;
const MAX_DESCRIPTION: u64 = 100;
/// Mean bytes of an auction, and those of its numbers and times.
const MEAN_BYTES: u64 = 500;
const FIXED_BYTES: u64 = 48;

/// Column `item_name`.
pub(super) fn item_name(random: RandomColumn, events: &[u64]) -> Result<ArrayRef> {
    texts(random, events, MAX_NAME)
}

/// Column `description`.
pub(super) fn description(random: RandomColumn, events: &[u64]) -> Result<ArrayRef> {
    texts(random, events, MAX_DESCRIPTION)
}

fn texts(random: RandomColumn, events: &[u64], most: u64) -> Result<ArrayRef> {
    let mut out = TextColumn::new(events.len(), most as usize);
    for &n in events {
        push_text(&mut out.bytes, random.at(n), most);
        out.end_row();
    }
    out.finish()
}

/// Column `extra`; the others give the bytes that the row already has.
pub(super) fn extra(random: RandomColumn, name: RandomColumn, description: RandomColumn, events: &[u64]) -> Result<ArrayRef> {
    let mut out = TextColumn::new(events.len(), MEAN_BYTES as usize);
    for &n in events {
        let used = FIXED_BYTES + text_len(name.at(n), MAX_NAME) + text_len(description.at(n), MAX_DESCRIPTION);
        push_extra(&mut out.bytes, random.at(n), used, MEAN_BYTES);
        out.end_row();
    }
    out.finish()
}
