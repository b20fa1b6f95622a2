//! Descriptors are plain data, and none of their displays shows a secret. Positions are found again in the text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use millstream_sql::catalog::{
    ColumnDescriptor, ConnectorDescriptor, ObjectDescriptor, ObjectKind, ROW_ID_COLUMN, SourceDescriptor, TableDescriptor,
};
use millstream_sql::{Statement, expr_position, parse, parse_expression, parse_query};
use millstream_types::{Column, ObjectId, SqlType};
use sqlparser::ast::{SelectItem, SetExpr};

fn source(definition: &str) -> ObjectDescriptor {
    let Statement::CreateSource(create) = parse(definition).unwrap().remove(0).statement else { panic!("no source") };
    ObjectDescriptor {
        id: ObjectId(7),
        database: "dev".into(),
        schema: "public".into(),
        name: "My source".into(),
        owner: "me".into(),
        definition: definition.into(),
        depends_on: vec![ObjectId(1)],
        kind: ObjectKind::Source(SourceDescriptor {
            columns: vec![ColumnDescriptor::new(Column::new("a", SqlType::Integer))],
            connector: ConnectorDescriptor::from(&create.connector),
            watermark: None,
            primary_key: Vec::new(),
        }),
    }
}

#[test]
fn secrets_are_stored_and_not_shown() {
    let sql = "CREATE SOURCE \"My source\" (a INT) WITH (connector = 'kafka', sasl.password = 'hunter2') FORMAT PLAIN ENCODE AVRO (registry.token = 'hunter2')";
    let source = source(sql);
    assert_eq!(source.displayed_definition(), sql.replace("hunter2", "<redacted>"));
    assert!(!format!("{:?}", source.kind).contains("hunter2"));
    let stored = serde_json::to_string(&source).unwrap();
    assert!(stored.contains("hunter2"));
    assert_eq!(serde_json::from_str::<ObjectDescriptor>(&stored).unwrap(), source);
    assert_eq!(source.qualified_name(), "public.\"My source\"");
    let damaged = ObjectDescriptor { definition: "CREATE SOURCE s WITH (password = 'hunter2'".into(), ..source };
    assert_eq!(damaged.displayed_definition(), "CREATE SOURCE \"My source\"");
}

#[test]
fn a_table_without_key_stores_a_hidden_one() {
    let columns = vec![ColumnDescriptor::new(Column::new("a", SqlType::Text))];
    let plain = TableDescriptor::new(columns.clone(), Vec::new());
    assert_eq!((plain.primary_key.clone(), plain.hidden_row_id), (vec![1], true));
    assert_eq!(plain.stored_schema().columns[1], Column::new(ROW_ID_COLUMN, SqlType::BigInt));
    let keyed = TableDescriptor::new(columns, vec![0]);
    assert_eq!((keyed.primary_key.clone(), keyed.hidden_row_id, keyed.stored_schema().len()), (vec![0], false, 1));
}

#[test]
fn positions_are_in_the_statements_text() {
    let parsed = parse("SELECT 1;\n  SELECT 'é',\n  nope + 1").unwrap().remove(1);
    let Statement::Query(select) = &parsed.statement else { panic!("no query") };
    let SetExpr::Select(select) = select.query.body.as_ref() else { panic!("no select") };
    let SelectItem::UnnamedExpr(expr) = &select.projection[1] else { panic!("no expression") };
    assert_eq!(expr_position(expr, &parsed.text), Some(15));
    assert_eq!(parsed.text.chars().skip(14).take(4).collect::<String>(), "nope");
    assert_eq!(parsed.offset, 12);
}

#[test]
fn stored_texts_parse_alone() {
    assert_eq!(parse_expression("ts - INTERVAL '5 seconds'").unwrap().to_string(), "ts - INTERVAL '5 seconds'");
    assert_eq!(parse_query("SELECT a FROM t EMIT CHANGES").unwrap().to_string(), "SELECT a FROM t EMIT CHANGES");
    for text in ["", "1 2", "a; b"] {
        assert_eq!(parse_expression(text).unwrap_err().state().as_str(), "42601", "{text}");
    }
}
