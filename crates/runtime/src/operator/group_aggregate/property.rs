//! View = batch: after every barrier the rows that came out are those that DataFusion computes over the same input with the batch
//! aggregates, whatever order changes came in, and with checkpoints (of changes and of
//! everything, some given up), recovery and rescaling in between.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use millstream_functions::registry;
use millstream_graph::{AggregateCall, AggregateFunction};
use millstream_state::key_codec::normalize;
use millstream_types::{RowKind, Schema, SqlType, StreamElement};

use super::tests::{call, harness, numeric};
use crate::operator::calc::rows;
use crate::operator::harness::{parse, schema, texts};

/// SplitMix64: every run of a seed is the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

fn input() -> Schema {
    schema(&[
        ("k1", SqlType::Double),
        ("k2", SqlType::Text),
        ("i", SqlType::Integer),
        ("b", SqlType::BigInt),
        ("n", SqlType::Numeric { precision: 10, scale: 2 }),
        ("f", SqlType::Double),
        ("t", SqlType::Text),
        ("x", SqlType::Boolean),
    ])
}

fn row(random: &mut Random) -> String {
    let mut row = String::new();
    write!(row, "{} ", random.pick(&["NULL", "NaN", "0", "-0", "1.5", "-Infinity"])).unwrap();
    write!(row, "{} ", random.pick(&["NULL", "''", "a", "b"])).unwrap();
    write!(row, "{} ", random.pick(&["NULL", "1", "2", "-3", "2147483647"])).unwrap();
    write!(row, "{} ", random.pick(&["NULL", "5", "-5", "9223372036854775807"])).unwrap();
    write!(row, "{} ", random.pick(&["NULL", "0.01", "-7.25", "99999999.99"])).unwrap();
    write!(row, "{} ", random.pick(&["NULL", "0.25", "-8", "1024.5", "NaN", "Infinity", "0"])).unwrap();
    write!(row, "{} ", random.pick(&["NULL", "x", "y", "''", "zz"])).unwrap();
    write!(row, "{}", random.pick(&["NULL", "t", "f"])).unwrap();
    row
}

/// Each aggregate as the operator's call and as the query of the oracle.
fn aggregates() -> Vec<(AggregateCall, &'static str)> {
    use AggregateFunction::{Avg, BoolAnd, BoolOr, Count, Max, Min, StringAgg, Sum};
    let (big, double) = (SqlType::BigInt, SqlType::Double);
    let distinct = |c: AggregateCall| AggregateCall { distinct: true, ..c };
    let filtered = |c: AggregateCall| AggregateCall { filter: Some(7), ..c };
    let list = || StringAgg { delimiter: ",".into() };
    vec![
        (call(Count, None, big.clone()), "count(*)"),
        (call(Count, Some(6), big.clone()), "count(t)"),
        (call(Sum, Some(2), big.clone()), "sum(i)"),
        (call(Sum, Some(3), numeric(0)), "sum(b)"),
        (call(Sum, Some(4), numeric(2)), "sum(n)"),
        (call(Sum, Some(5), double.clone()), "sum(f)"),
        (call(Avg, Some(2), numeric(16)), "avg(i)"),
        (call(Avg, Some(3), numeric(16)), "avg(b)"),
        (call(Avg, Some(4), numeric(16)), "avg(n)"),
        (call(Avg, Some(5), double.clone()), "avg(f)"),
        (call(Min, Some(2), SqlType::Integer), "min(i)"),
        (call(Max, Some(4), SqlType::Numeric { precision: 10, scale: 2 }), "max(n)"),
        (call(Min, Some(5), double.clone()), "min(f)"),
        (call(Max, Some(5), double), "max(f)"),
        (call(Max, Some(6), SqlType::Text), "max(t)"),
        (call(BoolAnd, Some(7), SqlType::Boolean), "bool_and(x)"),
        (call(BoolOr, Some(7), SqlType::Boolean), "bool_or(x)"),
        (call(list(), Some(6), SqlType::Text), "string_agg(t, ',' ORDER BY t)"),
        (distinct(call(Count, Some(6), big.clone())), "count(DISTINCT t)"),
        (distinct(call(Count, Some(5), big.clone())), "count(DISTINCT f)"),
        (distinct(call(Sum, Some(4), numeric(2))), "sum(DISTINCT n)"),
        (filtered(distinct(call(Avg, Some(2), numeric(16)))), "avg(DISTINCT i) FILTER (WHERE x)"),
        (filtered(distinct(call(Count, Some(3), big.clone()))), "count(DISTINCT b) FILTER (WHERE x)"),
        (filtered(call(Sum, Some(2), big)), "sum(i) FILTER (WHERE x)"),
        (filtered(call(Min, Some(6), SqlType::Text)), "min(t) FILTER (WHERE x)"),
    ]
}

