//! Errors across the DataFusion boundary: ours travel inside [`DataFusionError::External`] and come out as they went in; DataFusion's own
//! become PostgreSQL's codes and words.

use arrow::error::ArrowError;
use datafusion::common::{DataFusionError, Diagnostic, SchemaError};
use millstream_types::{Error, SqlState};

/// The hint of 42883.
pub(crate) const NO_MATCH: &str = "no function matches the given name and argument types; you might need to add explicit type casts";

/// Our error as DataFusion carries it.
pub fn external(e: Error) -> DataFusionError {
    DataFusionError::External(Box::new(e))
}

/// The error that a client may see for an error of DataFusion. A position is only known for statements of one line; see
/// [`from_datafusion_in`].
pub fn from_datafusion(e: DataFusionError) -> Error {
    convert(&e, None)
}

/// The same, with the position computed in the statement's text.
pub fn from_datafusion_in(sql: &str, e: DataFusionError) -> Error {
    convert(&e, Some(sql))
}

fn convert(e: &DataFusionError, sql: Option<&str>) -> Error {
    match e {
        DataFusionError::Plan(m) | DataFusionError::Execution(m) | DataFusionError::Internal(m) if m.contains(OUR_MARK) => recover(m),
        DataFusionError::External(inner) => boxed(inner.as_ref(), sql),
        DataFusionError::Context(_, inner) => convert(inner, sql),
        DataFusionError::Shared(inner) => convert(inner, sql),
        DataFusionError::Diagnostic(diagnostic, inner) => {
            let error = convert(inner, sql);
            match (error.position(), position(diagnostic, sql)) {
                (None, Some(p)) => error.with_position(p),
                _ => error,
            }
        }
        DataFusionError::Collection(all) => {
            all.first().map_or_else(|| Error::internal("an error without content"), |first| convert(first, sql))
        }
        DataFusionError::ArrowError(inner, _) => arrow(inner, sql),
        DataFusionError::SchemaError(inner, _) => schema(inner),
        DataFusionError::ResourcesExhausted(m) => Error::new(SqlState::OUT_OF_MEMORY, "out of memory").with_detail(first_line(m)),
        DataFusionError::IoError(inner) => Error::new(SqlState::IO_ERROR, inner.to_string().to_lowercase()),
        DataFusionError::SQL(inner, _) => Error::new(SqlState::SYNTAX_ERROR, sentence(&inner.to_string())),
        DataFusionError::NotImplemented(m) => Error::new(SqlState::FEATURE_NOT_SUPPORTED, sentence(m)),
        DataFusionError::Plan(m) => plan(m),
        DataFusionError::Execution(m) => execution(m),
        DataFusionError::Configuration(m) => Error::new(SqlState::INVALID_PARAMETER_VALUE, sentence(m)),
        DataFusionError::ObjectStore(inner) => Error::new(SqlState::IO_ERROR, first_line(&inner.to_string())),
        DataFusionError::ParquetError(inner) => Error::new(SqlState::BAD_COPY_FILE_FORMAT, sentence(&inner.to_string())),
        DataFusionError::Internal(m) => Error::internal(first_line(m)),
        other => Error::internal(first_line(&other.to_string())),
    }
}

/// How our errors end when they are printed.
const OUR_MARK: &str = " (SQLSTATE ";

/// Function resolution prints our error into a message of its own: code and primary line are taken out again.
fn recover(m: &str) -> Error {
    let (before, after) = m.split_once(OUR_MARK).unwrap_or((m, ""));
    let message = before.rsplit("External error: ").next().unwrap_or(before);
    let state = after.get(..5).and_then(SqlState::from_code).unwrap_or(SqlState::INTERNAL_ERROR);
    let error = Error::new(state, message);
    if state == SqlState::UNDEFINED_FUNCTION { error.with_hint(NO_MATCH) } else { error }
}

