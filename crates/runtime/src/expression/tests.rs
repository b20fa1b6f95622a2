//! Expressions over small batches: values, NULL rules, errors.
#![allow(clippy::unwrap_used)]

use millstream_graph::BinaryOperator;
use millstream_types::{Datum, SqlState};

use super::*;
use crate::operator::harness::{parse, schema, texts};

fn rows(lines: &[&str]) -> RecordBatch {
    let columns = schema(&[("a", SqlType::Integer), ("f", SqlType::Double), ("t", SqlType::Text), ("b", SqlType::Boolean)]);
    parse(&columns, lines).rows().clone()
}

fn evaluate(expr: &ScalarExpr, lines: &[&str]) -> Result<Vec<String>> {
    let rows = rows(lines);
    let value = Evaluator::new(expr, &rows.schema())?.evaluate(&rows)?;
    assert_eq!(*value.data_type(), expr.sql_type().to_arrow(), "{expr}");
    Ok(texts(&RecordBatch::try_from_iter([("x", value)]).unwrap()))
}

fn values(expr: &ScalarExpr, lines: &[&str]) -> String {
    evaluate(expr, lines).unwrap().join(" ")
}

fn a() -> ScalarExpr {
    ScalarExpr::column(0, SqlType::Integer)
}

fn f() -> ScalarExpr {
    ScalarExpr::column(1, SqlType::Double)
}

fn t() -> ScalarExpr {
    ScalarExpr::column(2, SqlType::Text)
}

fn b() -> ScalarExpr {
    ScalarExpr::column(3, SqlType::Boolean)
}

fn int(v: i32) -> ScalarExpr {
    ScalarExpr::Literal(Datum::Integer(v))
}

fn text(v: &str) -> ScalarExpr {
    ScalarExpr::Literal(Datum::Text(v.into()))
}

fn binary(op: BinaryOperator, left: ScalarExpr, right: ScalarExpr) -> ScalarExpr {
    ScalarExpr::Binary { op, left: Box::new(left), right: Box::new(right) }
}

fn function(name: &str, args: Vec<ScalarExpr>, return_type: SqlType) -> ScalarExpr {
    ScalarExpr::Function { name: name.into(), args, return_type }
}

/// The integer division of the registry.
fn divide(left: ScalarExpr, right: ScalarExpr) -> ScalarExpr {
    function("ms_div", vec![left, right], SqlType::Integer)
}

#[test]
fn comparisons_have_three_values() {
    let lines = ["+ 1 0 x t", "+ NULL 0 x f", "+ 3 0 x NULL"];
    assert_eq!(values(&binary(BinaryOperator::Lt, a(), int(2)), &lines), "t NULL f");
    assert_eq!(values(&binary(BinaryOperator::IsDistinctFrom, a(), int(1)), &lines), "f t t");
    let unknown = || ScalarExpr::Literal(Datum::Null(SqlType::Boolean));
    assert_eq!(values(&binary(BinaryOperator::And, b(), unknown()), &lines), "NULL f NULL");
    assert_eq!(values(&binary(BinaryOperator::Or, b(), unknown()), &lines), "t NULL NULL");
    assert_eq!(values(&ScalarExpr::Not(Box::new(b())), &lines), "f t NULL");
    assert_eq!(values(&ScalarExpr::IsNull(Box::new(b())), &lines), "f f t");
}

#[test]
fn floats_have_one_zero_and_one_nan() {
    let lines = ["+ 0 -0 x t", "+ 0 NaN x t", "+ 0 Infinity x t"];
    let double = |v| ScalarExpr::Literal(Datum::Double(v));
    assert_eq!(values(&binary(BinaryOperator::Eq, f(), double(0.0)), &lines), "t f f");
    assert_eq!(values(&binary(BinaryOperator::Eq, f(), double(-f64::NAN)), &lines), "f t f");
    assert_eq!(values(&binary(BinaryOperator::Lt, f(), double(f64::NAN)), &lines), "t f t");
    let list = ScalarExpr::InList { expr: Box::new(f()), list: vec![double(0.0), double(5.0)], negated: false };
    assert_eq!(values(&list, &lines), "t f f");
}

