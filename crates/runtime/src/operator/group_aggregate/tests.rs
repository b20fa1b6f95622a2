//! Golden scripts: rows in, changes out.
#![allow(clippy::unwrap_used)]

use millstream_graph::{AggregateCall, AggregateFunction, GroupAggregateSpec, OperatorSpec};
use millstream_types::{Schema, SqlType};

use crate::operator::harness::{Harness, node, schema};

/// An aggregate call over column `argument`.
pub(super) fn call(function: AggregateFunction, argument: Option<usize>, return_type: SqlType) -> AggregateCall {
    AggregateCall { function, argument, distinct: false, filter: None, return_type }
}

pub(super) fn numeric(scale: i8) -> SqlType {
    SqlType::Numeric { precision: 38, scale }
}

/// A harness of a GROUP BY.
pub(super) fn harness(input: &Schema, keys: &[usize], aggregates: &[AggregateCall], append_only_input: bool) -> Harness {
    let mut output = input.project(keys);
    output.columns.extend(aggregates.iter().map(|a| millstream_types::Column::new(a.to_string(), a.return_type.clone())));
    let spec = GroupAggregateSpec { keys: keys.to_vec(), aggregates: aggregates.to_vec(), append_only_input };
    Harness::new(node(OperatorSpec::GroupAggregate(spec), &output, None), input, keys, false).unwrap()
}

fn ints() -> Schema {
    schema(&[("k", SqlType::Integer), ("v", SqlType::Integer)])
}

use AggregateFunction::{Avg, BoolAnd, BoolOr, Count, Max, Min, StringAgg, Sum};

fn count_and_sum() -> [AggregateCall; 2] {
    [call(Count, None, SqlType::BigInt), call(Sum, Some(1), SqlType::BigInt)]
}

#[test]
fn groups_come_change_and_go() {
    let mut h = harness(&ints(), &[0], &count_and_sum(), false);
    h.check(
        "+ 1 10
         + 2 20
         + 1 5
         barrier
         > +I 1 2 15
         > +I 2 1 20
         - 1 5
         - 2 20
         barrier
         > -U 1 2 15
         > +U 1 1 10
         > -D 2 1 20
         barrier
         + 2 7
         ;
         - 2 7
         barrier
         -U 1 10
         +U 1 11
         barrier
         > -U 1 1 10
         > +U 1 1 11",
    );
    assert_eq!(h.keys_in_state(), 1);
}

#[test]
fn an_unchanged_result_is_not_sent() {
    harness(&ints(), &[0], &count_and_sum(), false).check(
        "+ 1 10
         barrier
         > +I 1 1 10
         - 1 10
         + 1 10
         barrier
         - 1 10
         + 1 4
         ;
         - 1 4
         + 1 10
         barrier",
    );
}

#[test]
fn retractions_may_come_before_their_inserts_within_an_epoch() {
    let calls = [call(Max, Some(1), SqlType::Integer), call(Count, None, SqlType::BigInt)];
    harness(&ints(), &[0], &calls, false).check(
        "- 1 10
         ;
         + 1 10
         + 1 3
         barrier
         > +I 1 3 1",
    );
}

#[test]
fn a_row_that_was_never_there_is_an_error_at_the_barrier() {
    harness(&ints(), &[0], &count_and_sum(), false).check(
        "+ 1 10
         - 2 10
         barrier
         ! XX000 retraction of a row that was never there; GroupAggregate: 1 inconsistent groups, the first has key (2).",
    );
    // The number of rows is right, the value is not.
    harness(&ints(), &[0], &[call(Min, Some(1), SqlType::Integer)], false).check(
        "+ 1 10
         + 1 11
         - 1 12
         barrier
         ! XX000 retraction of a row that was never there; GroupAggregate: 1 inconsistent groups, the first has key (1).",
    );
}

