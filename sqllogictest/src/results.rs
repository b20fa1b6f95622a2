//! Turns the messages of one simple query into what the sqllogictest runner compares.
//!
//! Text is `PostgreSQL`'s; NULL is `NULL`, the empty string `(empty)`, and a line break inside a value `\n`, so that a row is a line.

use sqllogictest::DBOutput;
use tokio_postgres::{SimpleQueryMessage, SimpleQueryRow};

use crate::column::ColumnLetter;

/// The result of the last statement in `messages`: its rows if it has columns, else the number of rows it touched.
pub(crate) fn output(messages: &[SimpleQueryMessage]) -> DBOutput<ColumnLetter> {
    let mut columns = None;
    let mut rows = Vec::new();
    let mut finished = DBOutput::StatementComplete(0);
    for message in messages {
        match message {
            SimpleQueryMessage::RowDescription(description) => columns = Some(description.len()),
            SimpleQueryMessage::Row(row) => rows.push(texts(row)),
            SimpleQueryMessage::CommandComplete(count) => {
                let rows = std::mem::take(&mut rows);
                finished = match columns.take() {
                    Some(columns) => DBOutput::Rows { types: letters(&rows, columns), rows },
                    None => DBOutput::StatementComplete(*count),
                };
            }
            _ => {}
        }
    }
    finished
}

fn texts(row: &SimpleQueryRow) -> Vec<String> {
    (0..row.len()).map(|i| cell(row.try_get(i).ok().flatten())).collect()
}

fn cell(value: Option<&str>) -> String {
    match value {
        None => "NULL".to_owned(),
        Some("") => "(empty)".to_owned(),
        Some(text) => text.replace('\r', "\\r").replace('\n', "\\n"),
    }
}

fn letters(rows: &[Vec<String>], columns: usize) -> Vec<ColumnLetter> {
    (0..columns).map(|i| ColumnLetter::of_texts(rows.iter().filter_map(|row| row.get(i)).map(String::as_str))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_one_line() {
        assert_eq!(cell(None), "NULL");
        assert_eq!(cell(Some("")), "(empty)");
        assert_eq!(cell(Some("a\r\nb")), "a\\r\\nb");
    }

    #[test]
    fn the_last_statement_decides() {
        let messages = [SimpleQueryMessage::CommandComplete(2), SimpleQueryMessage::CommandComplete(3)];
        assert!(matches!(output(&messages), DBOutput::StatementComplete(3)));
        assert!(matches!(output(&[]), DBOutput::StatementComplete(0)));
    }
}
