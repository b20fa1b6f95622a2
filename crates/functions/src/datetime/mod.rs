//! Functions of dates and times; time zones are UTC. `date_format`, `hour(..)` and relatives, and `to_timestamp_ltz` are Flink's.
//!
//! Rooms: [`part`] takes values apart, [`trunc`] cuts and bins them, [`make`] builds them, [`format`] are the patterns of `to_char` and
//! `date_format`, [`now`] is the time of the statement.

mod format;
mod make;
mod now;
mod part;
mod trunc;

use crate::function::{Function, Returns, functions};
pub(crate) use now::all as statement_time;

/// The functions of this family.
pub(crate) const FUNCTIONS: &[Function] = functions! {
    "date_part":
        (Text, Timestamp) -> Float8 => part::date_part, (Text, TimestampTz) -> Float8 => part::date_part,
        (Text, Time) -> Float8 => part::date_part, (Text, Interval) -> Float8 => part::date_part;
    "extract":
        (Text, Timestamp) -> [Returns::With(part::extract_type)] => part::extract,
        (Text, TimestampTz) -> [Returns::With(part::extract_type)] => part::extract,
        (Text, Date) -> [Returns::With(part::extract_type)] => part::extract,
        (Text, Time) -> [Returns::With(part::extract_type)] => part::extract,
        (Text, Interval) -> [Returns::With(part::extract_type)] => part::extract;
    "year": (Timestamp) -> Int8 => |a| part::whole(a, "year"), (TimestampTz) -> Int8 => |a| part::whole(a, "year");
    "quarter": (Timestamp) -> Int8 => |a| part::whole(a, "quarter"), (TimestampTz) -> Int8 => |a| part::whole(a, "quarter");
    "month": (Timestamp) -> Int8 => |a| part::whole(a, "month"), (TimestampTz) -> Int8 => |a| part::whole(a, "month");
    "week": (Timestamp) -> Int8 => |a| part::whole(a, "week"), (TimestampTz) -> Int8 => |a| part::whole(a, "week");
    "dayofyear": (Timestamp) -> Int8 => |a| part::whole(a, "doy"), (TimestampTz) -> Int8 => |a| part::whole(a, "doy");
    "dayofmonth": (Timestamp) -> Int8 => |a| part::whole(a, "day"), (TimestampTz) -> Int8 => |a| part::whole(a, "day");
    "dayofweek": (Timestamp) -> Int8 => part::day_of_week, (TimestampTz) -> Int8 => part::day_of_week;
    "hour": (Timestamp) -> Int8 => |a| part::whole(a, "hour"), (TimestampTz) -> Int8 => |a| part::whole(a, "hour"),
        (Time) -> Int8 => |a| part::whole(a, "hour");
    "minute": (Timestamp) -> Int8 => |a| part::whole(a, "minute"), (TimestampTz) -> Int8 => |a| part::whole(a, "minute"),
        (Time) -> Int8 => |a| part::whole(a, "minute");
    "second": (Timestamp) -> Int8 => |a| part::whole(a, "second"), (TimestampTz) -> Int8 => |a| part::whole(a, "second"),
        (Time) -> Int8 => |a| part::whole(a, "second");
    "date_trunc":
        (Text, TimestampTz) -> TimestampTz => trunc::date_trunc, (Text, Timestamp) -> Timestamp => trunc::date_trunc,
        (Text, Interval) -> Interval => trunc::date_trunc_interval;
    "date_bin":
        (Interval, Timestamp, Timestamp) -> Timestamp => trunc::date_bin,
        (Interval, TimestampTz, TimestampTz) -> TimestampTz => trunc::date_bin;
    "age": (TimestampTz, TimestampTz) -> Interval => part::age, (Timestamp, Timestamp) -> Interval => part::age;
    "to_char":
        (Timestamp, Text) -> Text => format::to_char, (TimestampTz, Text) -> Text => format::to_char;
    "date_format":
        (Timestamp, Text) -> Text => format::date_format, (TimestampTz, Text) -> Text => format::date_format;
    "to_timestamp":
        (Float8) -> TimestampTz => make::to_timestamp, (Text, Text) -> TimestampTz => make::to_timestamp_format;
    "to_timestamp_ltz": (Int8, Int4) -> TimestampTz => make::to_timestamp_ltz;
    "to_date": (Text, Text) -> Date => make::to_date_format;
    "make_date": (Int4, Int4, Int4) -> Date => make::make_date;
    "make_time": (Int4, Int4, Float8) -> Time => make::make_time;
    "make_timestamp": (Int4, Int4, Int4, Int4, Int4, Float8) -> Timestamp => make::make_timestamp;
    "justify_hours": (Interval) -> Interval => |a| make::justify(a, true, false);
    "justify_days": (Interval) -> Interval => |a| make::justify(a, false, true);
    "justify_interval": (Interval) -> Interval => |a| make::justify(a, true, true);
};
