//! The kinds of event and the columns of each.

use millstream_types::{Column, Schema, SqlType};

/// What a source gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Table {
    Person,
    Auction,
    Bid,
    /// Every event: its type, and one row per kind of which all but one are NULL.
    All,
}

/// Of every 50 events the first is a person, the next three are auctions, the others bids.
pub(super) const EVENTS_PER_ROUND: u64 = 50;
/// Auctions of a round.
pub(super) const AUCTIONS_PER_ROUND: u64 = 3;

const PERSON: [(&str, SqlType); 8] = [
    ("id", SqlType::BigInt),
    ("name", SqlType::Text),
    ("email_address", SqlType::Text),
    ("credit_card", SqlType::Text),
    ("city", SqlType::Text),
    ("state", SqlType::Text),
    ("date_time", SqlType::Timestamp),
    ("extra", SqlType::Text),
];

const AUCTION: [(&str, SqlType); 10] = [
    ("id", SqlType::BigInt),
    ("item_name", SqlType::Text),
    ("description", SqlType::Text),
    ("initial_bid", SqlType::BigInt),
    ("reserve", SqlType::BigInt),
    ("date_time", SqlType::Timestamp),
    ("expires", SqlType::Timestamp),
    ("seller", SqlType::BigInt),
    ("category", SqlType::BigInt),
    ("extra", SqlType::Text),
];

const BID: [(&str, SqlType); 7] = [
    ("auction", SqlType::BigInt),
    ("bidder", SqlType::BigInt),
    ("price", SqlType::BigInt),
    ("channel", SqlType::Text),
    ("url", SqlType::Text),
    ("date_time", SqlType::Timestamp),
    ("extra", SqlType::Text),
];

impl Table {
    /// The columns.
    pub(super) fn schema(self) -> Schema {
        let columns = |list: &[(&str, SqlType)]| list.iter().map(|(name, t)| Column::new(*name, t.clone())).collect::<Vec<_>>();
        Schema::new(match self {
            Table::Person => columns(&PERSON),
            Table::Auction => columns(&AUCTION),
            Table::Bid => columns(&BID),
            Table::All => vec![
                Column::new("event_type", SqlType::Integer),
                Column::new("person", SqlType::Row(columns(&PERSON))),
                Column::new("auction", SqlType::Row(columns(&AUCTION))),
                Column::new("bid", SqlType::Row(columns(&BID))),
            ],
        })
    }

    /// Which events of a round it has: from, and before.
    fn span(self) -> (u64, u64) {
        match self {
            Table::Person => (0, 1),
            Table::Auction => (1, 1 + AUCTIONS_PER_ROUND),
            Table::Bid => (1 + AUCTIONS_PER_ROUND, EVENTS_PER_ROUND),
            Table::All => (0, EVENTS_PER_ROUND),
        }
    }

    /// Adds the numbers of its events in `from..to` to `out` until there are `most`; returns from where to go on.
    pub(super) fn collect(self, from: u64, to: u64, most: usize, out: &mut Vec<u64>) -> u64 {
        let (first, end) = self.span();
        let mut next = from;
        while next < to && out.len() < most {
            let offset = next % EVENTS_PER_ROUND;
            if offset < first {
                next += first - offset;
            } else if offset >= end {
                next += EVENTS_PER_ROUND - offset + first;
            } else {
                let stop = to.min(next + (end - offset)).min(next + (most - out.len()) as u64);
                out.extend(next..stop);
                next = stop;
            }
        }
        next.min(to)
    }
}
