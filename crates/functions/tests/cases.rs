//! The cases of `cases/*.txt`: `expression => value`, or `=> SQLSTATE: message`. Values are PostgreSQL's output; where ours differs on
//! purpose the line stands in `differs.txt` with the reason above it. Every case runs with constants and with columns.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringArray, new_null_array};
use arrow::compute::concat;
use arrow::datatypes::Field;
use datafusion::common::ScalarValue;
use datafusion::common::config::ConfigOptions;
use datafusion::logical_expr::{ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF};
use millstream_functions::{cast_array, cast_udf, from_datafusion, registry, to_text};
use millstream_types::{Error, Result, SqlType};

fn sql_type(name: &str) -> SqlType {
    match name.trim() {
        "boolean" => SqlType::Boolean,
        "smallint" => SqlType::SmallInt,
        "integer" => SqlType::Integer,
        "bigint" => SqlType::BigInt,
        "real" => SqlType::Real,
        "double precision" | "float8" => SqlType::Double,
        "text" => SqlType::Text,
        "bytea" => SqlType::Bytea,
        "date" => SqlType::Date,
        "time" => SqlType::Time,
        "timestamp" => SqlType::Timestamp,
        "timestamptz" => SqlType::TimestampTz,
        "interval" => SqlType::Interval,
        "numeric" => SqlType::Numeric { precision: 38, scale: 16 },
        array if array.ends_with("[]") => SqlType::Array(Box::new(sql_type(&array[..array.len() - 2]))),
        other => {
            let inner = other.strip_prefix("numeric(").and_then(|o| o.strip_suffix(')')).unwrap_or_else(|| panic!("type {other}"));
            let (p, s) = inner.split_once(',').unwrap();
            SqlType::Numeric { precision: p.trim().parse().unwrap(), scale: s.trim().parse().unwrap() }
        }
    }
}

/// `type 'value'` or `null::type`.
fn argument(text: &str) -> ArrayRef {
    if let Some(name) = text.trim().strip_prefix("null::") {
        return new_null_array(&sql_type(name).to_arrow(), 1);
    }
    let (name, value) = text.split_once('\'').unwrap_or_else(|| panic!("argument {text}"));
    let value = value.trim_end().strip_suffix('\'').unwrap().replace("''", "'");
    let value: ArrayRef = Arc::new(StringArray::from(vec![value]));
    cast_array(&value, &sql_type(name)).unwrap_or_else(|e| panic!("argument {text}: {e}"))
}

fn split_arguments(inside: &str) -> Vec<&str> {
    let (mut out, mut start, mut quoted, mut depth) = (vec![], 0, false, 0);
    for (i, c) in inside.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                out.push(&inside[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    if !inside[start..].trim().is_empty() {
        out.push(&inside[start..]);
    }
    out
}

fn parse(expression: &str) -> (Arc<ScalarUDF>, Vec<ArrayRef>) {
    let (name, rest) = expression.split_once('(').unwrap_or_else(|| panic!("{expression}"));
    let inside = rest.trim_end().strip_suffix(')').unwrap();
    if name == "cast" {
        let (value, to) = inside.rsplit_once(" as ").unwrap();
        return (cast_udf(&sql_type(to)), vec![argument(value)]);
    }
    let udf = registry().scalar(name).unwrap_or_else(|| panic!("no function {name}"));
    (udf, split_arguments(inside).into_iter().map(argument).collect())
}

fn call(udf: &ScalarUDF, args: &[ColumnarValue], rows: usize) -> Result<ArrayRef> {
    let types: Vec<_> = args.iter().map(ColumnarValue::data_type).collect();
    let coerced = if types.is_empty() { vec![] } else { udf.coerce_types(&types).map_err(from_datafusion)? };
    let args: Vec<ColumnarValue> = args.iter().zip(&coerced).map(|(a, t)| a.cast_to(t, None).unwrap()).collect();
    let arg_fields: Vec<_> = coerced.iter().map(|t| Arc::new(Field::new("a", t.clone(), true))).collect();
    let scalars: Vec<Option<&ScalarValue>> = args
        .iter()
        .map(|a| match a {
            ColumnarValue::Scalar(s) => Some(s),
            ColumnarValue::Array(_) => None,
        })
        .collect();
    let return_field =
        udf.return_field_from_args(ReturnFieldArgs { arg_fields: &arg_fields, scalar_arguments: &scalars }).map_err(from_datafusion)?;
    let expected = return_field.data_type().clone();
    let call = ScalarFunctionArgs { args, arg_fields, number_rows: rows, return_field, config_options: Arc::new(ConfigOptions::default()) };
    let result = udf.invoke_with_args(call).map_err(from_datafusion)?;
    let array = result.to_array(rows).map_err(from_datafusion)?;
    assert_eq!(*array.data_type(), expected, "declared and real result type of {}", udf.name());
    assert_eq!(SqlType::from_arrow(&expected)?.to_arrow(), expected, "canonical result type of {}", udf.name());
    Ok(array)
}

fn shown(result: Result<ArrayRef>) -> String {
    match result.and_then(|a| Ok((to_text(&a)?, a))) {
        Ok((text, _)) if text.is_null(0) => "NULL".into(),
        Ok((text, _)) => text.value(0).to_string(),
        Err(e) => error(&e),
    }
}

fn error(e: &Error) -> String {
    format!("{}: {}", e.state(), e.message())
}

/// Runs one expression with constants, with columns, and with the first argument as a column beside constants.
fn run(expression: &str) -> String {
    let (udf, args) = parse(expression);
    let scalars: Vec<_> = args.iter().map(|a| ColumnarValue::Scalar(ScalarValue::try_from_array(a, 0).unwrap())).collect();
    let scalar = shown(call(&udf, &scalars, 1));
    if args.is_empty() {
        return scalar;
    }
    let columns: Vec<_> = args.iter().map(|a| ColumnarValue::Array(concat(&[a, &new_null_array(a.data_type(), 2), a]).unwrap())).collect();
    let constant_types = expression.starts_with("round(") || expression.starts_with("trunc(") || expression.starts_with("extract(");
    let column = call(&udf, &columns, 4);
    if let Ok(array) = &column {
        assert_eq!(array.len(), 4, "{expression}");
    }
    if !constant_types {
        assert_eq!(shown(column), scalar, "with columns: {expression}");
    }
    let mixed = [&columns[..1], &scalars[1..]].concat();
    let mixed = shown(call(&udf, &mixed, 4));
    if !expression.starts_with("extract(") {
        assert_eq!(mixed, scalar, "with a column and constants: {expression}");
    }
    scalar
}

fn check(file: &str, cases: &str) {
    let mut wrong = Vec::new();
    let mut run_cases = 0;
    for (number, line) in cases.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (expression, expected) = line.split_once(" => ").unwrap_or_else(|| panic!("{file}:{}: {line}", number + 1));
        let got = std::panic::catch_unwind(|| run(expression)).unwrap_or_else(|p| format!("panic: {:?}", p.downcast_ref::<String>()));
        run_cases += 1;
        if got != expected {
            wrong.push(format!("{file}:{}: {expression}\n    expected {expected}\n    got      {got}", number + 1));
        }
    }
    assert!(run_cases > 0, "{file} has no case");
    assert!(wrong.is_empty(), "{} of {run_cases} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

macro_rules! files {
    ($($name:ident),*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name), include_str!(concat!("cases/", stringify!($name), ".txt")));
        }
    )*};
}

files!(arithmetic, cast, string, math, datetime, differs);