/// What DataFusion says about the rows, sorted.
async fn oracle(query: &str, table: &[String]) -> Vec<String> {
    let ctx = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
    registry().all_aggregates().into_iter().for_each(|udaf| ctx.register_udaf(udaf.as_ref().clone()));
    let lines: Vec<String> = table.iter().map(|row| format!("+ {row}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let batch = parse(&input(), &lines);
    // DataFusion groups floats by their bits.
    let columns = batch.rows().columns().iter().map(normalize).collect();
    let batch = rows(&batch.schema(), columns, batch.num_rows()).unwrap();
    let table = MemTable::try_new(batch.schema(), vec![vec![batch]]).unwrap();
    ctx.register_table("rel", Arc::new(table)).unwrap();
    let result: Vec<RecordBatch> = ctx.sql(query).await.unwrap().collect().await.unwrap();
    let mut lines: Vec<String> = result.iter().flat_map(texts).collect();
    lines.sort();
    lines
}

/// The rows that a changelog has built up.
#[derive(Default)]
struct View(BTreeMap<String, i64>);

impl View {
    fn apply(&mut self, elements: &[StreamElement], seed: u64) {
        for element in elements {
            let StreamElement::Batch(batch) = element else { continue };
            for (i, row) in texts(batch.rows()).into_iter().enumerate() {
                let count = self.0.entry(row.clone()).or_insert(0);
                *count += batch.kind(i).sign();
                assert!((0..=1).contains(count), "seed {seed}: {} {row}", batch.kind(i));
            }
        }
        self.0.retain(|_, count| *count > 0);
    }

    fn rows(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}

/// One epoch of random changes to `table`, in an order that may take rows back before they come.
fn epoch(random: &mut Random, table: &mut Vec<String>, append_only: bool) -> Vec<(RowKind, String)> {
    let mut changes = vec![];
    for _ in 0..random.below(12) {
        match random.below(if append_only || table.is_empty() { 1 } else { 4 }) {
            0 => {
                table.push(row(random));
                changes.extend(table.last().map(|r| (RowKind::Insert, r.clone())));
            }
            1 => {
                let new = row(random);
                let place = random.below(table.len());
                let old = std::mem::replace(&mut table[place], new.clone());
                changes.extend([(RowKind::UpdateBefore, old), (RowKind::UpdateAfter, new)]);
            }
            _ => {
                let place = random.below(table.len());
                changes.push((RowKind::Delete, table.swap_remove(place)));
            }
        }
    }
    if random.below(2) == 0 {
        random.shuffle(&mut changes);
    }
    changes
}

async fn run(seed: u64, keys: &[usize], calls: &[(AggregateCall, &str)], append_only: bool) {
    let random = &mut Random(seed);
    let names: Vec<&str> = keys.iter().map(|k| ["k1", "k2"][*k]).collect();
    let select: Vec<&str> = names.iter().copied().chain(calls.iter().map(|(_, sql)| *sql)).collect();
    let group = if keys.is_empty() { String::new() } else { format!(" GROUP BY {}", names.join(", ")) };
    let query = format!("SELECT {} FROM rel{group}", select.join(", "));
    let operator_calls: Vec<_> = calls.iter().map(|(call, _)| call.clone()).collect();
    let mut operator = harness(&input(), keys, &operator_calls, append_only);
    let (mut table, mut view) = (vec![], View::default());
    for _ in 0..6 {
        for part in epoch(random, &mut table, append_only).chunks(1 + random.below(6)) {
            let lines: Vec<String> = part.iter().map(|(kind, row)| format!("{kind} {row}")).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            view.apply(&operator.send(&parse(&input(), &lines)).unwrap(), seed);
        }
        view.apply(&operator.barrier().unwrap_or_else(|e| panic!("seed {seed}: {e}")), seed);
        assert_eq!(view.rows(), oracle(&query, &table).await, "seed {seed}, {query}");
        match random.below(6) {
            0 => operator.recover(operator.parallelism()).unwrap(),
            1 | 2 if !keys.is_empty() => operator.recover([1, 3, 2][random.below(3)]).unwrap(),
            3 | 4 => operator.checkpoint(random.below(3) > 0).unwrap(),
            _ => {}
        }
    }
    if !append_only {
        let lines: Vec<String> = table.iter().map(|row| format!("- {row}")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        operator.send(&parse(&input(), &lines)).unwrap();
        view.apply(&operator.barrier().unwrap(), seed);
        assert_eq!(view.rows(), oracle(&query, &[]).await, "seed {seed}, everything deleted");
        assert_eq!(operator.keys_in_state(), usize::from(keys.is_empty()), "seed {seed}, state is freed");
    }
}

fn block_on(future: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future);
}

#[test]
fn keyed_results_equal_the_batch_engine() {
    block_on(async {
        for seed in 0..60 {
            let keys: &[usize] = [&[0, 1][..], &[0], &[1]][seed as usize % 3];
            run(seed, keys, &aggregates(), false).await;
        }
    });
}

#[test]
fn global_results_equal_the_batch_engine() {
    block_on(async {
        for seed in 100..110 {
            run(seed, &[], &aggregates(), false).await;
        }
    });
}

#[test]
fn append_only_results_equal_the_batch_engine() {
    block_on(async {
        for seed in 200..210 {
            run(seed, &[1], &aggregates(), true).await;
        }
    });
}

#[test]
fn distinct_rows_equal_the_batch_engine() {
    block_on(async {
        for seed in 300..310 {
            run(seed, &[0, 1], &[], false).await;
        }
    });
}
