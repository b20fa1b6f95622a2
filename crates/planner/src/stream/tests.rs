//! SQL to StreamGraph, and what is refused. Golden files: `INSTA_UPDATE=always` writes them anew, the diff is the review.
#![allow(clippy::unwrap_used)]

use millstream_types::JobId;

use super::*;
use crate::testing::catalog;

fn view(sql: &str, settings: &PlannerSettings) -> Result<StreamPlan> {
    let query = millstream_sql::parse_query(sql).unwrap();
    plan_view(&catalog(), &query, sql, JobId(9), "v", &[], settings)
}

fn shown(sql: &str) -> String {
    let plan = view(sql, &PlannerSettings { parallelism: 2, ..PlannerSettings::default() });
    match plan {
        Ok(plan) => format!("{sql}\n{}\nkey={:?} append_only={}\n", plan.graph, plan.key, plan.append_only),
        Err(e) => format!("{sql}\nERROR {e}\n"),
    }
}

#[test]
fn graphs() {
    let all = [
        "SELECT id, amount + 1 AS next FROM orders WHERE paid",
        "SELECT city, amount FROM orders",
        "SELECT city, count(*), sum(amount), avg(rate), min(amount), max(city), bool_and(paid), string_agg(city, ',') FROM orders GROUP BY city",
        "SELECT count(*) FROM orders",
        "SELECT count(DISTINCT city) FILTER (WHERE amount > 3), sum(DISTINCT amount) FROM orders",
        "SELECT city, sum(amount) AS total FROM orders GROUP BY city HAVING sum(amount) > 10",
        "SELECT amount % 10, count(*) FROM orders GROUP BY amount % 10",
        "SELECT DISTINCT city FROM orders",
        "SELECT DISTINCT channel FROM bid",
        "SELECT auction, price FROM bid WHERE auction % 123 = 0",
        "SELECT auction, 0.908 * price FROM bid",
        "SELECT id FROM orders UNION ALL SELECT bidder FROM bid",
        "SELECT city FROM orders UNION SELECT channel FROM bid",
        "SELECT c, n + 1 FROM (SELECT city AS c, count(*) AS n FROM orders GROUP BY city) AS t WHERE n > 2",
        "SELECT * FROM big WHERE double_amount < 1000",
        "SELECT * FROM log",
        "WITH x AS (SELECT id FROM orders) SELECT id FROM x",
        "SELECT 1 AS one, 'a' AS a",
        "SELECT CASE city WHEN 'a' THEN 1 ELSE 2 END AS k, amount BETWEEN 1 AND 5 AS b, city LIKE 'x%' AS l, rate IS NULL AS n FROM orders",
        "SELECT CAST(amount AS text) AS t, amount = '5' AS e, -amount AS m, city IN ('a', 'b') AS i FROM orders",
        "SELECT city || '-' || amount AS t FROM orders",
        "SELECT city FROM orders WHERE amount > 1 UNION ALL SELECT line FROM log",
        "SELECT id, amount FROM orders UNION ALL SELECT id, amount * 2 FROM orders WHERE paid",
        "SELECT upper(city), sum(amount * 2) FROM (SELECT city, amount FROM orders WHERE paid) AS t GROUP BY upper(city)",
        "SELECT DISTINCT n FROM (SELECT city, count(*) AS n FROM orders GROUP BY city) AS t",
        "SELECT * FROM (VALUES (1, 'a'), (-2, NULL)) AS t(a, b)",
        "SELECT count(*) FROM orders WHERE false",
    ];
    insta::assert_snapshot!(all.map(shown).join("\n"));
}

#[test]
fn unmerged_steps() {
    let settings = PlannerSettings { merge_calcs: false, ..PlannerSettings::default() };
    let plan =
        view("SELECT b + 1 AS c FROM (SELECT a + 1 AS b FROM (SELECT price AS a FROM bid) AS x WHERE a > 0) AS y WHERE b > 0", &settings);
    insta::assert_snapshot!(plan.unwrap().graph.to_string());
}

fn sink(name: &str, columns: &[(&str, SqlType)], append_only: bool) -> SinkTarget {
    SinkTarget {
        id: ObjectId(20),
        name: name.into(),
        columns: columns.iter().map(|(n, t)| Column::new(*n, t.clone())).collect(),
        connector: "blackhole".into(),
        options: BTreeMap::new(),
        append_only,
    }
}

fn job(inserts: &[(&str, SinkTarget)]) -> Result<StreamPlan> {
    let inserts: Vec<_> = inserts.iter().map(|(sql, sink)| (millstream_sql::parse_query(sql).unwrap(), vec![], sink.clone())).collect();
    plan_job(&catalog(), &inserts, "", JobId(9), "j", &PlannerSettings::default())
}

