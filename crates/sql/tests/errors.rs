//! What a wrong statement answers: SQLSTATE, message, position.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use millstream_sql::statement::Statement;
use millstream_sql::{column_type, parse};

#[track_caller]
fn check(sql: &str, state: &str, message: &str, position: u32) {
    let e = parse(sql).expect_err(sql);
    assert_eq!((e.state().as_str(), e.message(), e.position().unwrap_or(0)), (state, message, position), "{sql}");
}

#[test]
fn syntax_errors_in_postgresqls_words() {
    check("SELEC 1", "42601", "syntax error at or near \"SELEC\"", 1);
    check("SELECT 1 FROM", "42601", "syntax error at end of input", 14);
    check("SELECT 1;\n  SELECT (2", "42601", "syntax error at end of input", 22);
    check("SELECT 'é' ,, 1", "42601", "syntax error at or near \",\"", 13);
    check("CREATE TABLE select (a int)", "42601", "syntax error at or near \"select\"", 14);
    check("CREATE TABLE t", "42601", "syntax error at end of input", 15);
    check("CREATE TABLE t (a int b)", "42601", "syntax error at or near \"b\"", 23);
    check("CREATE TABLE t (a int,)", "42601", "syntax error at or near \")\"", 23);
    check("CREATE FOO x", "42601", "syntax error at or near \"FOO\"", 8);
    check("DROP THING x", "42601", "syntax error at or near \"THING\"", 6);
    check("CREATE SINK s AS SELECT 1", "42601", "syntax error at end of input", 26);
    check("CREATE SINK s AS SELECT FROM WITH (a = b)", "42601", "syntax error at or near \"WITH\"", 30);
    check("INSERT t VALUES (1)", "42601", "syntax error at or near \"t\"", 8);
    check("SELECT a + as FROM t", "42601", "syntax error at or near \"as\"", 12);
    check("SELECT order FROM t", "42601", "syntax error at or near \"order\"", 8);
    check("COMMIT NOW", "42601", "syntax error at or near \"NOW\"", 8);
    check("SELECT 'abc", "42601", "unterminated quoted string at or near \"'abc\"", 8);
    check("SELECT \"abc", "42601", "unterminated quoted identifier at or near \"\"abc\"", 8);
    check("SELECT /* abc", "42601", "unterminated /* comment at or near \"/* abc\"", 8);
    check("SELECT \"\"", "42601", "zero-length delimited identifier at or near \"\"\"\"", 8);
    check("SELECT 1 EMIT ON", "42601", "syntax error at or near \"ON\"", 15);
    check("EXPLAIN EXPLAIN SELECT 1", "42601", "syntax error at or near \"EXPLAIN\"", 9);
    check("EXPLAIN (WINGS) SELECT 1", "42601", "unrecognized EXPLAIN option \"wings\"", 10);
    check("PAUSE", "42601", "syntax error at end of input", 6);
    check("SET a", "42601", "syntax error at end of input", 6);
    check("SELECT * FROM t WITH (nolock)", "42601", "syntax error at or near \"WITH\"", 23);
}

#[test]
fn definitions_that_make_no_sense() {
    check("CREATE TABLE t (a int PRIMARY KEY, PRIMARY KEY (a))", "42P16", "multiple primary keys for table \"t\" are not allowed", 36);
    check("CREATE TABLE t (a int, a text)", "42701", "column \"a\" specified more than once", 24);
    check("CREATE TABLE t (a int, PRIMARY KEY (b))", "42703", "column \"b\" named in key does not exist", 37);
    check("CREATE SOURCE s WITH (a = 1, a = 2)", "42601", "option \"a\" provided more than once", 30);
    check("EXPLAIN (FORMAT xml) SELECT 1", "22023", "unrecognized value for EXPLAIN option \"format\": \"xml\"", 10);
}

#[test]
fn clauses_that_are_not_there() {
    check("CREATE TABLE t (a int UNIQUE)", "0A000", "UNIQUE is not supported", 23);
    check("CREATE TABLE t (a int CHECK (a > 1))", "0A000", "CHECK is not supported", 23);
    check("CREATE TABLE t (a int REFERENCES b)", "0A000", "REFERENCES is not supported", 23);
    check("CREATE TABLE t (a int GENERATED ALWAYS AS (1) STORED)", "0A000", "GENERATED is not supported", 23);
    check("CREATE TABLE t (a text COLLATE \"C\")", "0A000", "COLLATE is not supported", 24);
    check("CREATE TABLE t (a int, CHECK (a > 1))", "0A000", "CHECK is not supported", 24);
    check("CREATE TABLE t (a int, CONSTRAINT c PRIMARY KEY (a))", "0A000", "CONSTRAINT name is not supported", 24);
    check("CREATE TABLE t (a int, b AS a + 1)", "0A000", "computed column is not supported", 26);
    check("WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", "0A000", "INSERT inside WITH is not supported", 22);
    check("INSERT OVERWRITE t SELECT 1", "0A000", "INSERT OVERWRITE is not supported", 1);
}

