//! Runs the records of one file, until the first that fails.

use std::path::Path;
use std::sync::Arc;

use sqllogictest::{AsyncDB, ExpectedError, Location, MakeConnection, QueryExpect, Record, RecordOutput, Runner, StatementExpect};

use crate::column::{self, ColumnLetter};
use crate::database_error::DatabaseError;
use crate::includes;
use crate::options::Options;
use crate::outcome::Failure;

/// The label that is always on.
const LABEL: &str = "millstream";

/// A database that this crate can run suites on: the real one, or the scripted one of the tests.
pub(crate) trait Database: AsyncDB<Error = DatabaseError, ColumnType = ColumnLetter> {}
impl<D: AsyncDB<Error = DatabaseError, ColumnType = ColumnLetter>> Database for D {}

/// The records of a file with all it includes, up to `halt`.
pub(crate) fn read(path: &Path) -> Result<Vec<Record<ColumnLetter>>, Failure> {
    let place = path.display().to_string();
    includes::check(path).map_err(|reason| Failure::of_file(place, "cannot read the suite", reason))?;
    let mut records = sqllogictest::parse_file(path).map_err(|error| Failure::from(sqllogictest::TestError::from(error)))?;
    if let Some(end) = records.iter().position(|record| matches!(record, Record::Halt { .. })) {
        records.truncate(end);
    }
    Ok(records)
}

/// A runner with our labels, variables and checks.
pub(crate) fn runner<D, M>(make_connection: M, database: &str, options: &Options) -> Runner<D, M>
where
    D: Database,
    M: MakeConnection<Conn = D>,
{
    let mut runner = Runner::new(make_connection);
    runner.with_column_validator(column::same_count);
    runner.add_label(LABEL);
    for label in &options.labels {
        runner.add_label(label);
    }
    runner.set_var("__DATABASE__".to_owned(), database.to_owned());
    runner
}

/// Runs the records. `passed` counts those that ran and passed, also when one fails.
pub(crate) async fn run_records<D, M>(
    runner: &mut Runner<D, M>,
    records: Vec<Record<ColumnLetter>>,
    passed: &mut usize,
) -> Result<(), Failure>
where
    D: Database,
    M: MakeConnection<Conn = D>,
{
    for record in records {
        let place = place(&record);
        let output = runner.run_async(record).await.map_err(Failure::from)?;
        if let Some((location, sql)) = place {
            check_error(&output, &location, &sql)?;
        }
        *passed += usize::from(!matches!(output, RecordOutput::Nothing));
    }
    Ok(())
}

/// `statement error` without a message expects any error of the server, but not that the server goes away.
pub(crate) fn check_error(output: &RecordOutput<ColumnLetter>, location: &Location, sql: &str) -> Result<(), Failure> {
    match database_error(output) {
        Some(error) if !error.may_be_expected() => Err(Failure::at(location, "the statement could not be run", sql, error.to_string())),
        _ => Ok(()),
    }
}

/// The error of a statement or query.
pub(crate) fn database_error(output: &RecordOutput<ColumnLetter>) -> Option<&DatabaseError> {
    let (RecordOutput::Statement { error, .. } | RecordOutput::Query { error, .. }) = output else { return None };
    error.as_ref().and_then(|error| Arc::as_ref(error).downcast_ref())
}

/// Where a record is and what it runs; nothing for those that only steer the run.
pub(crate) fn place(record: &Record<ColumnLetter>) -> Option<(Location, String)> {
    match record {
        Record::Statement { loc, sql, .. } | Record::Query { loc, sql, .. } | Record::Let { loc, sql, .. } => {
            Some((loc.clone(), sql.clone()))
        }
        Record::System { loc, command, .. } => Some((loc.clone(), command.clone())),
        _ => None,
    }
}

/// The error that a statement or query expects.
pub(crate) fn expected_error(record: &Record<ColumnLetter>) -> Option<&ExpectedError> {
    match record {
        Record::Statement { expected: StatementExpect::Error(expected), .. }
        | Record::Query { expected: QueryExpect::Error(expected), .. } => Some(expected),
        _ => None,
    }
}
