//! Golden scripts: rows in, what a scan finds.
#![allow(clippy::unwrap_used)]

use millstream_graph::OperatorSpec;
use millstream_types::{ObjectId, SqlType};

use super::*;
use crate::operator::harness::{Harness, node, schema};

fn harness(key: Option<Vec<usize>>) -> Harness {
    let columns = schema(&[("k", SqlType::Integer), ("v", SqlType::Text)]);
    let route = key.clone().unwrap_or_else(|| vec![0, 1]);
    let spec = OperatorSpec::Materialize(MaterializeSpec { relation: ObjectId(7), name: "t".into(), key });
    Harness::new(node(spec, &columns, None), &columns, &route, false).unwrap()
}

#[test]
fn rows_by_key_survive_recovery_and_rescaling() {
    harness(Some(vec![0])).check(
        "+ 1 a
         + 2 b
         barrier
         scan
         > 1 a
         > 2 b
         +U 1 c
         -U 1 a
         recover
         barrier
         scan
         > 1 a
         > 2 b
         -U 1 a
         +U 1 c
         barrier
         rescale 2
         - 2 b
         barrier
         scan
         > 1 c
         rescale 1
         barrier
         scan
         > 1 c",
    );
}

#[test]
fn equal_rows_are_counted() {
    harness(None).check(
        "+ 1 a
         + 1 a
         + NULL NULL
         barrier
         rescale 2
         barrier
         scan
         > 1 a
         > 1 a
         > NULL NULL
         - 1 a
         barrier
         rescale 1
         barrier
         scan
         > NULL NULL
         > 1 a",
    );
}

#[test]
fn two_rows_for_a_key_are_an_error() {
    harness(Some(vec![0])).check(
        "+ 1 a
         + 1 b
         barrier
         ! XX000 inconsistent changes for relation \"t\": two rows for one key; Key (k)=(1).",
    );
}