#[test]
fn state_survives_recovery_and_rescaling() {
    let calls = [
        call(Sum, Some(1), SqlType::BigInt),
        call(Avg, Some(1), numeric(16)),
        call(Min, Some(1), SqlType::Integer),
        AggregateCall { distinct: true, ..call(Count, Some(1), SqlType::BigInt) },
    ];
    harness(&ints(), &[0], &calls, false).check(
        "+ 1 10
         + 1 20
         + 2 5
         + NULL 5
         barrier
         > +I 1 30 15.0000000000000000 10 2
         > +I 2 5 5.0000000000000000 5 1
         > +I NULL 5 5.0000000000000000 5 1
         recover
         - 1 10
         barrier
         > -U 1 30 15.0000000000000000 10 2
         > +U 1 20 20.0000000000000000 20 1
         rescale 2
         - 2 5
         - NULL 5
         + 1 20
         barrier
         > -U 1 20 20.0000000000000000 20 1
         > +U 1 40 20.0000000000000000 20 1
         > -D 2 5 5.0000000000000000 5 1
         > -D NULL 5 5.0000000000000000 5 1
         rescale 1
         - 1 20
         barrier
         > -U 1 40 20.0000000000000000 20 1
         > +U 1 20 20.0000000000000000 20 1",
    );
}

#[test]
fn null_nan_and_both_zeros_are_one_key_each() {
    let input = schema(&[("k", SqlType::Double), ("v", SqlType::Integer)]);
    harness(&input, &[0], &[call(Count, None, SqlType::BigInt)], false).check(
        "+ NaN 1
         + -0 1
         + NULL 1
         barrier
         > +I NaN 1
         > +I 0 1
         > +I NULL 1
         recover
         - NaN 1
         + 0 1
         + NULL 1
         barrier
         > -D NaN 1
         > -U 0 1
         > +U 0 2
         > -U NULL 1
         > +U NULL 2",
    );
}

#[test]
fn a_global_aggregate_is_one_row_from_the_first_barrier_on() {
    let mut h = harness(&ints(), &[], &count_and_sum(), false);
    h.check(
        "barrier
         > +I 0 NULL
         barrier
         + 1 10
         barrier
         > -U 0 NULL
         > +U 1 10
         recover
         barrier
         - 1 10
         barrier
         > -U 1 10
         > +U 0 NULL",
    );
    assert_eq!(h.keys_in_state(), 1);
}

#[test]
fn nulls_filters_and_distinct() {
    let input = schema(&[("k", SqlType::Integer), ("v", SqlType::Integer), ("f", SqlType::Boolean)]);
    let calls = [
        call(Count, Some(1), SqlType::BigInt),
        AggregateCall { filter: Some(2), ..call(Sum, Some(1), SqlType::BigInt) },
        AggregateCall { filter: Some(2), distinct: true, ..call(Sum, Some(1), SqlType::BigInt) },
        AggregateCall { filter: Some(2), ..call(Count, None, SqlType::BigInt) },
    ];
    harness(&input, &[0], &calls, false).check(
        "+ 1 NULL t
         + 1 7 f
         + 1 7 NULL
         barrier
         > +I 1 2 NULL NULL 1
         + 1 7 t
         + 1 7 t
         + 1 3 t
         barrier
         > -U 1 2 NULL NULL 1
         > +U 1 5 17 10 4
         - 1 7 t
         barrier
         > -U 1 5 17 10 4
         > +U 1 4 10 10 3
         - 1 7 t
         - 1 3 t
         - 1 NULL t
         barrier
         > -U 1 4 10 10 3
         > +U 1 2 NULL NULL 0",
    );
}

#[test]
fn texts_and_booleans() {
    let input = schema(&[("k", SqlType::Integer), ("t", SqlType::Text), ("b", SqlType::Boolean)]);
    let calls = [
        call(StringAgg { delimiter: "-".into() }, Some(1), SqlType::Text),
        AggregateCall { distinct: true, ..call(StringAgg { delimiter: "-".into() }, Some(1), SqlType::Text) },
        call(Max, Some(1), SqlType::Text),
        call(BoolAnd, Some(2), SqlType::Boolean),
        call(BoolOr, Some(2), SqlType::Boolean),
    ];
    harness(&input, &[0], &calls, false).check(
        "+ 1 b t
         + 1 a f
         + 1 b NULL
         + 1 NULL NULL
         barrier
         > +I 1 a-b-b a-b b f t
         - 1 b t
         - 1 b NULL
         barrier
         > -U 1 a-b-b a-b b f t
         > +U 1 a a a f f
         recover
         - 1 a f
         + 1 '' t
         barrier
         > -U 1 a a a f f
         > +U 1 '' '' '' t t
         - 1 '' t
         barrier
         > -U 1 '' '' '' t t
         > +U 1 NULL NULL NULL NULL NULL",
    );
}

