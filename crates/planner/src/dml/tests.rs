//! INSERT, UPDATE and DELETE as queries.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use millstream_sql::statement::Statement;

use super::*;
use crate::catalog::PlannerRelation;
use crate::testing::{catalog, rows};

fn table(name: &str) -> Arc<PlannerRelation> {
    Arc::new(catalog().resolve(&[name.to_owned()]).unwrap().unwrap())
}

fn statement(sql: &str) -> Statement {
    millstream_sql::parse(sql).unwrap().remove(0).statement
}

async fn insert(sql: &str) -> Result<Vec<String>> {
    let Statement::Insert(parsed) = statement(sql) else { panic!("{sql}") };
    let table = table("orders");
    let target = InsertTarget {
        name: table.name.clone(),
        columns: table.columns.clone(),
        defaults: vec![None, Some("'nowhere'".into()), Some("2 * 21".into()), None, None],
    };
    let bound = bind_insert(&catalog(), &parsed.insert, sql, &target)?;
    assert_eq!(
        bound.schema.columns.iter().map(|c| &c.sql_type).collect::<Vec<_>>(),
        table.columns.iter().map(|c| &c.sql_type).collect::<Vec<_>>()
    );
    rows(bound.plan, sql).await
}

#[tokio::test]
async fn inserted_rows() {
    for (sql, expected) in [
        ("INSERT INTO orders VALUES (1, 'x', 2, true, 0.5)", vec!["1|x|2|true|0.5"]),
        ("INSERT INTO orders VALUES ('1', 5, '2', 'yes', '0.5'), (2, 'y', NULL, NULL, 1)", vec!["1|5|2|true|0.5", "2|y|NULL|NULL|1"]),
        ("INSERT INTO orders (amount, id) VALUES (2.5, 1)", vec!["1|nowhere|3|NULL|NULL"]),
        ("INSERT INTO orders (id, amount, city) VALUES (1, DEFAULT, DEFAULT)", vec!["1|nowhere|42|NULL|NULL"]),
        ("INSERT INTO orders VALUES (1)", vec!["1|nowhere|42|NULL|NULL"]),
        ("INSERT INTO orders DEFAULT VALUES", vec!["NULL|nowhere|42|NULL|NULL"]),
        ("INSERT INTO orders SELECT id + 10, city FROM orders WHERE id < 2", vec!["11|a|42|NULL|NULL"]),
        ("INSERT INTO orders (id, city) SELECT id, id FROM orders WHERE id = 1", vec!["1|1|42|NULL|NULL"]),
        ("INSERT INTO orders (id, amount) SELECT 7, '8'", vec!["7|nowhere|8|NULL|NULL"]),
    ] {
        match insert(sql).await {
            Ok(lines) => assert_eq!(lines, expected, "{sql}"),
            Err(e) => panic!("{sql}: {e}"),
        }
    }
}

#[tokio::test]
async fn refused_inserts() {
    for (sql, state, message) in [
        ("INSERT INTO orders (id) VALUES (1, 2)", "42601", "INSERT has more expressions than target columns"),
        ("INSERT INTO orders (id, city) VALUES (1)", "42601", "INSERT has more target columns than expressions"),
        ("INSERT INTO orders (id, nothing) VALUES (1, 2)", "42703", "column \"nothing\" of relation \"orders\" does not exist"),
        ("INSERT INTO orders (id, id) VALUES (1, 2)", "42701", "column \"id\" specified more than once"),
        ("INSERT INTO orders (paid) VALUES (1)", "42804", "column \"paid\" is of type boolean but expression is of type integer"),
        (
            "INSERT INTO orders (amount) SELECT city FROM orders",
            "42804",
            "column \"amount\" is of type integer but expression is of type text",
        ),
        ("INSERT INTO orders (amount) VALUES ('x')", "22P02", "invalid input syntax for type integer: \"x\""),
        ("INSERT INTO orders (amount) VALUES (3000000000)", "22003", "integer out of range"),
    ] {
        let e = insert(sql).await.map(|lines| panic!("{sql} gave {lines:?}")).unwrap_err();
        assert_eq!((e.state().as_str(), e.message()), (state, message), "{sql}");
    }
}

#[tokio::test]
async fn changed_rows() {
    let table = table("orders");
    let sql = "UPDATE orders AS o SET amount = o.amount + 1, city = 'z' WHERE id = 1";
    let Statement::Update(update) = statement(sql) else { panic!("{sql}") };
    let bound = bind_update(&catalog(), &update, sql, &table).unwrap();
    assert_eq!(bound.old_columns, 5);
    assert_eq!(rows(bound.query.plan, sql).await.unwrap(), ["1|a|10|true|1.5|1|z|11|true|1.5"]);

    let sql = "DELETE FROM orders WHERE amount IS NULL";
    let Statement::Delete(delete) = statement(sql) else { panic!("{sql}") };
    let bound = bind_delete(&catalog(), &delete, sql, &table).unwrap();
    assert_eq!(rows(bound.query.plan, sql).await.unwrap(), ["2|b|NULL|false|NaN"]);

    for (sql, state) in [
        ("UPDATE orders SET nothing = 1", "42703"),
        ("UPDATE orders SET id = 1, id = 2", "42601"),
        ("UPDATE orders SET amount = city", "42804"),
        ("UPDATE orders SET paid = 1", "42804"),
    ] {
        let Statement::Update(update) = statement(sql) else { panic!("{sql}") };
        let e = bind_update(&catalog(), &update, sql, &table).unwrap_err();
        assert_eq!(e.state().as_str(), state, "{sql}: {e}");
    }
}
