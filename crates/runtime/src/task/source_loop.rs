//! The loop of a task whose head is a source.

use millstream_types::{Barrier, Result, WATERMARK_MAX};

use super::run::Running;
use crate::chain::Outputs;
use crate::operator::Output;
use crate::source::{SourcePoll, SourceReader};
use crate::task::TaskEvent;

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
                    cut(task, outputs, &barrier)?;
                    report_backfill(task, reader, &mut reported);
                }
            }
            SourcePoll::Finished => {
                report_backfill(task, reader, &mut reported);
                return finish(task, outputs);
            }
        }
    }
}

fn cut(task: &Running, outputs: &mut Outputs, barrier: &Barrier) -> Result<()> {
    outputs.barrier(barrier)?;
    task.control.tick_done();
    task.barrier_passed(barrier.epoch, outputs.state_size());
    Ok(())
}

/// The end of a bounded source: event time is over, one more barrier covers all rows, and the end follows it directly.
fn finish(task: &Running, outputs: &mut Outputs) -> Result<()> {
    outputs.watermark(WATERMARK_MAX)?;
    outputs.flush()?;
    if task.control.tick().is_none() {
        task.emit(TaskEvent::TickWanted);
    }
    loop {
        task.control.check()?;
        if let Some(barrier) = task.control.tick() {
            cut(task, outputs, &barrier)?;
            return outputs.end();
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
