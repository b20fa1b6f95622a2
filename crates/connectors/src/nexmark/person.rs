//! The texts of persons.

use arrow::array::ArrayRef;
use millstream_types::Result;

use super::text::{TextColumn, push_extra};
use crate::random::{RandomColumn, again, below, push_letters};

const FIRST_NAMES: [&str; 11] = ["Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"];
const LAST_NAMES: [&str; 9] = ["Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"];
const CITIES: [&str; 10] =
    ["Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"];
const STATES: [&str; 6] = ["AZ", "CA", "ID", "OR", "WA", "WY"];
/// Mean bytes of a person, and those of its columns before `extra` (texts by their mean).
const MEAN_BYTES: u64 = 200;
const FIXED_BYTES: u64 = 8 + 11 + 14 + 19 + 8 + 2 + 8;

fn pick<'a>(words: &'a [&'a str], h: u64) -> &'a [u8] {
    words[below(h, words.len() as u64) as usize].as_bytes()
}

fn column(random: RandomColumn, events: &[u64], bytes: usize, mut write: impl FnMut(&mut Vec<u8>, u64)) -> Result<ArrayRef> {
    let mut out = TextColumn::new(events.len(), bytes);
    for &n in events {
        write(&mut out.bytes, random.at(n));
        out.end_row();
    }
    out.finish()
}

/// Column `name`.
pub(super) fn name(random: RandomColumn, events: &[u64]) -> Result<ArrayRef> {
    column(random, events, 15, |out, h| {
        out.extend_from_slice(pick(&FIRST_NAMES, h));
        out.push(b' ');
        out.extend_from_slice(pick(&LAST_NAMES, again(h)));
    })
}

/// Column `email_address`.
pub(super) fn email_address(random: RandomColumn, events: &[u64]) -> Result<ArrayRef> {
    column(random, events, 17, |out, h| {
        push_letters(out, h, 3 + below(h, 5) as usize);
        out.push(b'@');
        let domain = again(h);
        push_letters(out, domain, 3 + below(domain, 3) as usize);
        out.extend_from_slice(b".com");
    })
}

/// Column `credit_card`: four times four digits.
pub(super) fn credit_card(random: RandomColumn, events: &[u64]) -> Result<ArrayRef> {
    column(random, events, 19, |out, h| {
        let mut digits = h;
        for i in 0..16 {
            if i > 0 && i % 4 == 0 {
                out.push(b' ');
            }
            out.push(b'0' + (digits % 10) as u8);
            digits /= 10;
        }
    })
}

/// Column `city`.
pub(super) fn city(random: RandomColumn, events: &[u64]) -> Result<ArrayRef> {
    column(random, events, 13, |out, h| out.extend_from_slice(pick(&CITIES, h)))
}

/// Column `state`.
pub(super) fn state(random: RandomColumn, events: &[u64]) -> Result<ArrayRef> {
    column(random, events, 2, |out, h| out.extend_from_slice(pick(&STATES, h)))
}

/// Column `extra`.
pub(super) fn extra(random: RandomColumn, events: &[u64]) -> Result<ArrayRef> {
    column(random, events, 160, |out, h| push_extra(out, h, FIXED_BYTES, MEAN_BYTES))
}
