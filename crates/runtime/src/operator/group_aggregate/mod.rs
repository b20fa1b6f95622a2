//! GROUP BY, and SELECT DISTINCT when there are no aggregates.
//!
//! Changelog in: append or retract, partitioned by the keys. Out: retract; key columns, then aggregates.
//! State: table 0, key = the group's key (arrow-row, floats normalised), value = row count (8 bytes) and each accumulator's state (8 bytes
//! for a count, 24 for a sum, see `aggregate`). Without keys there is one entry with the empty key.
//!
//! Changes are netted per epoch: at the barrier every group that changed gives `+I`, `-U` `+U` or `-D`, and nothing if its row is the same
//! as before. Over append-only input a result also goes out when more than [`limits::GROUP_AGGREGATE_MAX_PENDING`] groups wait; over
//! retracting input never, because within an epoch counts may be negative for a while. What waits is bounded by the state itself.
//! Watermarks are held back until the rows before them are out, at the barrier.

mod changed;
mod groups;
mod pending;
#[cfg(test)]
mod property;
#[cfg(test)]
mod tests;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt32Array};
use arrow::compute::kernels::cmp::distinct;
use arrow::compute::{interleave, or, take};
use arrow::datatypes::SchemaRef;
use millstream_graph::GroupAggregateSpec;
use millstream_state::{FrozenState, SegmentWriter, SnapshotKind, SnapshotReader, SnapshotWriter, StateEntry, StateTableId};
use millstream_types::{
    Barrier, ChangeBatch, CheckpointMark, Epoch, Error, KeyGroupRange, Result, RowKind, Schema, SqlState, Watermark, limits,
};

use self::changed::Changed;
use self::groups::Groups;
use self::pending::Pending;
use super::aggregate::{Accumulator, Changes, Reader, accumulator, true_rows, write_i64};
use super::calc::rows;
use super::{OperatorContext, Output, StateSize, StatefulOperator};

/// Number of the only state table.
const GROUPS: StateTableId = StateTableId(0);
/// Version of the values in it.
const VERSION: u8 = 1;
/// Changed groups that are evaluated together; each gives at most two rows.
const CHUNK: usize = limits::BATCH_TARGET_ROWS / 2;

/// The operator of a [`GroupAggregateSpec`].
pub struct GroupAggregate {
    groups: Groups,
    calls: Vec<Call>,
    /// Input rows of each group, by slot.
    counts: Vec<i64>,
    pending: Pending,
    changed: Changed,
    append_only: bool,
    /// True once the row of a global aggregate is out.
    global_shown: bool,
    watermark: Option<Watermark>,
    range: KeyGroupRange,
    schema: SchemaRef,
}

struct Call {
    argument: Option<usize>,
    filter: Option<usize>,
    accumulator: Box<dyn Accumulator>,
}

impl GroupAggregate {
    /// An aggregate over batches of `input` to batches of `output`.
    ///
    /// # Errors
    /// 0A000 for an aggregate that its argument's type does not have; XX000 for a global aggregate of several subtasks.
    pub fn new(spec: &GroupAggregateSpec, input: &Schema, output: &Schema, ctx: &OperatorContext) -> Result<Self> {
        if spec.keys.is_empty() && ctx.parallelism != 1 {
            return Err(Error::internal(format!("a global aggregate with parallelism {}", ctx.parallelism)));
        }
        let call = |call: &millstream_graph::AggregateCall| {
            let argument = call.argument.and_then(|i| input.columns.get(i)).map(|c| &c.sql_type);
            let accumulator = accumulator(call, argument, spec.append_only_input)?;
            Ok(Call { argument: call.argument, filter: call.filter, accumulator })
        };
        let mut operator = GroupAggregate {
            groups: Groups::new(&spec.keys, input, ctx.max_parallelism)?,
            calls: spec.aggregates.iter().map(call).collect::<Result<_>>()?,
            counts: vec![],
            pending: Pending::default(),
            changed: Changed::new(ctx.checkpoints),
            append_only: spec.append_only_input,
            global_shown: false,
            watermark: None,
            range: KeyGroupRange::of_subtask(ctx.subtask, ctx.parallelism, ctx.max_parallelism),
            schema: output.to_arrow(),
        };
        operator.grow();
        Ok(operator)
    }

