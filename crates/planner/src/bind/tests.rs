//! Queries bound and run by the batch engine, against PostgreSQL's answers.
#![allow(clippy::unwrap_used, clippy::panic)]

use millstream_types::SqlState;

use crate::bind_query;
use crate::testing::{catalog, run};

/// Names and types of the columns, then the rows.
async fn check(sql: &str, expected: &[&str]) {
    match run(sql).await {
        Ok(lines) => assert_eq!(lines, expected, "{sql}"),
        Err(e) => panic!("{sql}: {e}"),
    }
}

async fn fails(sql: &str, state: &str, message: &str) {
    let e = run(sql).await.map(|lines| panic!("{sql} gave {lines:?}")).unwrap_err();
    assert_eq!((e.state(), e.message()), (SqlState::from_code(state).unwrap(), message), "{sql}");
}

#[tokio::test]
async fn arithmetic_is_postgresql() {
    check("SELECT 7 / 2, -7 / 2, 7 % -3", &["?column? integer|?column? integer|?column? integer", "3|-3|1"]).await;
    check("SELECT avg(amount), sum(amount) FROM orders", &["avg numeric(38,16)|sum bigint", "5.0000000000000000|10"]).await;
    check("SELECT sum(id) FROM orders", &["sum numeric(38,0)", "6"]).await;
    check("SELECT DATE '2024-01-31' + 1 AS d", &["d date", "2024-02-01"]).await;
    check("SELECT TIMESTAMP '2024-01-31' - '2024-01-30' AS d", &["d interval", "1 day"]).await;
    check("SELECT DATE '2024-01-31' - INTERVAL '1 day' AS d", &["d timestamp without time zone", "2024-01-30 00:00:00"]).await;
    fails("SELECT 2147483647 + 1", "22003", "integer out of range").await;
    fails("SELECT amount / 0 FROM orders", "22012", "division by zero").await;
    fails("SELECT amount + 'x' FROM orders", "22P02", "invalid input syntax for type integer: \"x\"").await;
    fails("SELECT city + 1 FROM orders", "42883", "operator does not exist: text + integer").await;
}

#[tokio::test]
async fn bare_strings_take_the_type_of_what_they_stand_beside() {
    check("SELECT id FROM orders WHERE amount = '10'", &["id bigint", "1"]).await;
    check("SELECT id FROM orders WHERE amount IN ('10', '11')", &["id bigint", "1"]).await;
    check("SELECT id FROM orders WHERE amount BETWEEN '0' AND '9'", &["id bigint", "3"]).await;
    check("SELECT id FROM orders WHERE '5' < amount", &["id bigint", "1"]).await;
    check("SELECT CASE amount WHEN '10' THEN 'ten' ELSE 'other' END AS c FROM orders WHERE id = 1", &["c text", "ten"]).await;
    check("SELECT coalesce(amount, '7') AS c FROM orders", &["c integer", "10", "7", "0"]).await;
    fails("SELECT id FROM orders WHERE amount = 'x'", "22P02", "invalid input syntax for type integer: \"x\"").await;
    fails("SELECT id FROM orders WHERE amount IN ('x')", "22P02", "invalid input syntax for type integer: \"x\"").await;
    fails("SELECT id FROM orders WHERE amount = city", "42883", "operator does not exist: integer = text").await;
    fails("SELECT id FROM orders WHERE paid = 1", "42883", "operator does not exist: boolean = integer").await;
    fails("SELECT id FROM orders WHERE amount", "42804", "argument of WHERE must be type boolean, not type integer").await;
    fails("SELECT CASE WHEN paid THEN amount ELSE city END FROM orders", "42804", "CASE types integer and text cannot be matched").await;
    fails("SELECT coalesce(amount, city) FROM orders", "42804", "COALESCE types integer and text cannot be matched").await;
}

#[tokio::test]
async fn text_operators() {
    check("SELECT city || '-' || id AS t FROM orders WHERE id < 3", &["t text", "a-1", "b-2"]).await;
    check("SELECT 'x' || NULL AS t", &["t text", "NULL"]).await;
    check(
        "SELECT 'Abc' ~ 'b', 'Abc' ~* 'A.C', 'Abc' !~ 'a', 'Abc' !~* 'a'",
        &["?column? boolean|?column? boolean|?column? boolean|?column? boolean", "true|true|true|false"],
    )
    .await;
    fails("SELECT 1 || 2", "42883", "operator does not exist: integer || integer").await;
}

