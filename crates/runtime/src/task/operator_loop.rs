//! The loop of a task whose head is an operator with inputs.

use millstream_types::Result;

use super::run::Running;
use crate::chain::Link;
use crate::exchange::{GateEvent, InputGate};

/// Processes until all inputs have ended.
pub(super) fn run(task: &Running, gate: &mut InputGate, head: &mut Link) -> Result<()> {
    loop {
        task.control.check()?;
        match gate.poll() {
            Some(GateEvent::Batch(input, batch)) => {
                task.control.metrics.add_in(batch.num_rows());
                head.batch(input, batch)?;
                head.outputs().flush_due()?;
            }
            Some(GateEvent::Watermark(watermark)) => head.watermark(watermark)?,
            Some(GateEvent::Status { idle }) => head.outputs().status(idle)?,
            Some(GateEvent::Barrier(barrier)) => {
                head.barrier(&barrier)?;
                task.freeze(&barrier, |mark, frozen| head.freeze(mark, barrier.epoch, frozen))?;
                task.barrier_passed(barrier.epoch, head.state_size());
            }
            Some(GateEvent::End) => return head.end(),
            None => {
                head.outputs().flush()?;
                task.control.wait_for_input(None);
            }
        }
    }
}