#[test]
fn characters_and_names() {
    check("SELECT 'a\0b'", "22021", "invalid byte sequence for encoding \"UTF8\": 0x00", 10);
    check("SELECT x'1g'", "22P02", "\"g\" is not a valid hexadecimal digit", 8);
    check("SELECT b'12'", "22P02", "\"2\" is not a valid binary digit", 8);
    let long = "x".repeat(64);
    check(&format!("SELECT {long}"), "42622", "identifier too long", 8);
    assert!(parse(&format!("SELECT {}", "x".repeat(63))).is_ok());
}

#[test]
fn known_statements_that_are_not_there() {
    for (sql, want) in [
        ("ALTER TABLE t ADD COLUMN a int", "ALTER TABLE"),
        ("ALTER STREAMING JOB j SET (parallelism = 2)", "ALTER STREAMING JOB"),
        ("CREATE INDEX i ON t (a)", "CREATE INDEX"),
        ("CREATE TEMP TABLE t (a int)", "CREATE TEMP TABLE"),
        ("CREATE TABLE t AS SELECT 1", "CREATE TABLE AS"),
        ("DROP INDEX i", "DROP INDEX"),
        ("COMMENT ON FUNCTION f IS 'x'", "COMMENT ON FUNCTION"),
        ("GRANT SELECT ON t TO u", "GRANT"),
        ("COPY t FROM STDIN", "COPY"),
        ("SUBSCRIBE TO v", "SUBSCRIBE"),
        ("SAVEPOINT a", "SAVEPOINT"),
        ("ROLLBACK TO SAVEPOINT a", "ROLLBACK TO SAVEPOINT"),
        ("SET ROLE x", "SET ROLE"),
        ("DISCARD PLANS", "DISCARD PLANS"),
        ("STOP STREAMING JOB j WITH SAVEPOINT", "STOP STREAMING JOB"),
        ("MERGE INTO t USING s ON a = b WHEN MATCHED THEN DELETE", "MERGE"),
        ("KILL 1", "KILL"),
    ] {
        match &parse(sql).unwrap()[0].statement {
            Statement::Unsupported { name, position, .. } => assert_eq!((name.as_str(), position.0), (want, 1)),
            other => panic!("{sql}: {other:?}"),
        }
    }
}

#[test]
fn types() {
    let of = |name: &str| {
        let sql = format!("CREATE TABLE t (a {name})");
        let parsed = parse(&sql).unwrap_or_else(|e| panic!("{name}: {e}")).remove(0);
        let Statement::CreateTable(table) = parsed.statement else { panic!("no table") };
        match column_type(&table.definition.columns[0].data_type, &parsed.text) {
            Ok(t) => format!("{}{}", t.sql_type, t.max_chars.map_or(String::new(), |n| format!(" max {n}"))),
            Err(e) => format!("{} {} at {}", e.state(), e.message(), e.position().unwrap_or(0)),
        }
    };
    for (name, want) in [
        ("int", "integer"),
        ("int4", "integer"),
        ("int2", "smallint"),
        ("TINYINT", "smallint"),
        ("int8", "bigint"),
        ("BIGINT", "bigint"),
        ("float4", "real"),
        ("float8", "double precision"),
        ("float", "double precision"),
        ("double", "double precision"),
        ("double precision", "double precision"),
        ("float(10)", "real"),
        ("numeric", "numeric(38,16)"),
        ("decimal(10)", "numeric(10,0)"),
        ("dec(10, 2)", "numeric(10,2)"),
        ("numeric(39)", "22023 NUMERIC precision 39 must be between 1 and 38 at 0"),
        ("varchar", "text"),
        ("varchar(5)", "text max 5"),
        ("character varying(7)", "text max 7"),
        ("char", "text max 1"),
        ("char(3)", "text max 3"),
        ("text", "text"),
        ("string", "text"),
        ("bytea", "bytea"),
        ("bytes", "bytea"),
        ("bool", "boolean"),
        ("date", "date"),
        ("time", "time without time zone"),
        ("timestamp", "timestamp without time zone"),
        ("timestamp(3)", "timestamp without time zone"),
        ("timestamp with time zone", "timestamp with time zone"),
        ("timestamptz", "timestamp with time zone"),
        ("timestamp_ltz", "timestamp with time zone"),
        ("interval", "interval"),
        ("int[]", "integer[]"),
        ("array<int>", "integer[]"),
        ("row(a int, b row<c text>)", "row(a integer, b row(c text))"),
        ("pg_catalog.int4", "integer"),
        ("foo", "42704 type \"foo\" does not exist at 19"),
        ("s.foo", "42704 type \"s.foo\" does not exist at 19"),
        ("serial", "0A000 type serial is not supported at 19"),
        ("uuid", "0A000 type uuid is not supported at 0"),
        ("json", "0A000 type json is not supported at 0"),
    ] {
        assert_eq!(of(name), want, "{name}");
    }
}
