//! Parquet files to columns, by name.

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use datafusion::parquet::errors::ParquetError;
use millstream_functions::cast_array;
use millstream_types::{Error, Result, Schema, SqlState, limits};

use super::root::OpenFile;

/// A Parquet file being read.
pub(super) struct ParquetFile {
    name: String,
    reader: ParquetRecordBatchReader,
    schema: Schema,
    /// Rows handed out.
    pub(super) rows: u64,
    /// The rest of a batch that was larger than asked for.
    rest: Option<RecordBatch>,
}

fn broken(name: &str, error: &ParquetError) -> Error {
    Error::new(SqlState::BAD_COPY_FILE_FORMAT, format!("file \"{name}\" cannot be read as Parquet")).with_detail(error.to_string())
}

/// The columns of a file.
///
/// # Errors
/// 22P04 if it is no Parquet file, 0A000 for a type that SQL does not have.
pub(super) fn schema(name: &str, open: OpenFile) -> Result<Schema> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(open.file).map_err(|e| broken(name, &e))?;
    Schema::from_arrow(builder.schema()).map_err(|e| e.context(format!("file \"{name}\"")))
}

impl ParquetFile {
    /// Starts behind the first `rows` rows; only the columns of `schema` are decoded.
    pub(super) fn new(name: &str, open: OpenFile, schema: &Schema, rows: u64) -> Result<Self> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(open.file).map_err(|e| broken(name, &e))?;
        let mut wanted = vec![];
        for column in &schema.columns {
            let Ok(index) = builder.schema().index_of(&column.name) else {
                let names: Vec<_> = builder.schema().fields().iter().map(|f| f.name().as_str()).collect();
                return Err(Error::new(SqlState::BAD_COPY_FILE_FORMAT, format!("file \"{name}\" has no column \"{}\"", column.name))
                    .with_detail(format!("The columns are {}.", names.join(", "))));
            };
            wanted.push(index);
        }
        let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
        let skipped = usize::try_from(rows).unwrap_or(usize::MAX);
        let builder = builder.with_projection(mask).with_batch_size(limits::BATCH_TARGET_ROWS).with_offset(skipped);
        let reader = builder.build().map_err(|e| broken(name, &e))?;
        Ok(ParquetFile { name: name.into(), reader, schema: schema.clone(), rows, rest: None })
    }

    /// The next rows; `None` at the end.
    ///
    /// # Errors
    /// 22P04 for a broken file, class 22 for a value that does not fit its column, with the column's name and the rows read so far.
    pub(super) fn next(&mut self, most: usize) -> Result<Option<RecordBatch>> {
        let batch = match self.rest.take() {
            Some(rest) => rest,
            None => match self.reader.next() {
                None => return Ok(None),
                Some(batch) => {
                    let batch = batch.map_err(|e| {
                        Error::new(SqlState::BAD_COPY_FILE_FORMAT, format!("file \"{}\" cannot be read as Parquet", self.name))
                            .with_detail(format!("Behind row {}: {e}", self.rows))
                    })?;
                    self.convert(&batch)?
                }
            },
        };
        let len = batch.num_rows().min(most);
        if len < batch.num_rows() {
            self.rest = Some(batch.slice(len, batch.num_rows() - len));
        }
        self.rows += len as u64;
        Ok(Some(batch.slice(0, len)))
    }

    fn convert(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let column = |column: &millstream_types::Column| -> Result<ArrayRef> {
            let array =
                batch.column_by_name(&column.name).ok_or_else(|| Error::internal("a Parquet column that was asked for is not there"))?;
            let place = || format!("file \"{}\", behind row {}, column \"{}\"", self.name, self.rows, column.name);
            let array = cast_array(array, &column.sql_type).map_err(|e| e.context(place()))?;
            debug_assert_eq!(array.len(), batch.num_rows());
            Ok(array)
        };
        let columns = self.schema.columns.iter().map(column).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(self.schema.to_arrow(), columns, &options)?)
    }
}
