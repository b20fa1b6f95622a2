//! The aggregates inside DataFusion: one group, many groups, partial states, DISTINCT and window frames.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use datafusion::prelude::{SessionConfig, SessionContext};

use crate::{from_datafusion, registry, to_text};

/// The rows of a query, columns joined by `|`, in order.
async fn rows(sql: &str) -> String {
    let ctx = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2).with_batch_size(2));
    for udaf in registry().all_aggregates() {
        ctx.register_udaf(udaf.as_ref().clone());
    }
    for udf in registry().all_scalars() {
        ctx.register_udf(udf.as_ref().clone());
    }
    let result = async { ctx.sql(sql).await?.collect().await }.await;
    let batches = match result {
        Ok(batches) => batches,
        Err(e) => {
            let e = from_datafusion(e);
            return format!("{}: {}", e.state(), e.message());
        }
    };
    let mut out = Vec::new();
    for batch in batches {
        let texts: Vec<_> = batch.columns().iter().map(|c| to_text(c).unwrap()).collect();
        for row in 0..batch.num_rows() {
            let cells = texts.iter().map(|t| t.iter().nth(row).flatten().unwrap_or("NULL"));
            out.push(cells.collect::<Vec<_>>().join("|"));
        }
    }
    out.join("; ")
}

async fn check(cases: &[(&str, &str)]) {
    for (sql, expected) in cases {
        assert_eq!(rows(sql).await, *expected, "{sql}");
    }
}

#[tokio::test]
async fn result_types_are_postgres() {
    check(&[
        ("select sum(x), avg(x), count(*) from (values (1::int), (2::int), (null)) t(x)", "3|1.5000000000000000|3"),
        ("select sum(x) from (values (9223372036854775807), (9223372036854775807)) t(x)", "18446744073709551614"),
        ("select avg(x) from (values (9223372036854775807), (9223372036854775807)) t(x)", "9223372036854775807.0000000000000000"),
        ("select sum(x), avg(x) from (values (1.10::decimal(5,2)), (2.25::decimal(5,2))) t(x)", "3.35|1.6750000000000000"),
        ("select sum(x), avg(x) from (values (1.5::real), (2.5::real)) t(x)", "4|2"),
        ("select sum(x), avg(x) from (values (interval '1 day'), (interval '2 days')) t(x)", "3 days|1 day 12:00:00"),
        ("select sum(x), avg(x), min(x), count(x) from (select 1 as x where false) t", "NULL|NULL|NULL|0"),
        ("select sum(x) from (values (1e308), (1e308)) t(x)", "22003: value out of range: overflow"),
        ("select sum(x) from (values ('a')) t(x)", "42883: function sum(text) does not exist"),
        ("select lower(x) from (values (1)) t(x)", "42883: function lower(bigint) does not exist"),
        ("select date_trunc('month', x), round(y, 2), extract(year from x) from (values (date '2024-02-03', 1.239::decimal(5,3))) t(x, y)", "2024-02-01 00:00:00+00|1.24|2024"),
        ("select current_date = cast(now() as date), coalesce(null, 2), nullif(1, 1), substring('hello' from 2 for 3), position('l' in 'hello'), trim(both 'x' from 'xax')", "true|2|NULL|ell|3|a"),
        ("select greatest(1, 3, null), least('b', 'a'), ms_div(7, 2), ms_mul(x, 0.908::decimal(3,3)) from (values (1000)) t(x)", "3|a|3|908.000"),
        ("select string_agg(x, ',' order by x desc) from (values ('a'), ('c'), ('b')) t(x)", "c,b,a"),
        ("select bool_and(x), bool_or(x), every(x) from (values (true), (false)) t(x)", "false|true|false"),
    ])
    .await;
}

#[tokio::test]
async fn groups_distinct_and_frames() {
    check(&[
        (
            "select g, sum(x), avg(x) from (values ('a',1), ('b',2), ('a',3), ('c',null), ('b',5)) t(g,x) group by g order by g",
            "a|4|2.0000000000000000; b|7|3.5000000000000000; c|NULL|NULL",
        ),
        (
            "select g, sum(x) filter (where x > 1) from (values ('a',1), ('b',2), ('a',3)) t(g,x) group by g order by g",
            "a|3; b|2",
        ),
        ("select sum(distinct x), avg(distinct x), count(distinct x) from (values (1), (1), (3), (null)) t(x)", "4|2.0000000000000000|2"),
        ("select sum(distinct x), count(*) from (values (1.5::double), (1.5::double), (2::double)) t(x)", "3.5|3"),
        (
            "select sum(x) over (order by i rows between 1 preceding and current row) from (values (1,1.5::double), (2,'NaN'::double), (3,2::double), (4,3::double)) t(i,x) order by i",
            "1.5; NaN; NaN; 5",
        ),
        (
            "select avg(x) over (order by i rows between 1 preceding and current row) from (values (1,1), (2,2), (3,null)) t(i,x) order by i",
            "1.0000000000000000; 1.5000000000000000; 2.0000000000000000",
        ),
    ])
    .await;
}

#[tokio::test]
async fn nan_is_greater_than_every_number() {
    let values = "(values ('NaN'::double), ('Infinity'::double), (1::double)) t(x)";
    assert_eq!(rows(&format!("select min(x), max(x), sum(x) from {values}")).await, "1|NaN|NaN");
    let grouped = format!("select g, min(x), max(x) from (select 1 as g, x from {values}) group by g");
    assert_eq!(rows(&grouped).await, "1|1|NaN");
    assert_eq!(rows(&format!("select x from {values} order by x")).await, "1; Infinity; NaN");
}
