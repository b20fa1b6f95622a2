//! A catalog for tests: a table with a key, one without, a source, a view, a materialized view.

use std::collections::BTreeMap;
use std::sync::Arc;

use millstream_types::{Column, ObjectId, Result, SqlType};

use crate::catalog::{PlannerCatalog, PlannerRelation, RelationKind};

pub(crate) struct TestCatalog;

fn columns(list: &[(&str, SqlType)]) -> Vec<Column> {
    list.iter().map(|(n, t)| Column::new(*n, t.clone())).collect()
}

fn relation(id: u64, name: &str, kind: RelationKind, list: &[(&str, SqlType)]) -> PlannerRelation {
    PlannerRelation { id: ObjectId(id), name: name.into(), kind, columns: columns(list), hidden: vec![], key: None, append_only: false }
}

impl PlannerCatalog for TestCatalog {
    fn resolve(&self, name: &[String]) -> Result<Option<PlannerRelation>> {
        use SqlType::{BigInt, Boolean, Double, Integer, Text, Timestamp};
        let name = name.last().map_or("", String::as_str);
        Ok(Some(match name {
            "orders" => PlannerRelation {
                key: Some(vec![0]),
                ..relation(
                    1,
                    name,
                    RelationKind::Table,
                    &[("id", BigInt), ("city", Text), ("amount", Integer), ("paid", Boolean), ("rate", Double)],
                )
            },
            "log" => PlannerRelation {
                hidden: columns(&[("_row_id", BigInt)]),
                key: Some(vec![2]),
                ..relation(2, name, RelationKind::Table, &[("at", Timestamp), ("line", Text)])
            },
            "bid" => {
                let kind = RelationKind::Source { connector: "nexmark".into(), options: BTreeMap::new() };
                let list = [("auction", BigInt), ("bidder", BigInt), ("price", BigInt), ("channel", Text)];
                PlannerRelation { append_only: true, ..relation(3, name, kind, &list) }
            }
            "big" => {
                let kind = RelationKind::View { query: "SELECT id, city, amount * 2 FROM orders WHERE amount > 100".into() };
                relation(4, name, kind, &[("id", BigInt), ("city", Text), ("double_amount", Integer)])
            }
            _ => return Ok(None),
        }))
    }
}

pub(crate) fn catalog() -> Arc<dyn PlannerCatalog> {
    Arc::new(TestCatalog)
}
