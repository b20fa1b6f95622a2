//! The loop of a task whose head is a source.

use millstream_state::{
    FrozenOperator, FrozenState, SegmentWriter, SnapshotKind, SnapshotReader, SnapshotWriter, StateEntry, StateTableId,
};
use millstream_types::{Barrier, Error, KeyGroupRange, Result, SqlState, WATERMARK_MAX, limits};

use super::run::Running;
use crate::chain::Outputs;
use crate::operator::Output;
use crate::source::{SourcePoll, SourcePosition, SourceReader};
use crate::task::TaskEvent;

/// State table of a source's positions.
const POSITIONS: StateTableId = StateTableId(0);

/// Reads until the source has ended and its last barrier is out.
pub(super) fn run(task: &Running, reader: &mut dyn SourceReader, outputs: &mut Outputs) -> Result<()> {
    let mut reported = None;
    loop {
        task.control.check()?;
        let tick = task.control.tick();
        if task.control.is_paused() && tick.is_none() {
            outputs.flush()?;
            task.control.wait_for_input(None);
            continue;
        }
        match reader.poll(tick.map(|b| b.epoch), task.config.batch_rows)? {
            SourcePoll::Batch(batch) => {
                task.control.metrics.add_in(batch.num_rows());
                outputs.batch(batch)?;
                outputs.flush_due()?;
            }
            SourcePoll::Watermark(watermark) => outputs.watermark(watermark)?,
            SourcePoll::Pending { wake_after } => {
                outputs.flush()?;
                report_backfill(task, reader, &mut reported);
                task.control.wait_for_input(wake_after);
            }
            SourcePoll::CutReached => {
                if let Some(barrier) = tick {
                    cut(task, reader, outputs, &barrier)?;
                    report_backfill(task, reader, &mut reported);
                }
            }
            SourcePoll::Finished => {
                report_backfill(task, reader, &mut reported);
                return finish(task, reader, outputs);
            }
        }
    }
}

fn cut(task: &Running, reader: &dyn SourceReader, outputs: &mut Outputs, barrier: &Barrier) -> Result<()> {
    outputs.barrier(barrier)?;
    task.control.tick_done();
    task.freeze(barrier, |mark, frozen| {
        frozen.push(source_position(task, reader)?);
        outputs.freeze(mark, barrier.epoch, frozen)
    })?;
    task.barrier_passed(barrier.epoch, outputs.state_size());
    Ok(())
}

/// The position as state that every subtask can read, whatever the parallelism.
fn source_position(task: &Running, reader: &dyn SourceReader) -> Result<FrozenOperator> {
    let mut segment = SegmentWriter::default();
    let mut value = task.parallelism.to_le_bytes().to_vec();
    value.extend(reader.snapshot()?);
    let key = task.attempt.vertex.subtask.to_be_bytes().to_vec();
    segment.put(StateEntry { key_group: limits::ANY_KEY_GROUP, table: POSITIONS, key, value: Some(value) })?;
    let state = FrozenState::Encoded(segment);
    Ok(FrozenOperator { operator: task.head, kind: SnapshotKind::Full, state, keys: 0, committables: vec![] })
}

/// The positions that a source had.
pub(super) fn positions(from: &mut dyn SnapshotReader) -> Result<Vec<SourcePosition>> {
    let wrong = || Error::new(SqlState::DATA_CORRUPTED, "the position of a source cannot be read");
    let mut positions = vec![];
    while let Some(entry) = from.next(KeyGroupRange { start: 0, end: 0 })? {
        let subtask = entry.key.as_slice().try_into().map(u32::from_be_bytes).map_err(|_| wrong())?;
        let value = entry.value.unwrap_or_default();
        let (parallelism, bytes) = value.split_first_chunk().ok_or_else(wrong)?;
        positions.push(SourcePosition { subtask, parallelism: u32::from_le_bytes(*parallelism), bytes: bytes.to_vec() });
    }
    Ok(positions)
}

/// The end of a bounded source: event time is over, one more barrier covers all rows, and the end follows it directly. Where there are
/// checkpoints it is the barrier of one, so that the end is durable with all that led to it.
fn finish(task: &Running, reader: &dyn SourceReader, outputs: &mut Outputs) -> Result<()> {
    outputs.watermark(WATERMARK_MAX)?;
    outputs.flush()?;
    if task.control.tick().is_none() {
        task.emit(TaskEvent::TickWanted);
    }
    loop {
        task.control.check()?;
        if let Some(barrier) = task.control.tick() {
            cut(task, reader, outputs, &barrier)?;
            if barrier.checkpoint.is_some() || !task.config.checkpoints {
                return outputs.end();
            }
            if task.control.tick().is_none() {
                task.emit(TaskEvent::TickWanted);
            }
            continue;
        }
        task.control.wait_for_input(None);
    }
}

fn report_backfill(task: &Running, reader: &dyn SourceReader, reported: &mut Option<(u64, u64)>) {
    if matches!(*reported, Some((done, total)) if done == total) {
        return;
    }
    let progress = reader.backfill_progress();
    if progress != *reported {
        *reported = progress;
        if let Some((done, total)) = progress {
            task.emit(TaskEvent::BackfillProgress { done, total });
        }
    }
}
