//! Sink `print`: one line per change in the server's log, as Flink's print connector writes it: `name> +I[1, a]`.

use std::collections::BTreeMap;
use std::fmt::Write;

use millstream_functions::to_text;
use millstream_graph::SinkSpec;
use millstream_runtime::connector::{SinkContext, SinkWriter};
use millstream_types::{Barrier, ChangeBatch, Result};

use crate::options::{Known, Options, aliased};

const KNOWN: [Known; 1] = [aliased("prefix", &["print_identifier"])];

/// Logs changes under the target `millstream::print`.
#[derive(Debug)]
pub struct PrintWriter {
    prefix: String,
}

/// Checks the options.
///
/// # Errors
/// 42704.
pub(crate) fn check(options: &BTreeMap<String, String>) -> Result<()> {
    Options::new("print", options, &KNOWN).map(|_| ())
}

impl PrintWriter {
    /// Option `prefix` (Flink: `print-identifier`) stands before each line, else the sink's name; with several subtasks also their number.
    ///
    /// # Errors
    /// 42704 for other options.
    pub fn new(spec: &SinkSpec, ctx: &SinkContext) -> Result<Self> {
        let options = Options::new("print", &spec.options, &KNOWN)?;
        let name = options.text("prefix").unwrap_or(&spec.name);
        let prefix = if ctx.parallelism > 1 { format!("{name}:{}", ctx.subtask + 1) } else { name.to_string() };
        Ok(PrintWriter { prefix })
    }
}

/// The lines of a batch, without prefix.
fn lines(batch: &ChangeBatch) -> Result<Vec<String>> {
    let columns = batch.rows().columns().iter().map(to_text).collect::<Result<Vec<_>>>()?;
    let line = |row: usize| {
        let mut line = format!("{}[", batch.kind(row));
        for (i, column) in columns.iter().enumerate() {
            let value = if arrow::array::Array::is_null(column, row) { "NULL" } else { column.value(row) };
            let _ = write!(line, "{}{value}", if i > 0 { ", " } else { "" });
        }
        line.push(']');
        line
    };
    Ok((0..batch.num_rows()).map(line).collect())
}

impl SinkWriter for PrintWriter {
    fn write(&mut self, batch: &ChangeBatch) -> Result<()> {
        for line in lines(batch)? {
            tracing::info!(target: "millstream::print", "{}> {line}", self.prefix);
        }
        Ok(())
    }

    fn on_barrier(&mut self, _barrier: &Barrier) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn appends_only(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Int64Array, RecordBatch, StringArray};
    use millstream_types::{Column, RowKind, Schema, SqlType};

    use super::*;

    #[test]
    fn a_line_per_change() {
        let schema = Schema::new(vec![Column::new("a", SqlType::BigInt), Column::new("b", SqlType::Text)]);
        let a = Arc::new(Int64Array::from(vec![1, 2]));
        let b = Arc::new(StringArray::from(vec![Some("x"), None]));
        let rows = RecordBatch::try_new(schema.to_arrow(), vec![a, b]).unwrap();
        let batch = ChangeBatch::new(rows, vec![RowKind::Insert, RowKind::Delete]);
        assert_eq!(lines(&batch).unwrap(), ["+I[1, x]", "-D[2, NULL]"]);
    }
}
