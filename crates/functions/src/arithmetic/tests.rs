//! Checked arithmetic agrees with i128 arithmetic; the tables of cases are in `tests/cases`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, Int64Array};
use arrow::datatypes::{Decimal128Type, Int64Type};
use proptest::prelude::*;

use super::*;

fn args(l: ArrayRef, r: ArrayRef) -> Args {
    let rows = l.len();
    Args { operands: vec![Operand { array: l, scalar: false }, Operand { array: r, scalar: false }], rows, out: DataType::Null }
}

fn run(op: ArithmeticOp, l: ArrayRef, r: ArrayRef) -> Result<ArrayRef> {
    let types = sql_types(&[l.data_type().clone(), r.data_type().clone()])?;
    let mut args = args(l, r);
    args.out = result_type(op, &types)?.to_arrow();
    apply(op, &args)
}

fn wide() -> impl Strategy<Value = i64> {
    prop_oneof![any::<i64>(), -1000_i64..1000, Just(i64::MAX), Just(i64::MIN), Just(0), Just(-1)]
}

fn exact(op: ArithmeticOp, a: i128, b: i128) -> Option<i128> {
    match op {
        ArithmeticOp::Add => a.checked_add(b),
        ArithmeticOp::Sub => a.checked_sub(b),
        ArithmeticOp::Mul => a.checked_mul(b),
        ArithmeticOp::Div => a.checked_div(b),
        _ => a.checked_rem(b),
    }
}

const OPS: [ArithmeticOp; 5] = [ArithmeticOp::Add, ArithmeticOp::Sub, ArithmeticOp::Mul, ArithmeticOp::Div, ArithmeticOp::Mod];

proptest! {
    #[test]
    fn bigint_agrees_with_i128(pairs in prop::collection::vec((prop::option::of(wide()), prop::option::of(wide())), 1..20)) {
        let (l, r): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        for op in OPS {
            let got = run(op, Arc::new(Int64Array::from(l.clone())), Arc::new(Int64Array::from(r.clone())));
            let want: Option<Vec<Option<i64>>> = pairs.iter().map(|(a, b)| match (a, b) {
                (Some(a), Some(b)) => exact(op, i128::from(*a), i128::from(*b)).and_then(|v| i64::try_from(v).ok()).map(Some),
                _ => Some(None),
            }).collect();
            match (got, want) {
                (Ok(got), Some(want)) => prop_assert_eq!(got.as_primitive::<Int64Type>().iter().collect::<Vec<_>>(), want),
                (Err(e), None) => prop_assert!(["22003", "22012"].contains(&e.state().as_str()), "{e}"),
                (got, want) => prop_assert!(false, "{op}: {got:?} but {want:?}"),
            }
        }
    }

    #[test]
    fn numeric_agrees_with_i128(a in -10_i128.pow(17)..10_i128.pow(17), b in -10_i128.pow(17)..10_i128.pow(17)) {
        // numeric(18,4) and numeric(18,2).
        let left = Arc::new(Decimal128Array::from(vec![a]).with_precision_and_scale(18, 4).unwrap());
        let right = Arc::new(Decimal128Array::from(vec![b]).with_precision_and_scale(18, 2).unwrap());
        for (op, want) in [(ArithmeticOp::Add, a + b * 100), (ArithmeticOp::Sub, a - b * 100), (ArithmeticOp::Mul, a * b)] {
            let got = run(op, left.clone(), right.clone()).unwrap();
            prop_assert_eq!(got.as_primitive::<Decimal128Type>().value(0), want);
        }
    }

    #[test]
    fn a_quotient_times_the_divisor_is_near(a in -10_i128.pow(17)..10_i128.pow(17), b in 1_i128..10_i128.pow(17)) {
        let (q, fault) = decimal::quotient(a, 16, b);
        prop_assert_eq!(fault, checked::FINE);
        let error = (a * 10_i128.pow(16) - q * b).abs();
        prop_assert!(error * 2 <= b, "{a} / {b} = {q}");
    }
}

#[test]
fn wide_products_and_quotients_round_half_away() {
    let big = 10_i128.pow(37);
    assert_eq!(decimal::product(big, 15, 38), (2, checked::FINE));
    assert_eq!(decimal::product(-big, 15, 38), (-2, checked::FINE));
    assert_eq!(decimal::product(big, big, 38), (10_i128.pow(36), checked::FINE));
    assert_eq!(decimal::product(big, big, 0).1, checked::OVERFLOW);
    assert_eq!(decimal::quotient(big, 16, big * 3), (3_333_333_333_333_333, checked::FINE));
    assert_eq!(decimal::quotient(1, 16, 0).1, checked::ZERO);
}
