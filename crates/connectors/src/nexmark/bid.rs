//! The columns of bids.

use std::sync::Arc;

use millstream_types::Result;

use super::text::{TextColumn, push_extra};
use crate::random::{RandomColumn, below, mix, push_letters};

/// Channels with a name of their own get half of the bids.
const HOT_CHANNELS: [&str; 4] = ["Google", "Facebook", "Baidu", "Apple"];
/// The other channels.
const CHANNELS: u64 = 10_000;
/// Mean bytes of a bid, and those of its columns before `extra`.
const MEAN_BYTES: u64 = 100;
const FIXED_BYTES: u64 = 32;

/// Names and urls of all channels, the hot ones first, one behind the other.
#[derive(Debug)]
pub(super) struct Channels {
    names: Texts,
    urls: Texts,
}

#[derive(Debug, Default)]
struct Texts {
    ends: Vec<u32>,
    bytes: Vec<u8>,
}

impl Texts {
    fn end(&mut self) {
        self.ends.push(self.bytes.len() as u32);
    }

    #[inline]
    fn get(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        &self.bytes[start..self.ends[i] as usize]
    }
}

impl Channels {
    /// The channels of a seed.
    pub(super) fn new(seed: u64) -> Arc<Self> {
        let random = RandomColumn::new(seed, 99);
        let mut channels = Channels { names: Texts::default(), urls: Texts::default() };
        let hot = HOT_CHANNELS.len() as u64;
        for i in 0..hot + CHANNELS {
            let h = random.at(i);
            let urls = &mut channels.urls.bytes;
            urls.extend_from_slice(b"https://www.nexmark.com");
            for part in 0..3 {
                urls.push(b'/');
                push_letters(urls, mix(h ^ part), 3 + (h >> (8 * part)) as usize % 3);
            }
            urls.extend_from_slice(b"/item.htm?query=1");
            if i < hot {
                channels.names.bytes.extend_from_slice(HOT_CHANNELS[i as usize].as_bytes());
            } else {
                let number = (i - hot) as u32;
                channels.names.bytes.extend_from_slice(format!("channel-{number}").as_bytes());
                if below(mix(h), 10) > 0 {
                    let id = (number.reverse_bits() as i32).unsigned_abs();
                    urls.extend_from_slice(format!("&channel_id={id}").as_bytes());
                }
            }
            channels.names.end();
            channels.urls.end();
        }
        Arc::new(channels)
    }

    #[inline]
    fn pick(h: u64) -> usize {
        let hot = HOT_CHANNELS.len() as u64;
        (if h & 1 == 1 { below(h, hot) } else { hot + below(h, CHANNELS) }) as usize
    }

    /// Column `channel`; `random` is that of column `url` too, so that they belong together.
    pub(super) fn names(&self, random: RandomColumn, events: &[u64]) -> Result<arrow::array::ArrayRef> {
        column(&self.names, random, events, 16)
    }

    /// Column `url`.
    pub(super) fn urls(&self, random: RandomColumn, events: &[u64]) -> Result<arrow::array::ArrayRef> {
        column(&self.urls, random, events, 88)
    }
}

fn column(texts: &Texts, random: RandomColumn, events: &[u64], bytes: usize) -> Result<arrow::array::ArrayRef> {
    let mut out = TextColumn::new(events.len(), bytes);
    for &n in events {
        out.push(texts.get(Channels::pick(random.at(n))));
        out.end_row();
    }
    out.finish()
}

/// Column `extra`.
pub(super) fn extra(random: RandomColumn, events: &[u64]) -> Result<arrow::array::ArrayRef> {
    let mut out = TextColumn::new(events.len(), 76);
    for &n in events {
        push_extra(&mut out.bytes, random.at(n), FIXED_BYTES, MEAN_BYTES);
        out.end_row();
    }
    out.finish()
}
