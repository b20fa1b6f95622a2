//! `--complete`: runs the records of a file and writes what the server answers into it.
//!
//! Only expectations that do not hold change; all else in the file, comments and layout included, stays as it is. A lost connection
//! or a failed command writes nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sqllogictest::{
    Control, ExpectedError, MakeConnection, Record, RecordOutput, ResultMode, Runner, StatementExpect, default_normalizer,
    default_validator, update_record_with_output,
};

use crate::column::{ColumnLetter, same_count_exactly};
use crate::outcome::Failure;
use crate::run_file::{Database, check_error, database_error, expected_error, place};
use crate::splice::{Edit, splice};

/// The edits of a run, by file: a file and those it includes.
pub(crate) type Edits = BTreeMap<PathBuf, Vec<Edit>>;

/// Runs the records and collects the edits. `ran` counts the records that ran.
pub(crate) async fn complete_records<D, M>(
    runner: &mut Runner<D, M>,
    records: Vec<Record<ColumnLetter>>,
    ran: &mut usize,
) -> Result<Edits, Failure>
where
    D: Database,
    M: MakeConnection<Conn = D>,
{
    let mut edits = Edits::new();
    let mut value_wise = false;
    for record in records {
        if let Record::Control(Control::ResultMode(mode)) = &record {
            value_wise = *mode == ResultMode::ValueWise;
        }
        let Some((location, sql)) = place(&record) else {
            runner.apply_record(record).await;
            continue;
        };
        // A record with `retry` waits for its result; only what is there after the last attempt is written.
        if retries(&record)
            && let Ok(output) = runner.run_async(record.clone()).await
        {
            check_error(&output, &location, &sql)?;
            *ran += usize::from(!matches!(output, RecordOutput::Nothing));
            continue;
        }
        let mut output = runner.apply_record(record.clone()).await;
        check_error(&output, &location, &sql)?;
        match &output {
            RecordOutput::Nothing => continue,
            RecordOutput::Let { error: Some(error), .. } => return Err(Failure::of_let(&location, &sql, error)),
            RecordOutput::System { error: Some(error), .. } => {
                return Err(Failure::at(&location, "the command failed", &sql, error.to_string()));
            }
            _ => {}
        }
        if value_wise {
            one_value_per_row(&mut output);
        }
        *ran += 1;
        if let Some(completed) = completed(&record, &output) {
            let edit = Edit::new(location.line(), &record, completed);
            let edits = edits.entry(PathBuf::from(location.file())).or_default();
            // A file that is included twice gets what it answered first.
            if !edits.iter().any(|other| other.line == edit.line) {
                edits.push(edit);
            }
        }
    }
    Ok(edits)
}

/// Writes the edits into their files.
pub(crate) fn write(edits: &Edits) -> Result<(), Failure> {
    for (path, edits) in edits {
        splice(path, edits).map_err(|error| Failure::of_file(path.display().to_string(), "cannot write the suite", error.to_string()))?;
    }
    Ok(())
}

/// The record as it must read, if it does not yet.
fn completed(record: &Record<ColumnLetter>, output: &RecordOutput<ColumnLetter>) -> Option<Record<ColumnLetter>> {
    if let (Some(expected), Some(error)) = (expected_error(record), database_error(output))
        && expected.is_match(&error.to_string(), error.sqlstate())
    {
        return None;
    }
    if let (Record::System { stdout: Some(expected), .. }, RecordOutput::System { stdout: Some(actual), .. }) = (record, output)
        && expected.trim() == actual.trim()
    {
        return None;
    }
    if let (Record::Statement { expected: StatementExpect::Error(_), .. }, RecordOutput::Query { error: None, .. }) = (record, output) {
        let mut updated = record.clone();
        if let Record::Statement { expected, .. } = &mut updated {
            *expected = StatementExpect::Ok;
        }
        return Some(updated);
    }
    let mut updated = update_record_with_output(record, output, " ", default_validator, default_normalizer, same_count_exactly)?;
    if let (Record::Query { .. }, Record::Statement { expected, .. }) = (record, &mut updated) {
        // A query that turned out to be a statement without rows.
        *expected = StatementExpect::Ok;
    }
    (updated != *record).then_some(updated)
}

fn retries(record: &Record<ColumnLetter>) -> bool {
    match record {
        Record::Statement { retry, .. } | Record::Query { retry, .. } | Record::System { retry, .. } => retry.is_some(),
        _ => false,
    }
}

fn one_value_per_row(output: &mut RecordOutput<ColumnLetter>) {
    if let RecordOutput::Query { rows, .. } = output {
        *rows = std::mem::take(rows).into_iter().flatten().map(|value| vec![value]).collect();
    }
}

/// Whether the record expects an error of several lines, which ends with two blank lines instead of one.
pub(crate) fn ends_with_two_blanks(record: &Record<ColumnLetter>) -> bool {
    matches!(expected_error(record), Some(ExpectedError::Multiline(_))) || matches!(record, Record::System { .. })
}
