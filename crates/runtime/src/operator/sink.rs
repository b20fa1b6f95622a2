//! The end of CREATE SINK and CREATE STREAMING JOB: hands changes to a connector.
//!
//! Changelog in: append for a connector that only appends, else any. Out: none, it ends its chain. A connector that takes updates gets each
//! epoch's net changes at the barrier, full rows, the old row of a key before its new one; one that appends gets batches at once.
//! State: none between epochs. Watermarks end here.

use std::collections::VecDeque;

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use arrow::row::{RowConverter, Rows, SortField};
use hashbrown::HashMap;
use millstream_graph::SinkSpec;
use millstream_state::KeyCodec;
use millstream_types::{Barrier, ChangeBatch, Epoch, Error, Result, RowKind, Schema, Watermark, limits};

use super::calc::rows;
use super::{Output, StatelessOperator};
use crate::connector::SinkWriter;

/// The operator of a [`SinkSpec`].
pub struct Sink {
    name: String,
    writer: Box<dyn SinkWriter>,
    /// `None` for a connector that takes changes as they come.
    net: Option<Net>,
}

impl Sink {
    /// A sink for rows of `schema`; `key` are the columns that identify a row, if any are known.
    ///
    /// # Errors
    /// XX000 if the columns cannot be compared.
    pub fn new(spec: &SinkSpec, schema: &Schema, key: Option<&[usize]>, writer: Box<dyn SinkWriter>) -> Result<Self> {
        let net = if !writer.nets_epochs() { None } else { Some(Net::new(schema, key)?) };
        Ok(Sink { name: spec.name.clone(), writer, net })
    }
}

impl StatelessOperator for Sink {
    fn process_batch(&mut self, _input: usize, batch: ChangeBatch, _out: &mut dyn Output) -> Result<()> {
        match &mut self.net {
            Some(net) => net.add(&batch),
            None if self.writer.appends_only() && batch.kinds().is_some_and(|kinds| kinds.iter().any(|k| k.is_retraction())) => {
                Err(Error::internal(format!("sink \"{}\" only appends, and its input takes rows back", self.name)))
            }
            None => self.writer.write(&batch),
        }
    }

    fn process_watermark(&mut self, _watermark: Watermark, _out: &mut dyn Output) -> Result<()> {
        Ok(())
    }

    fn on_barrier(&mut self, barrier: &Barrier, _out: &mut dyn Output) -> Result<()> {
        if let Some(net) = &mut self.net {
            net.take(|batch| self.writer.write(&batch))?;
        }
        self.writer.on_barrier(barrier)
    }

    fn finish(&mut self, _out: &mut dyn Output) -> Result<()> {
        self.writer.finish()
    }

    fn pre_commit(&mut self, epoch: Epoch) -> Result<Vec<Vec<u8>>> {
        self.writer.pre_commit(epoch)
    }
}

/// Net counts of full rows within an epoch, in the order of their first change.
struct Net {
    schema: SchemaRef,
    converter: RowConverter,
    key: Option<(KeyCodec, Vec<usize>)>,
    counts: HashMap<Box<[u8]>, usize>,
    entries: Vec<Entry>,
}

struct Entry {
    row: Box<[u8]>,
    key: Option<Box<[u8]>>,
    count: i64,
}

impl Net {
    fn new(schema: &Schema, key: Option<&[usize]>) -> Result<Self> {
        let converter = RowConverter::new(schema.columns.iter().map(|c| SortField::new(c.sql_type.to_arrow())).collect())?;
        let codec = |key: &[usize]| {
            let types = schema.project(key).columns.into_iter().map(|c| c.sql_type.to_arrow());
            Ok::<_, Error>((KeyCodec::new(types)?, key.to_vec()))
        };
        let key = key.filter(|k| !k.is_empty()).map(codec).transpose()?;
        Ok(Net { schema: schema.to_arrow(), converter, key, counts: HashMap::new(), entries: vec![] })
    }

    fn keys(&self, batch: &ChangeBatch) -> Result<Option<Rows>> {
        let Some((codec, columns)) = &self.key else { return Ok(None) };
        let columns: Vec<ArrayRef> = columns.iter().map(|c| ArrayRef::clone(batch.column(*c))).collect();
        codec.encode(&columns).map(Some)
    }

    fn add(&mut self, batch: &ChangeBatch) -> Result<()> {
        let encoded = self.converter.convert_columns(batch.rows().columns())?;
        let keys = self.keys(batch)?;
        for (i, row) in encoded.iter().enumerate() {
            let sign = batch.kind(i).sign();
            if let Some(&entry) = self.counts.get(row.as_ref()) {
                self.entries[entry].count += sign;
                continue;
            }
            let key = keys.as_ref().map(|k| k.row(i).as_ref().into());
            self.counts.insert(row.as_ref().into(), self.entries.len());
            self.entries.push(Entry { row: row.as_ref().into(), key, count: sign });
        }
        Ok(())
    }

    /// Hands out the net changes and forgets them: by key as -U +U where both are there; the rest of the old rows, then of the new ones.
    fn take(&mut self, mut write: impl FnMut(ChangeBatch) -> Result<()>) -> Result<()> {
        self.counts.clear();
        let entries = std::mem::take(&mut self.entries);
        let mut old: HashMap<&[u8], VecDeque<usize>> = HashMap::new();
        for (i, entry) in entries.iter().enumerate() {
            if let (Some(key), true) = (&entry.key, entry.count < 0) {
                old.entry(key.as_ref()).or_default().push_back(i);
            }
        }
        let mut left: Vec<i64> = entries.iter().map(|e| e.count).collect();
        let mut updates = vec![];
        for (i, entry) in entries.iter().enumerate() {
            let Some(places) = entry.key.as_deref().and_then(|k| old.get_mut(k)) else { continue };
            while left[i] > 0
                && let Some(&place) = places.front()
            {
                updates.extend([(place, RowKind::UpdateBefore), (i, RowKind::UpdateAfter)]);
                left[i] -= 1;
                left[place] += 1;
                if left[place] == 0 {
                    places.pop_front();
                }
            }
        }
        let some = |wanted: i64, kind| {
            let of = left.iter().enumerate().filter(move |(_, c)| c.signum() == wanted);
            of.flat_map(move |(i, c)| std::iter::repeat_n((i, kind), usize::try_from(c.unsigned_abs()).unwrap_or(0)))
        };
        let changes: Vec<_> = updates.into_iter().chain(some(-1, RowKind::Delete)).chain(some(1, RowKind::Insert)).collect();
        let parser = self.converter.parser();
        for chunk in changes.chunks(limits::BATCH_TARGET_ROWS) {
            let columns = self.converter.convert_rows(chunk.iter().map(|(i, _)| parser.parse(&entries[*i].row)))?;
            let kinds = chunk.iter().map(|(_, kind)| *kind).collect();
            write(ChangeBatch::new(rows(&self.schema, columns, chunk.len())?, kinds))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
