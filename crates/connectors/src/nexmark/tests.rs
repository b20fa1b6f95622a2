//! Proportions, determinism under split, projection and batch size, and the shape of values.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{Int32Type, Int64Type, TimestampMicrosecondType};
use millstream_graph::SourceSpec;
use millstream_runtime::connector::SourceContext;
use millstream_runtime::source::{SourcePoll, SourcePosition, SourceReader};
use millstream_runtime::task_waker::TaskWaker;
use millstream_types::{Schema, SimulatedClock, SqlState};
use proptest::prelude::*;

use super::{NexmarkConfig, NexmarkReader};

fn reader(
    options: &[(&str, &str)],
    columns: Option<&[&str]>,
    subtask: u32,
    parallelism: u32,
    clock: &Arc<SimulatedClock>,
) -> NexmarkReader {
    let options: BTreeMap<_, _> = options.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect();
    let schema = NexmarkConfig::parse(&options).unwrap().schema(&Schema::default()).unwrap();
    let projection = match columns {
        Some(names) => names.iter().map(|n| schema.index_of(n).unwrap()).collect(),
        None => (0..schema.len()).collect(),
    };
    let spec = SourceSpec { name: "n".into(), connector: "nexmark".into(), options, schema, projection };
    let clock = Arc::clone(clock) as Arc<dyn millstream_types::Clock>;
    NexmarkReader::new(&spec, &SourceContext { subtask, parallelism, waker: TaskWaker::new(), clock, job_name: "j".into() }).unwrap()
}

fn drain(reader: &mut NexmarkReader, max_rows: usize) -> Vec<RecordBatch> {
    let mut out = vec![];
    loop {
        match reader.poll(None, max_rows).unwrap() {
            SourcePoll::Batch(batch) => {
                assert!(batch.num_rows() <= 8_192 && batch.kinds().is_none());
                out.push(batch.rows().clone());
            }
            SourcePoll::Finished => return out,
            other => panic!("{other:?}"),
        }
    }
}

fn all(options: &[(&str, &str)], columns: Option<&[&str]>) -> RecordBatch {
    let batches = drain(&mut reader(options, columns, 0, 1, &Arc::default()), 8_192);
    concat_batches(&batches[0].schema(), &batches).unwrap()
}

#[test]
fn kinds_come_one_to_three_to_forty_six() {
    let rows = |table| all(&[("table", table), ("events", "100000")], Some(&[])).num_rows();
    assert_eq!([rows("person"), rows("auction"), rows("bid")], [2_000, 6_000, 92_000]);
    let every = all(&[("events", "1000")], None);
    let types = every.column(0).as_primitive::<Int32Type>();
    assert_eq!([0, 1, 2].map(|t| types.values().iter().filter(|v| **v == t).count()), [20, 60, 920]);
    for (column, rows) in [(1, 20), (2, 60), (3, 920)] {
        assert_eq!(every.num_rows() - every.column(column).null_count(), rows);
    }
    let bids = all(&[("events", "1000"), ("table", "bid")], Some(&["url"]));
    let nested = every.column(3).as_struct().column_by_name("url").unwrap().as_string::<i32>();
    assert!(nested.iter().flatten().eq(bids.column(0).as_string::<i32>().iter().flatten()));
}

#[test]
fn some_are_hot() {
    let bids = all(&[("table", "bid"), ("events", "500000"), ("rate", "10000000")], None);
    let count =
        |column: usize, of: i64| bids.column(column).as_primitive::<Int64Type>().values().iter().filter(|v| (**v - of) % 100 == 0).count();
    let share = |n: usize| n as f64 / bids.num_rows() as f64;
    assert!((0.49..0.53).contains(&share(count(0, 1_000))), "hot auctions {}", share(count(0, 1_000)));
    assert!((0.74..0.78).contains(&share(count(1, 1_001))), "hot bidders {}", share(count(1, 1_001)));
    let prices = bids.column(2).as_primitive::<Int64Type>();
    assert!(prices.values().iter().all(|p| (100..=100_000_000).contains(p)));
    let middle = share(prices.values().iter().filter(|p| **p < 100_000).count());
    assert!((0.49..0.51).contains(&middle), "half are below 10^5: {middle}");
    let mut channels: HashMap<&str, (usize, &str)> = HashMap::new();
    for (channel, url) in bids.column(3).as_string::<i32>().iter().flatten().zip(bids.column(4).as_string::<i32>().iter().flatten()) {
        assert!(url.starts_with("https://www.nexmark.com/"));
        let entry = channels.entry(channel).or_insert((0, url));
        assert_eq!(entry.1, url);
        entry.0 += 1;
    }
    let hot: usize = ["Google", "Facebook", "Baidu", "Apple"].iter().map(|c| channels[c].0).sum();
    assert!((0.49..0.51).contains(&share(hot)) && channels.len() > 9_900);
    let extra = bids.column(6).as_string::<i32>();
    let mean = extra.values().len() as f64 / bids.num_rows() as f64 + 32.0;
    assert!((98.0..102.0).contains(&mean), "mean bytes {mean}");
    let times = bids.column(5).as_primitive::<TimestampMicrosecondType>();
    assert_eq!(times.value(times.len() - 1) - times.value(0), 49_999);
}