#[test]
fn floats_are_added_exactly_and_infinities_can_be_taken_back() {
    let input = schema(&[("k", SqlType::Integer), ("v", SqlType::Double)]);
    let calls = [call(Sum, Some(1), SqlType::Double), call(Avg, Some(1), SqlType::Double), call(Max, Some(1), SqlType::Double)];
    harness(&input, &[0], &calls, false).check(
        "+ 1 1e300
         + 1 0.5
         barrier
         > +I 1 1e+300 5e+299 1e+300
         - 1 1e300
         + 1 Infinity
         barrier
         > -U 1 1e+300 5e+299 1e+300
         > +U 1 Infinity Infinity Infinity
         + 1 NaN
         + 1 -Infinity
         barrier
         > -U 1 Infinity Infinity Infinity
         > +U 1 NaN NaN NaN
         recover
         - 1 NaN
         - 1 Infinity
         - 1 -Infinity
         barrier
         > -U 1 NaN NaN NaN
         > +U 1 0.5 0.5 0.5",
    );
}

#[test]
fn overflow_is_an_error() {
    let input = schema(&[("k", SqlType::Integer), ("v", SqlType::BigInt), ("n", SqlType::Numeric { precision: 38, scale: 0 })]);
    harness(&input, &[0], &[call(Sum, Some(1), numeric(0))], false).check(
        "+ 1 9223372036854775807 0
         + 1 9223372036854775807 0
         barrier
         > +I 1 18446744073709551614",
    );
    harness(&input, &[0], &[call(Sum, Some(2), numeric(0))], false).check(
        "+ 1 0 99999999999999999999999999999999999999
         + 1 0 1
         barrier
         ! 22003 numeric field overflow",
    );
}

#[test]
fn distinct_rows() {
    harness(&ints(), &[0, 1], &[], false).check(
        "+ 1 1
         + 1 1
         + 1 2
         barrier
         > +I 1 1
         > +I 1 2
         - 1 1
         barrier
         - 1 1
         rescale 2
         ! XX000 snapshot of an aggregate within an epoch",
    );
    harness(&ints(), &[0, 1], &[], false).check(
        "+ 1 1
         + 1 1
         barrier
         > +I 1 1
         - 1 1
         barrier
         rescale 2
         - 1 1
         barrier
         > -D 1 1",
    );
}

#[test]
fn append_only_keeps_one_value() {
    let calls = [call(Min, Some(1), SqlType::Integer), call(Max, Some(1), SqlType::Integer)];
    harness(&ints(), &[0], &calls, true).check(
        "+ 1 5
         + 1 9
         + 1 NULL
         + 2 NULL
         barrier
         > +I 1 5 9
         > +I 2 NULL NULL
         recover
         + 1 7
         + 1 4
         barrier
         > -U 1 5 9
         > +U 1 4 9
         - 1 7
         ;
         ! XX000 the input of an aggregate was planned as append-only and takes rows back",
    );
}

#[test]
fn a_watermark_waits_for_the_rows_before_it() {
    harness(&ints(), &[0], &count_and_sum(), false).check(
        "watermark 12:00:00
         > watermark 12:00:00
         + 1 1
         watermark 12:00:05
         watermark 12:00:06
         barrier
         > +I 1 1 1
         > watermark 12:00:06",
    );
}

#[test]
fn many_groups_do_not_wait_for_the_barrier_when_nothing_is_taken_back() {
    use millstream_types::limits::GROUP_AGGREGATE_MAX_PENDING;
    let input = schema(&[("k", SqlType::Integer), ("v", SqlType::Integer)]);
    let mut h = harness(&input, &[0], &count_and_sum(), true);
    let lines: Vec<String> = (0..=GROUP_AGGREGATE_MAX_PENDING).map(|i| format!("+ {i} 1")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let batch = crate::operator::harness::parse(&input, &lines);
    let out = h.send(&batch).unwrap();
    let rows = |out: &[millstream_types::StreamElement]| -> usize {
        out.iter().map(|e| if let millstream_types::StreamElement::Batch(b) = e { b.num_rows() } else { 0 }).sum()
    };
    assert_eq!(rows(&out), GROUP_AGGREGATE_MAX_PENDING + 1);
    h.send(&batch.slice(0, 3)).unwrap();
    assert_eq!(rows(&h.barrier().unwrap()), 6);
}