fn boxed(inner: &(dyn std::error::Error + Send + Sync + 'static), sql: Option<&str>) -> Error {
    if let Some(own) = inner.downcast_ref::<Error>() {
        return own.clone();
    }
    if let Some(df) = inner.downcast_ref::<DataFusionError>() {
        return convert(df, sql);
    }
    if let Some(e) = inner.downcast_ref::<ArrowError>() {
        return arrow(e, sql);
    }
    Error::internal(inner)
}

fn arrow(e: &ArrowError, sql: Option<&str>) -> Error {
    match e {
        ArrowError::ExternalError(inner) => boxed(inner.as_ref(), sql),
        ArrowError::DivideByZero => Error::new(SqlState::DIVISION_BY_ZERO, "division by zero"),
        ArrowError::ArithmeticOverflow(m) => {
            Error::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range").with_detail(first_line(m))
        }
        ArrowError::CastError(m) | ArrowError::ParseError(m) => {
            let state = if m.contains("out of range") || m.contains("overflow") || m.contains("too large") {
                SqlState::NUMERIC_VALUE_OUT_OF_RANGE
            } else {
                SqlState::INVALID_TEXT_REPRESENTATION
            };
            Error::new(state, sentence(m))
        }
        ArrowError::InvalidArgumentError(m) if m.contains("too large to store in a Decimal") => {
            Error::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
        }
        ArrowError::NotYetImplemented(m) => Error::new(SqlState::FEATURE_NOT_SUPPORTED, sentence(m)),
        ArrowError::MemoryError(m) => Error::new(SqlState::OUT_OF_MEMORY, sentence(m)),
        ArrowError::IoError(m, _) => Error::new(SqlState::IO_ERROR, sentence(m)),
        other => Error::internal(first_line(&other.to_string())),
    }
}

fn schema(e: &SchemaError) -> Error {
    match e {
        SchemaError::FieldNotFound { field, .. } => {
            let name = field.flat_name();
            let shown = if field.relation.is_some() { name } else { format!("\"{}\"", field.name) };
            Error::new(SqlState::UNDEFINED_COLUMN, format!("column {shown} does not exist"))
        }
        SchemaError::AmbiguousReference { field } => {
            Error::new(SqlState::AMBIGUOUS_COLUMN, format!("column reference \"{}\" is ambiguous", field.name))
        }
        SchemaError::DuplicateQualifiedField { name, .. } | SchemaError::DuplicateUnqualifiedField { name } => {
            Error::new(SqlState::DUPLICATE_COLUMN, format!("column name \"{name}\" is used twice"))
                .with_hint("give one of them another name with AS")
        }
    }
}

/// DataFusion's planner says most things in words only.
fn plan(m: &str) -> Error {
    let m = first_line(m);
    let quoted = || m.split('\'').nth(1).unwrap_or_default().to_string();
    if let Some(rest) = m.strip_prefix("Invalid function '") {
        let name = rest.split('\'').next().unwrap_or_default();
        return Error::new(SqlState::UNDEFINED_FUNCTION, format!("function {name} does not exist"));
    }
    if m.contains("table '") && m.contains("not found") {
        let name = quoted();
        let short = name.rsplit('.').next().unwrap_or_default();
        return Error::new(SqlState::UNDEFINED_TABLE, format!("relation \"{short}\" does not exist"));
    }
    let lower = m.to_lowercase();
    let state = if lower.contains("must be in group by")
        || lower.contains("must appear in the group by")
        || lower.contains("could not be resolved from available columns")
        || lower.contains("aggregate functions are not allowed")
    {
        SqlState::GROUPING_ERROR
    } else if lower.contains("non-boolean predicate")
        || lower.contains("incompatible inputs for union")
        || lower.contains("cannot coerce")
        || lower.contains("cannot infer common")
        || lower.contains("type_coercion")
    {
        SqlState::DATATYPE_MISMATCH
    } else if lower.contains("error during planning: failed to coerce")
        || lower.contains("no function matches")
        || lower.contains("does not support")
    {
        SqlState::UNDEFINED_FUNCTION
    } else if lower.contains("not supported") || lower.contains("unsupported") || lower.contains("not implemented") {
        SqlState::FEATURE_NOT_SUPPORTED
    } else {
        SqlState::SYNTAX_ERROR
    };
    Error::new(state, sentence(&m))
}

fn execution(m: &str) -> Error {
    let lower = m.to_lowercase();
    let state = if lower.contains("divide by zero") || lower.contains("division by zero") {
        return Error::new(SqlState::DIVISION_BY_ZERO, "division by zero");
    } else if lower.contains("overflow") || lower.contains("out of range") {
        SqlState::NUMERIC_VALUE_OUT_OF_RANGE
    } else if lower.contains("more than one row") {
        return Error::new(SqlState::CARDINALITY_VIOLATION, "more than one row returned by a subquery used as an expression");
    } else {
        SqlState::DATA_EXCEPTION
    };
    Error::new(state, sentence(m))
}

fn first_line(m: &str) -> String {
    m.lines().next().unwrap_or_default().trim().to_string()
}

/// One line, lower case at the start, without a full stop, with SQL's type names instead of Arrow's.
fn sentence(m: &str) -> String {
    let mut line = first_line(m);
    for prefix in [
        "Error during planning: ",
        "Execution error: ",
        "Cast error: ",
        "Parser error: ",
        "sql parser error: ",
        "This feature is not implemented: ",
    ] {
        if let Some(rest) = line.strip_prefix(prefix) {
            line = rest.to_string();
        }
    }
    for (arrow, sql) in [
        ("LargeUtf8", "text"),
        ("Utf8View", "text"),
        ("Utf8", "text"),
        ("UInt64", "bigint"),
        ("UInt32", "bigint"),
        ("Int64", "bigint"),
        ("Int32", "integer"),
        ("Int16", "smallint"),
        ("Float64", "double precision"),
        ("Float32", "real"),
        ("Decimal128", "numeric"),
        ("Decimal256", "numeric"),
        ("Date32", "date"),
        ("Time64(µs)", "time"),
        ("Timestamp(µs)", "timestamp"),
        ("Timestamp(µs, \"UTC\")", "timestamp with time zone"),
        ("Interval(MonthDayNano)", "interval"),
        ("Boolean", "boolean"),
        ("Binary", "bytea"),
    ] {
        line = line.replace(arrow, sql);
    }
    let line = line.trim_end_matches('.').to_string();
    let mut chars = line.chars();
    match (chars.next(), chars.next()) {
        (Some(a), Some(b)) if a.is_uppercase() && !b.is_uppercase() => a.to_lowercase().collect::<String>() + &line[a.len_utf8()..],
        _ => line,
    }
}

fn position(diagnostic: &Diagnostic, sql: Option<&str>) -> Option<u32> {
    let start = diagnostic.span?.start;
    if start.line == 0 {
        return None;
    }
    let column = u32::try_from(start.column).ok()?;
    let before: usize = match sql {
        Some(sql) => sql.split('\n').take(usize::try_from(start.line).ok()? - 1).map(|l| l.chars().count() + 1).sum(),
        None if start.line == 1 => 0,
        None => return None,
    };
    Some(u32::try_from(before).ok()? + column)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use datafusion::common::{Column, Location, Span};

    use super::*;

    #[test]
    fn our_error_comes_out_of_every_wrapping() {
        let own = Error::new(SqlState::DIVISION_BY_ZERO, "division by zero");
        let e = DataFusionError::ArrowError(Box::new(ArrowError::ExternalError(Box::new(external(own.clone())))), None);
        let e = DataFusionError::Shared(Arc::new(DataFusionError::Context("x".into(), Box::new(DataFusionError::Collection(vec![e])))));
        assert_eq!(from_datafusion(e), own);
    }

    #[test]
    fn schema_errors_have_codes_and_positions() {
        let missing = SchemaError::FieldNotFound { field: Box::new(Column::from_name("x")), valid_fields: vec![] };
        let missing = DataFusionError::SchemaError(Box::new(missing), Box::new(None));
        let span = Span::new(Location { line: 2, column: 3 }, Location { line: 2, column: 4 });
        let e = DataFusionError::Diagnostic(Box::new(Diagnostic::new_error("m", Some(span))), Box::new(missing));
        let e = from_datafusion_in("select\n  x", e);
        assert_eq!((e.state(), e.message(), e.position()), (SqlState::UNDEFINED_COLUMN, "column \"x\" does not exist", Some(10)));
    }

    #[test]
    fn no_internal_type_names() {
        let e = from_datafusion(DataFusionError::Plan("Cannot coerce Utf8 and Int64.\n\nBacktrace: x".into()));
        assert_eq!((e.state(), e.message()), (SqlState::DATATYPE_MISMATCH, "cannot coerce text and bigint"));
        let e = from_datafusion(DataFusionError::Plan("Invalid function 'nope'.\nDid you mean 'note'?".into()));
        assert_eq!((e.state(), e.message()), (SqlState::UNDEFINED_FUNCTION, "function nope does not exist"));
    }
}
