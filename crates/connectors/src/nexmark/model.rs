//! Ids, times and prices: what the public model fixes.

use super::table::{AUCTIONS_PER_ROUND, EVENTS_PER_ROUND};
use crate::random::{below, unit};

/// 2026-01-01 00:00:00 in microseconds: the time of event 0.
pub(super) const BASE_TIME_MICROS: i64 = 1_767_225_600_000_000;
/// The first id of persons and of auctions.
pub(super) const FIRST_ID: u64 = 1_000;
/// Persons that may still bid or sell: the newest ones.
const ACTIVE_PEOPLE: u64 = 1_000;
/// Auctions that may still get bids: the newest ones.
const IN_FLIGHT_AUCTIONS: u64 = 100;
/// Ids that may be named a little before they appear.
const ID_LEAD: u64 = 10;
/// One person or auction of so many is hot at a time.
const HOT_EVERY: u64 = 100;
/// 1 - 1/ratio of bids go to the hot auction.
const HOT_AUCTION_RATIO: u64 = 2;
/// 1 - 1/ratio of bids come from the hot bidder.
const HOT_BIDDER_RATIO: u64 = 4;
/// 1 - 1/ratio of auctions are the hot seller's.
const HOT_SELLER_RATIO: u64 = 4;

/// Person number (from 0) of the newest person at event `n`.
#[inline]
pub(super) fn last_person(n: u64) -> u64 {
    n / EVENTS_PER_ROUND
}

/// Auction number (from 0) of the newest auction at event `n`; 0 also before the first.
#[inline]
pub(super) fn last_auction(n: u64) -> u64 {
    let (round, offset) = (n / EVENTS_PER_ROUND, n % EVENTS_PER_ROUND);
    (round * AUCTIONS_PER_ROUND + offset.min(AUCTIONS_PER_ROUND)).saturating_sub(1)
}

#[inline]
fn some_person(n: u64, h: u64) -> u64 {
    let people = last_person(n) + 1;
    let active = people.min(ACTIVE_PEOPLE);
    people - active + below(h, active + ID_LEAD)
}

/// The auction of a bid. The low bits of `h` say whether it is hot, the high ones which.
#[inline]
pub(super) fn bid_auction(n: u64, h: u64) -> i64 {
    let last = last_auction(n);
    let cold = last.saturating_sub(IN_FLIGHT_AUCTIONS);
    let auction =
        if !h.is_multiple_of(HOT_AUCTION_RATIO) { last / HOT_EVERY * HOT_EVERY } else { cold + below(h, last - cold + 1 + ID_LEAD) };
    (FIRST_ID + auction) as i64
}

/// The bidder of a bid.
#[inline]
pub(super) fn bid_bidder(n: u64, h: u64) -> i64 {
    let person = if !h.is_multiple_of(HOT_BIDDER_RATIO) { last_person(n) / HOT_EVERY * HOT_EVERY + 1 } else { some_person(n, h) };
    (FIRST_ID + person) as i64
}

/// The seller of an auction.
#[inline]
pub(super) fn auction_seller(n: u64, h: u64) -> i64 {
    let person = if !h.is_multiple_of(HOT_SELLER_RATIO) { last_person(n) / HOT_EVERY * HOT_EVERY } else { some_person(n, h) };
    (FIRST_ID + person) as i64
}

/// 100 to 100,000,000, evenly in the logarithm: 10 ^ (6 u) x 100.
#[inline]
pub(super) fn price(h: u64) -> i64 {
    let exponent = unit(h) * (6.0 * std::f64::consts::LOG2_10);
    (exp2(exponent) * 100.0 + 0.5) as i64
}

/// 2 ^ x for x in 0..1023, to 1e-9: additions and products only, so every machine gets the same bits.
#[inline]
fn exp2(x: f64) -> f64 {
    let whole = x as u64;
    let y = (x - whole as f64 - 0.5) * std::f64::consts::LN_2;
    let mut series = 1.0 / 362_880.0;
    for divisor in [40_320.0, 5_040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
        series = series * y + 1.0 / divisor;
    }
    series * std::f64::consts::SQRT_2 * f64::from_bits((whole + 1_023) << 52)
}

/// Event time: event `n` happens n / rate seconds after the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventTime {
    rate: u64,
    /// Microseconds between events, if they are whole.
    step: Option<u64>,
}

impl EventTime {
    pub(super) fn new(rate: u64) -> Self {
        EventTime { rate, step: (1_000_000 % rate == 0).then_some(1_000_000 / rate) }
    }

    /// Microseconds since 1970.
    #[inline]
    pub(super) fn at(self, n: u64) -> i64 {
        let since = match self.step {
            Some(step) => n.saturating_mul(step),
            None => (n / self.rate).saturating_mul(1_000_000).saturating_add(n % self.rate * 1_000_000 / self.rate),
        };
        BASE_TIME_MICROS.saturating_add(i64::try_from(since).unwrap_or(i64::MAX))
    }

    /// When auction `n` expires: on average as many auctions are open as the model has in flight.
    pub(super) fn expires(self, n: u64, h: u64) -> i64 {
        let horizon = self.at(n + IN_FLIGHT_AUCTIONS * EVENTS_PER_ROUND / AUCTIONS_PER_ROUND) - self.at(n);
        let millis = 1 + below(h, (horizon as u64 / 1_000 * 2).max(1));
        self.at(n).saturating_add(millis as i64 * 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two() {
        for i in 0..20_000 {
            let x = f64::from(i) * 0.001;
            assert!((exp2(x) / x.exp2() - 1.0).abs() < 1e-8, "{x}");
        }
        assert_eq!((price(0), price(u64::MAX)), (100, 100_000_000));
    }

    #[test]
    fn ids_follow_the_rounds() {
        assert_eq!([0, 1, 2, 3, 4, 49, 50, 51].map(last_auction), [0, 0, 1, 2, 2, 2, 2, 3]);
        assert_eq!([0, 49, 50].map(last_person), [0, 0, 1]);
    }

    #[test]
    fn event_time_at_any_rate() {
        for rate in [1, 3, 10_000, 1_000_000, 10_000_000, 999_999_999] {
            let time = EventTime::new(rate);
            assert_eq!(time.at(rate * 7) - BASE_TIME_MICROS, 7_000_000);
            assert!((0..1_000).all(|n| time.at(n) <= time.at(n + 1) && time.expires(n, u64::MAX) > time.at(n)));
        }
        assert!(EventTime::new(1).at(1 << 50) > 0);
    }
}
