//! Golden scripts: rows in, what the connector gets.
#![allow(clippy::unwrap_used)]

use millstream_graph::OperatorSpec;
use millstream_types::SqlType;

use super::*;
use crate::operator::harness::{Harness, node, schema};

fn harness(key: Option<Vec<usize>>, appends_only: bool) -> Harness {
    let columns = schema(&[("k", SqlType::Integer), ("v", SqlType::Double)]);
    let spec = SinkSpec {
        name: "s".into(),
        connector: "print".into(),
        options: std::collections::BTreeMap::new(),
        columns: columns.columns.clone(),
    };
    Harness::new(node(OperatorSpec::Sink(spec), &columns, key), &columns, &[0], appends_only).unwrap()
}

#[test]
fn an_epoch_is_netted_and_old_rows_of_a_key_come_first() {
    harness(Some(vec![0]), false).check(
        "+ 1 -0
         + 2 5
         ;
         - 2 5
         + 3 7
         barrier
         > +I 1 -0
         > +I 3 7
         + 1 2
         - 3 7
         - 1 -0
         + 4 NaN
         barrier
         > -U 1 -0
         > +U 1 2
         > -D 3 7
         > +I 4 NaN
         barrier",
    );
}

#[test]
fn without_a_key_all_old_rows_come_first() {
    harness(None, false).check(
        "+ 1 1
         + 1 1
         barrier
         > +I 1 1
         > +I 1 1
         + 1 2
         - 1 1
         barrier
         > -D 1 1
         > +I 1 2",
    );
}

#[test]
fn appending_sinks_get_rows_at_once_and_no_retractions() {
    harness(None, true).check(
        "+ 1 1
         ;
         > +I 1 1
         - 1 1
         ;
         ! XX000 sink \"s\" only appends, and its input takes rows back",
    );
}