    fn grow(&mut self) {
        let slots = self.groups.slots();
        if slots > self.counts.len() {
            self.counts.resize(slots, 0);
            self.calls.iter_mut().for_each(|c| c.accumulator.resize(slots));
            self.pending.resize(slots);
        }
    }

    /// True if the group's row is in the output.
    fn shown(&self, slot: u32) -> bool {
        if self.groups.is_global() { self.global_shown } else { self.counts[slot as usize] > 0 }
    }

    fn evaluate(&self, slots: &[u32]) -> Result<Vec<ArrayRef>> {
        self.calls.iter().map(|c| c.accumulator.evaluate(slots)).collect()
    }

    /// Remembers what the groups of a batch show, before they change for the first time.
    fn remember(&mut self, slots: &[u32]) -> Result<()> {
        let fresh = self.pending.mark(slots);
        if fresh.is_empty() {
            return Ok(());
        }
        let shown: Vec<bool> = fresh.iter().map(|s| self.shown(*s)).collect();
        let old: Vec<u32> = fresh.iter().zip(&shown).filter(|(_, shown)| **shown).map(|(s, _)| *s).collect();
        let rows = if old.is_empty() { vec![] } else { self.evaluate(&old)? };
        self.pending.push(&fresh, &shown, rows);
        Ok(())
    }

    /// Emits what changed. `last`: the epoch ends, so what is inconsistent now is so for good, and empty groups go.
    fn flush(&mut self, last: bool, out: &mut dyn Output) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let slots = self.pending.slots();
        if last {
            self.judge(&slots)?;
        }
        let old = self.pending.take_rows(self.calls.len())?;
        for (chunk, places) in slots.chunks(CHUNK).zip(old.places.chunks(CHUNK)) {
            if let Some(batch) = self.changes(chunk, places, &old.columns)? {
                out.batch(batch)?;
            }
        }
        self.global_shown |= self.groups.is_global();
        self.changed.mark(&slots);
        if last && !self.groups.is_global() {
            for slot in slots.into_iter().filter(|s| self.counts[*s as usize] == 0) {
                if let Some((key, group)) = self.groups.entry(slot) {
                    self.changed.remove(key, group);
                }
                self.groups.remove(slot);
                self.calls.iter_mut().for_each(|c| c.accumulator.clear(slot));
            }
        }
        Ok(())
    }

    /// Writes the groups at these slots that are there.
    fn write(&self, slots: impl IntoIterator<Item = u32>, out: &mut dyn SnapshotWriter) -> Result<()> {
        for slot in slots {
            let Some((key, key_group)) = self.groups.entry(slot) else { continue };
            if self.groups.is_global() && !self.global_shown {
                continue;
            }
            let mut value = vec![VERSION];
            write_i64(self.counts[slot as usize], &mut value);
            self.calls.iter().for_each(|c| c.accumulator.encode(slot, &mut value));
            out.put(StateEntry { key_group, table: GROUPS, key: key.to_vec(), value: Some(value) })?;
        }
        Ok(())
    }

    /// Refuses groups from which more was taken than was there.
    fn judge(&self, slots: &[u32]) -> Result<()> {
        let wrong = |slot: u32| self.counts[slot as usize] < 0 || self.calls.iter().any(|c| c.accumulator.inconsistent(&[slot]));
        let any = slots.iter().any(|s| self.counts[*s as usize] < 0) || self.calls.iter().any(|c| c.accumulator.inconsistent(slots));
        if !any {
            return Ok(());
        }
        let wrong: Vec<u32> = slots.iter().copied().filter(|s| wrong(*s)).collect();
        let first = wrong.first().map(|s| self.groups.describe(*s)).transpose()?.unwrap_or_default();
        Err(Error::internal("retraction of a row that was never there")
            .with_detail(format!("GroupAggregate: {} inconsistent groups, the first has key ({first}).", wrong.len())))
    }

    /// The changes of some groups: `places[i]` is the row of `slots[i]` in `old`, if it had one.
    fn changes(&self, slots: &[u32], places: &[Option<u32>], old: &[ArrayRef]) -> Result<Option<ChangeBatch>> {
        let exists = |slot: &u32| self.groups.is_global() || self.counts[*slot as usize] > 0;
        let live: Vec<u32> = slots.iter().copied().filter(exists).collect();
        let new = self.evaluate(&live)?;
        let same = unchanged(slots, places, exists, (old, &new))?;
        let (mut of, mut from, mut kinds) = (vec![], vec![], vec![]);
        let mut put = |slot, source, kind| {
            of.push(slot);
            from.push(source);
            kinds.push(kind);
        };
        let mut next = 0;
        for (i, (slot, place)) in slots.iter().zip(places).enumerate() {
            let now = exists(slot).then(|| {
                next += 1;
                (1, next - 1)
            });
            match (place.map(|p| (0, p as usize)), now) {
                (Some(_), Some(_)) if same[i] => {}
                (Some(before), Some(now)) => {
                    put(*slot, before, RowKind::UpdateBefore);
                    put(*slot, now, RowKind::UpdateAfter);
                }
                (Some(before), None) => put(*slot, before, RowKind::Delete),
                (None, Some(now)) => put(*slot, now, RowKind::Insert),
                (None, None) => {}
            }
        }
        if kinds.is_empty() {
            return Ok(None);
        }
        let mut columns = self.groups.columns(&of)?;
        for (i, new) in new.iter().enumerate() {
            let old = old.get(i).map_or_else(|| new.slice(0, 0), ArrayRef::clone);
            columns.push(interleave(&[old.as_ref(), new.as_ref()], &from)?);
        }
        Ok(Some(ChangeBatch::new(rows(&self.schema, columns, kinds.len())?, kinds)))
    }
}