#[tokio::test]
async fn columns_are_called_as_in_postgresql() {
    let names = |sql: &str| {
        let query = millstream_sql::parse_query(sql).unwrap();
        let bound = bind_query(&catalog(), &query.query, sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        bound.schema.columns.into_iter().map(|c| c.name).collect::<Vec<_>>().join(",")
    };
    for (sql, expected) in [
        ("SELECT 1, 'a', NULL", "?column?,?column?,?column?"),
        ("SELECT id, id, orders.id FROM orders", "id,id,id"),
        ("SELECT *, id FROM orders", "id,city,amount,paid,rate,id"),
        ("SELECT count(*), count(*), sum(amount), sum(id) FROM orders", "count,count,sum,sum"),
        ("SELECT amount::text, 1::bigint, -amount, CASE WHEN paid THEN 1 END FROM orders", "amount,int8,?column?,case"),
        ("SELECT a.id, b.id FROM orders AS a JOIN orders AS b ON a.id = b.id", "id,id"),
        ("SELECT id AS x, city AS x FROM orders", "x,x"),
        ("SELECT count FROM (SELECT count(*) FROM orders) AS t", "count"),
        ("WITH t AS (SELECT city, max(id) FROM orders GROUP BY city) SELECT max, city FROM t", "max,city"),
        ("SELECT id, id FROM orders UNION ALL SELECT 1, 1", "id,id"),
        ("SELECT a FROM (VALUES (1, 'x'), (2, 'y')) AS t(a, b)", "a"),
        ("SELECT * FROM log", "at,line"),
        ("SELECT id FROM orders ORDER BY city, id", "id"),
        ("SELECT DISTINCT city, city FROM orders ORDER BY 1", "city,city"),
    ] {
        assert_eq!(names(sql), expected, "{sql}");
    }
}

#[tokio::test]
async fn names_are_found_or_said_to_be_missing() {
    for (sql, state, message, position) in [
        ("SELECT nothing FROM orders", "42703", "column \"nothing\" does not exist", Some(8)),
        ("SELECT id FROM nowhere", "42P01", "relation \"nowhere\" does not exist", Some(16)),
        ("WITH x AS (SELECT id FROM orders) SELECT nothing FROM x", "42703", "column \"nothing\" does not exist", Some(42)),
        ("SELECT id\nFROM orders AS a,\n  orders AS b", "42702", "column reference \"id\" is ambiguous", Some(8)),
        ("SELECT _row_id FROM log", "42703", "column \"_row_id\" does not exist", Some(8)),
        ("SELECT nofunction(id) FROM orders", "42883", "function nofunction does not exist", None),
    ] {
        let e = run(sql).await.map(|lines| panic!("{sql} gave {lines:?}")).unwrap_err();
        assert_eq!((e.state().as_str(), e.message()), (state, message), "{sql}");
        if position.is_some() {
            assert_eq!(e.position(), position, "{sql}");
        }
    }
    let e = run("SELECT city, amount FROM orders GROUP BY city").await.unwrap_err();
    assert_eq!(e.state(), SqlState::GROUPING_ERROR, "{e}");
}

#[test]
fn parameters_take_the_type_of_what_they_stand_beside() {
    use millstream_types::SqlType::{BigInt, Integer, Text};
    for (sql, types) in [
        ("SELECT id FROM orders WHERE id = $1 AND city = $2", vec![BigInt, Text]),
        ("SELECT amount + $1 FROM orders", vec![Integer]),
        ("SELECT id FROM orders WHERE amount BETWEEN $1 AND $2", vec![Integer, Integer]),
        ("SELECT id FROM orders WHERE amount IN ($1)", vec![Integer]),
    ] {
        let query = millstream_sql::parse_query(sql).unwrap();
        let bound = bind_query(&catalog(), &query.query, sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert_eq!(bound.params, types, "{sql}");
    }
}

/// The deepest tree that the parser lets pass, on the smallest stack that a thread of ours has.
#[test]
fn deep_expressions_have_room() {
    let depth = millstream_types::limits::MAX_EXPRESSION_DEPTH - 16;
    let sum = format!("SELECT id, {} AS s FROM orders", vec!["amount"; depth].join(" + "));
    let nested = format!("SELECT id, {}amount{} AS s FROM orders", "(".repeat(depth / 2), " + 1)".repeat(depth / 2));
    let both = format!("SELECT id FROM orders WHERE {}", vec!["paid"; depth].join(" AND "));
    for sql in [sum, nested, both] {
        let bound = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
            let query = millstream_sql::parse_query(&sql).map_err(|e| e.to_string())?;
            bind_query(&catalog(), &query.query, &sql).map(|b| b.schema.len()).map_err(|e| e.to_string())
        });
        let bound = bound.unwrap().join().unwrap();
        assert!(bound.is_ok(), "{bound:?}");
    }
}
