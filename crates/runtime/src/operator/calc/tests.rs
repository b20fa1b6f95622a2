//! Golden scripts: rows in, changes out.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use millstream_graph::{BinaryOperator, CalcSpec, OperatorSpec, ScalarExpr};
use millstream_types::{ChangeBatch, Datum, SqlType, StreamElement};

use super::*;
use crate::operator::harness::{Harness, node, parse, schema};

fn column(index: usize) -> ScalarExpr {
    ScalarExpr::column(index, SqlType::Integer)
}

fn positive(index: usize) -> ScalarExpr {
    let zero = ScalarExpr::Literal(Datum::Integer(0));
    ScalarExpr::Binary { op: BinaryOperator::Gt, left: Box::new(column(index)), right: Box::new(zero) }
}

fn input() -> Schema {
    schema(&[("a", SqlType::Integer), ("b", SqlType::Integer), ("c", SqlType::Text)])
}

fn harness(filter: Option<ScalarExpr>, projection: Vec<ScalarExpr>) -> Harness {
    let output = Schema::new(projection.iter().map(|e| millstream_types::Column::new("x", e.sql_type())).collect());
    let spec = OperatorSpec::Calc(CalcSpec { filter, projection });
    Harness::new(node(spec, &output, None), &input(), &[0], false).unwrap()
}

#[test]
fn kinds_follow_their_rows() {
    harness(Some(positive(1)), vec![column(1), ScalarExpr::Literal(Datum::Text("k".into()))]).check(
        "+ 1 5 x
         -U 1 -5 x
         +U 1 6 x
         - 1 NULL x
         - 1 5 x
         ;
         > +I 5 k
         > +U 6 k
         > -D 5 k
         watermark 00:00:01
         > watermark 00:00:01",
    );
}

#[test]
fn nothing_left_is_nothing_sent_and_no_columns_still_count() {
    harness(Some(positive(1)), vec![]).check(
        "+ 1 -5 x
         barrier
         + 1 5 x
         + 1 -5 x
         - 1 6 x
         ;
         > +I
         > -D",
    );
}

#[test]
fn columns_are_shared_when_every_row_passes() {
    let mut h = harness(Some(positive(0)), vec![ScalarExpr::column(2, SqlType::Text), column(0)]);
    let batch: ChangeBatch = parse(&input(), &["+ 1 5 x", "+ 2 5 y"]);
    let out = h.send(&batch.filter(&vec![true, true].into()).unwrap()).unwrap();
    let [StreamElement::Batch(out)] = out.as_slice() else { unreachable!("one batch") };
    assert_eq!(out.num_rows(), 2);
    let calc = Calc::new(
        &CalcSpec { filter: Some(positive(0)), projection: vec![ScalarExpr::column(2, SqlType::Text)] },
        &input(),
        &schema(&[("c", SqlType::Text)]),
    );
    let mut sent = Sent(vec![]);
    calc.unwrap().process_batch(0, batch.clone(), &mut sent).unwrap();
    assert!(Arc::ptr_eq(sent.0[0].column(0), batch.column(2)));
}

struct Sent(Vec<ChangeBatch>);

impl Output for Sent {
    fn batch(&mut self, batch: ChangeBatch) -> Result<()> {
        self.0.push(batch);
        Ok(())
    }
    fn watermark(&mut self, _watermark: millstream_types::Watermark) -> Result<()> {
        Ok(())
    }
}