#[test]
fn inserts_of_a_job_share_what_they_read() {
    use SqlType::{BigInt, Double, Text};
    let plan = job(&[
        ("SELECT price FROM bid WHERE price > 100", sink("prices", &[("price", Double)], true)),
        ("SELECT bidder, auction FROM bid", sink("bidders", &[("bidder", BigInt), ("auction", BigInt)], true)),
        ("SELECT channel, count(*) FROM bid GROUP BY channel", sink("counts", &[("channel", Text), ("n", BigInt)], false)),
    ]);
    insta::assert_snapshot!(plan.unwrap().graph.to_string());
}

#[test]
fn sinks_say_what_they_do_not_take() {
    use SqlType::{BigInt, Boolean, Integer, Text};
    let refused = |sql: &str, target: SinkTarget| {
        let e = job(&[(sql, target)]).map(|p| p.graph.to_string()).unwrap_err();
        format!("{} {}", e.state(), e.message())
    };
    assert_eq!(
        refused("SELECT count(*) FROM bid", sink("s", &[("n", BigInt)], true)),
        "0A000 sink \"s\" only appends, but the query changes rows it has sent"
    );
    assert_eq!(
        refused("SELECT price FROM bid", sink("s", &[("ok", Boolean)], true)),
        "42804 column \"ok\" is of type boolean but expression is of type bigint"
    );
    assert_eq!(
        refused("SELECT channel FROM bid", sink("s", &[("n", Integer)], true)),
        "42804 column \"n\" is of type integer but expression is of type text"
    );
    assert_eq!(
        refused("SELECT channel, price FROM bid", sink("s", &[("c", Text)], true)),
        "42601 INSERT has more expressions than target columns"
    );
}

#[test]
fn refusals_name_the_construct_and_its_position() {
    let all = [
        "SELECT * FROM orders JOIN log ON true",
        "SELECT * FROM orders, log",
        "SELECT id FROM orders ORDER BY id",
        "SELECT id FROM orders LIMIT 3",
        "SELECT id, row_number() OVER (ORDER BY id) FROM orders",
        "SELECT id FROM orders WHERE id IN (SELECT 1)",
        "SELECT id FROM orders WHERE EXISTS (SELECT 1)",
        "SELECT (SELECT 1) FROM orders",
        "SELECT city FROM orders GROUP BY ROLLUP (city)",
        "SELECT city FROM orders GROUP BY GROUPING SETS ((city), ())",
        "SELECT id FROM orders INTERSECT SELECT id FROM orders",
        "SELECT id FROM orders EXCEPT SELECT id FROM orders",
        "SELECT now() FROM orders",
        "SELECT random() FROM orders",
        "SELECT DISTINCT ON (city) city FROM orders",
        "SELECT array_agg(city) FROM orders",
        "SELECT string_agg(city, ',' ORDER BY city) FROM orders",
        "SELECT id FROM orders EMIT CHANGES",
        "SELECT * FROM TUMBLE(bid, at, INTERVAL '1' MINUTE)",
        "WITH RECURSIVE x AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM x) SELECT a FROM x",
        "SELECT nothing FROM orders",
        "SELECT id FROM nowhere",
        "SELECT id, id FROM orders",
        "SELECT city, amount FROM orders GROUP BY city",
        "SELECT nofunction(id) FROM orders",
        "SELECT amount + 'x' FROM orders",
        "SELECT _row_id FROM log",
        "SELECT id, at FROM moment",
        "SELECT id FROM pair",
        "SELECT id FROM orders OFFSET 2",
        "SELECT id\nFROM orders\n  FETCH FIRST 2 ROWS ONLY",
        "SELECT id FROM orders WHERE id = ANY (ARRAY[1, 2])",
        "SELECT DATE '2024-01-01' AT TIME ZONE 'UTC' FROM orders",
        "SELECT city FROM orders GROUP BY CUBE (city)",
        "SELECT sum(amount) OVER () FROM orders",
        "SELECT id FROM orders, LATERAL (SELECT 1) AS x",
        "SELECT id FROM orders TABLESAMPLE BERNOULLI (10)",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FROM orders",
        "SELECT stddev(amount) FROM orders",
        "SELECT string_agg(city, city) FROM orders",
        "SELECT id FROM orders WHERE id = $1",
    ];
    let refused = all.map(|sql| {
        let e = view(sql, &PlannerSettings::default()).map(|p| p.graph.to_string()).unwrap_err();
        format!("{sql}\n  {} {} at {:?}", e.state(), e.message(), e.position())
    });
    insta::assert_snapshot!(refused.join("\n"));
}