#[test]
fn lists_and_patterns() {
    let lines = ["+ 1 0 abc t", "+ 2 0 a_c t", "+ NULL 0 NULL t"];
    let list = |negated, list| ScalarExpr::InList { expr: Box::new(a()), list, negated };
    assert_eq!(values(&list(false, vec![int(1), int(7)]), &lines), "t f NULL");
    let null = ScalarExpr::Literal(Datum::Null(SqlType::Integer));
    assert_eq!(values(&list(true, vec![int(1), null]), &lines), "f NULL NULL");
    let like = |pattern, negated, case_insensitive| ScalarExpr::Like {
        expr: Box::new(t()),
        pattern: Box::new(text(pattern)),
        negated,
        case_insensitive,
    };
    assert_eq!(values(&like("a_c", false, false), &lines), "t t NULL");
    assert_eq!(values(&like("a\\_c", false, false), &lines), "f t NULL");
    assert_eq!(values(&like("AB%", true, true), &lines), "f t NULL");
}

#[test]
fn a_branch_is_evaluated_only_for_rows_that_reach_it() {
    let lines = ["+ 0 0 x t", "+ 5 0 x t", "+ NULL 0 x t"];
    let zero = binary(BinaryOperator::Eq, a(), int(0));
    let safe = ScalarExpr::Case {
        branches: vec![(zero.clone(), ScalarExpr::Literal(Datum::Null(SqlType::Unknown)))],
        otherwise: Some(Box::new(divide(int(10), a()))),
    };
    assert_eq!(values(&safe, &lines), "NULL 2 NULL");
    let two = ScalarExpr::Case {
        branches: vec![(zero.clone(), int(-1)), (ScalarExpr::Not(Box::new(zero)), divide(int(10), a()))],
        otherwise: None,
    };
    assert_eq!(values(&two, &lines), "-1 2 NULL");
}

#[test]
fn errors_name_the_expression() {
    let error = evaluate(&divide(int(1), a()), &["+ 0 0 x t"]).unwrap_err();
    assert_eq!((error.state(), error.message()), (SqlState::DIVISION_BY_ZERO, "division by zero"));
    assert!(error.detail().unwrap().ends_with("in expression ms_div(1, $0)"), "{error}");
    let unknown = Evaluator::new(&function("no_such", vec![], SqlType::Integer), &rows(&[]).schema()).unwrap_err();
    assert_eq!(unknown.state(), SqlState::UNDEFINED_FUNCTION);
    // A constant that fails is an error only where rows reach it.
    let constant = divide(int(1), int(0));
    assert!(Evaluator::new(&constant, &rows(&[]).schema()).is_ok());
    assert_eq!(evaluate(&constant, &["+ 0 0 x t"]).unwrap_err().state(), SqlState::DIVISION_BY_ZERO);
}

#[test]
fn casts_and_functions() {
    let lines = ["+ 12 0 7 t", "+ NULL 0 8 t"];
    let cast = |expr, to| ScalarExpr::Cast { expr: Box::new(expr), to };
    assert_eq!(values(&cast(a(), SqlType::Text), &lines), "12 NULL");
    assert_eq!(values(&cast(t(), SqlType::Integer), &lines), "7 8");
    assert_eq!(values(&cast(text("3"), SqlType::BigInt), &lines), "3 3");
    let bad = evaluate(&cast(t(), SqlType::Integer), &["+ 1 0 zz t"]).unwrap_err();
    assert_eq!(bad.state(), SqlState::INVALID_TEXT_REPRESENTATION);
    assert_eq!(values(&function("upper", vec![text("ab")], SqlType::Text), &lines), "AB AB");
}

#[test]
fn a_plain_column_is_shared() {
    let rows = rows(&["+ 1 0 x t"]);
    let evaluator = Evaluator::new(&a(), &rows.schema()).unwrap();
    assert_eq!(evaluator.as_column(), Some(0));
    assert!(Arc::ptr_eq(&evaluator.evaluate(&rows).unwrap(), rows.column(0)));
}