#[test]
fn sizes_of_the_rarer_kinds() {
    let bytes = |table: &str, texts: &[&str]| {
        let rows = all(&[("table", table), ("events", "50000")], Some(texts));
        rows.columns().iter().map(|c| c.as_string::<i32>().values().len()).sum::<usize>() / rows.num_rows()
    };
    let person = bytes("person", &["name", "email_address", "credit_card", "city", "state", "extra"]) + 16;
    assert!((195..205).contains(&person), "{person}");
    let auction = bytes("auction", &["item_name", "description", "extra"]) + 48;
    assert!((495..505).contains(&auction), "{auction}");
    let rows =
        all(&[("table", "auction"), ("events", "50000")], Some(&["id", "category", "date_time", "expires", "initial_bid", "reserve"]));
    let ids: Vec<_> = rows.column(0).as_primitive::<Int64Type>().values().to_vec();
    assert_eq!(ids, (1_000..4_000).collect::<Vec<_>>());
    assert!(rows.column(1).as_primitive::<Int64Type>().values().iter().all(|c| (10..15).contains(c)));
    let greater = |a: usize, b: usize| {
        let (a, b) = (rows.column(a).to_data(), rows.column(b).to_data());
        a.buffers()[0].typed_data::<i64>().iter().zip(b.buffers()[0].typed_data::<i64>()).all(|(a, b)| a > b)
    };
    assert!(greater(3, 2) && greater(5, 4));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn split_projection_and_batch_size_change_nothing(
        events in 0u64..40_000, parallelism in 1u32..5, max_rows in 1usize..9_000, seed in 0u64..3, table in 0usize..3, restart in 0usize..4,
    ) {
        let table = ["person", "auction", "bid"][table];
        let (events, seed) = (events.to_string(), seed.to_string());
        let options = [("table", table), ("events", events.as_str()), ("seed", seed.as_str())];
        let columns = ["extra", "date_time"];
        let clock = Arc::default();
        let mut got = vec![];
        for subtask in 0..parallelism {
            let mut first = reader(&options, Some(&columns), subtask, parallelism, &clock);
            for _ in 0..restart {
                if let SourcePoll::Batch(batch) = first.poll(None, max_rows).unwrap() {
                    got.push(batch.rows().clone());
                }
            }
            let mut second = reader(&options, Some(&columns), subtask, parallelism, &clock);
            second.restore(&[SourcePosition { subtask, parallelism, bytes: first.snapshot().unwrap() }], 1).unwrap();
            got.extend(drain(&mut second, max_rows.max(500)));
        }
        let mut rows: Vec<(i64, String)> = vec![];
        for batch in &got {
            let (extra, time) = (batch.column(0).as_string::<i32>(), batch.column(1).as_primitive::<TimestampMicrosecondType>());
            rows.extend((0..batch.num_rows()).map(|i| (time.value(i), extra.value(i).to_string())));
        }
        rows.sort();
        let whole = drain(&mut reader(&options, None, 0, 1, &clock), 8_192);
        let mut expected = vec![];
        for batch in &whole {
            let extra = batch.column_by_name("extra").unwrap().as_string::<i32>();
            let time = batch.column_by_name("date_time").unwrap().as_primitive::<TimestampMicrosecondType>();
            expected.extend((0..batch.num_rows()).map(|i| (time.value(i), extra.value(i).to_string())));
        }
        expected.sort();
        prop_assert_eq!(rows, expected);
    }
}

#[test]
fn a_cut_comes_at_once_and_the_wall_clock_holds_back() {
    let clock = Arc::new(SimulatedClock::default());
    let mut reader = reader(&[("table", "bid"), ("rows-per-second", "1000")], None, 0, 1, &clock);
    assert!(matches!(reader.poll(Some(3), 10).unwrap(), SourcePoll::CutReached));
    assert!(matches!(reader.poll(None, 10).unwrap(), SourcePoll::Pending { wake_after: Some(_) }));
    clock.advance(Duration::from_millis(50));
    let SourcePoll::Batch(batch) = reader.poll(None, 100).unwrap() else { panic!() };
    assert_eq!(batch.num_rows(), 46);
}

#[test]
fn declared_columns_are_checked() {
    use millstream_types::{Column, SqlType};
    let config = |table: &str| NexmarkConfig::parse(&[("table".to_string(), table.to_string())].into()).map(|c| (c, ()));
    let (bid, ()) = config("bid").unwrap();
    let state = |column: Column| bid.schema(&Schema::new(vec![column])).map_err(|e| e.state());
    assert!(state(Column::new("price", SqlType::BigInt)).is_ok());
    assert_eq!(state(Column::new("seller", SqlType::BigInt)).unwrap_err(), SqlState::UNDEFINED_COLUMN);
    assert_eq!(state(Column::new("price", SqlType::Text)).unwrap_err(), SqlState::DATATYPE_MISMATCH);
    let error = config("bids").unwrap_err();
    assert_eq!(error.message(), "invalid value for option \"table\": \"bids\"");
}