/// For each group, whether it has an old and a new row and they are the same.
fn unchanged(
    slots: &[u32],
    places: &[Option<u32>],
    exists: impl Fn(&u32) -> bool,
    (old, new): (&[ArrayRef], &[ArrayRef]),
) -> Result<Vec<bool>> {
    let (mut before, mut now, mut of) = (vec![], vec![], vec![]);
    let mut next = 0u32;
    for (i, (slot, place)) in slots.iter().zip(places).enumerate() {
        let here = exists(slot);
        if let (Some(place), true) = (place, here) {
            before.push(*place);
            now.push(next);
            of.push(i);
        }
        next += u32::from(here);
    }
    let mut same = vec![false; slots.len()];
    if of.is_empty() {
        return Ok(same);
    }
    let (before, now) = (UInt32Array::from(before), UInt32Array::from(now));
    let mut differs = BooleanArray::from(vec![false; of.len()]);
    for (old, new) in old.iter().zip(new) {
        let (old, new) = (take(old, &before, None)?, take(new, &now, None)?);
        differs = or(&differs, &distinct(&old, &new)?)?;
    }
    of.into_iter().zip(differs.values()).for_each(|(i, differs)| same[i] = !differs);
    Ok(same)
}

impl StatefulOperator for GroupAggregate {
    fn process_batch(&mut self, _input: usize, batch: ChangeBatch, out: &mut dyn Output) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        if self.append_only && batch.kinds().is_some_and(|kinds| kinds.iter().any(|k| k.is_retraction())) {
            return Err(Error::internal("the input of an aggregate was planned as append-only and takes rows back"));
        }
        let slots = self.groups.find(&batch)?;
        self.grow();
        self.remember(&slots)?;
        let signs: Option<Vec<i8>> = batch.kinds().map(|kinds| kinds.iter().map(|k| if k.is_retraction() { -1 } else { 1 }).collect());
        match &signs {
            None => slots.iter().for_each(|s| self.counts[*s as usize] += 1),
            Some(signs) => slots.iter().zip(signs).for_each(|(s, sign)| self.counts[*s as usize] += i64::from(*sign)),
        }
        for call in &mut self.calls {
            let filter = call.filter.map(|f| boolean(&batch, f)).transpose()?;
            let changes = Changes { slots: &slots, signs: signs.as_deref(), filter: filter.map(true_rows) };
            call.accumulator.update(call.argument.map(|a| batch.column(a)), &changes)?;
        }
        if self.append_only && self.pending.len() > limits::GROUP_AGGREGATE_MAX_PENDING {
            self.flush(false, out)?;
        }
        self.groups.put_back(slots);
        Ok(())
    }

    fn process_watermark(&mut self, watermark: Watermark, out: &mut dyn Output) -> Result<()> {
        if self.pending.is_empty() {
            return out.watermark(watermark);
        }
        self.watermark = Some(watermark);
        Ok(())
    }

    fn on_barrier(&mut self, _barrier: &Barrier, out: &mut dyn Output) -> Result<()> {
        if self.groups.is_global() && !self.global_shown {
            self.remember(&[0])?;
        }
        self.flush(true, out)?;
        match self.watermark.take() {
            Some(watermark) => out.watermark(watermark),
            None => Ok(()),
        }
    }

    fn finish(&mut self, out: &mut dyn Output) -> Result<()> {
        self.flush(true, out)
    }

    fn snapshot(&mut self, mark: CheckpointMark, epoch: Epoch) -> Result<(SnapshotKind, FrozenState)> {
        if !self.pending.is_empty() {
            return Err(Error::internal("snapshot of an aggregate within an epoch"));
        }
        let delta = mark.base > 0 && self.changed.frozen == Some(mark.base);
        let (gone, slots) = self.changed.take(epoch);
        let mut segment = SegmentWriter::default();
        if delta {
            for (key, key_group) in gone {
                segment.put(StateEntry::gone(key_group, GROUPS, &key))?;
            }
            self.write(slots, &mut segment)?;
        } else {
            self.write(0..self.counts.len() as u32, &mut segment)?;
        }
        Ok((if delta { SnapshotKind::Delta } else { SnapshotKind::Full }, FrozenState::Encoded(segment)))
    }

    fn restore(&mut self, from: &mut dyn SnapshotReader, epoch: Epoch) -> Result<()> {
        self.changed.frozen = Some(epoch);
        while let Some(entry) = from.next(self.range)? {
            let value = entry.value.as_deref().unwrap_or_default();
            let (GROUPS, Some((&VERSION, value))) = (entry.table, value.split_first()) else {
                return Err(Error::new(SqlState::DATA_CORRUPTED, "state that is not of this version of GroupAggregate")
                    .with_detail(format!("Table {}, version {:?}; known is version {VERSION}.", entry.table.0, value.first())));
            };
            let slot = self.groups.insert(&entry.key, entry.key_group);
            self.grow();
            let mut value = Reader::new(value);
            self.counts[slot as usize] = value.i64()?;
            for call in &mut self.calls {
                call.accumulator.decode(slot, &mut value)?;
            }
            value.end()?;
            self.global_shown |= self.groups.is_global();
        }
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        let values: usize = self.calls.iter().map(|c| c.accumulator.bytes()).sum();
        let bytes = self.groups.bytes() + self.counts.capacity() * size_of::<i64>() + self.pending.bytes() + self.changed.bytes() + values;
        StateSize { keys: self.groups.len(), bytes }
    }
}

fn boolean(batch: &ChangeBatch, column: usize) -> Result<&BooleanArray> {
    batch.column(column).as_boolean_opt().ok_or_else(|| Error::internal("FILTER is no boolean column"))
}
