//! Splitting a batch over channels.

use arrow::array::{ArrayRef, UInt32Array};
use millstream_graph::Partitioner;
use millstream_types::{ChangeBatch, Error, KeyGroup, KeyHasher, Result, key_group};

/// What a partitioner keeps between batches.
#[derive(Debug)]
pub(super) enum Splitter {
    /// Everything to channel 0 (forward to the one consumer subtask, global).
    One,
    /// Each batch to the next channel.
    RoundRobin { next: usize },
    /// Each batch to every channel.
    All,
    /// By key group.
    Hash { columns: Vec<usize>, hasher: KeyHasher, max_parallelism: u32 },
}

impl Splitter {
    pub(super) fn new(partitioner: &Partitioner, subtask: u32, consumer_max_parallelism: u32) -> Self {
        match partitioner {
            Partitioner::Forward | Partitioner::Global => Splitter::One,
            Partitioner::Rebalance | Partitioner::Rescale => Splitter::RoundRobin { next: subtask as usize },
            Partitioner::Broadcast => Splitter::All,
            Partitioner::Hash { columns } => Splitter::Hash {
                columns: columns.clone(),
                hasher: KeyHasher::new(consumer_max_parallelism),
                max_parallelism: consumer_max_parallelism,
            },
        }
    }

    /// Calls `send` with a channel's index and its share of the rows, never an empty one.
    pub(super) fn split(
        &mut self,
        batch: ChangeBatch,
        channels: usize,
        send: &mut dyn FnMut(usize, ChangeBatch) -> Result<()>,
    ) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        match self {
            _ if channels == 1 => send(0, batch),
            Splitter::One => send(0, batch),
            Splitter::RoundRobin { next } => {
                *next = (*next + 1) % channels;
                send(*next, batch)
            }
            Splitter::All => (0..channels).try_for_each(|c| send(c, batch.clone())),
            Splitter::Hash { columns, hasher, max_parallelism } => {
                let keys: Vec<ArrayRef> = columns.iter().map(|&c| ArrayRef::clone(batch.column(c))).collect();
                let groups = hasher.key_groups(&keys, batch.num_rows())?;
                let parallelism = u32::try_from(channels).map_err(Error::internal)?;
                let target = |g: &KeyGroup| key_group::subtask_of(*g, parallelism, *max_parallelism) as usize;
                by_target(&batch, &groups, &target, channels, send)
            }
        }
    }
}

/// One counting sort of the row numbers by target, one `take` per column, then a slice per target. Rows keep their order.
fn by_target(
    batch: &ChangeBatch,
    groups: &[KeyGroup],
    target: &dyn Fn(&KeyGroup) -> usize,
    channels: usize,
    send: &mut dyn FnMut(usize, ChangeBatch) -> Result<()>,
) -> Result<()> {
    let Some((first, rest)) = groups.split_first() else { return Ok(()) };
    let only = target(first);
    if rest.iter().all(|g| g == first || target(g) == only) {
        return send(only, batch.clone());
    }
    let targets: Vec<usize> = groups.iter().map(target).collect();
    let mut starts = vec![0usize; channels + 1];
    for &t in &targets {
        starts[t + 1] += 1;
    }
    for c in 0..channels {
        starts[c + 1] += starts[c];
    }
    let mut next = starts.clone();
    let mut order = vec![0u32; targets.len()];
    for (row, &t) in (0u32..).zip(&targets) {
        order[next[t]] = row;
        next[t] += 1;
    }
    let sorted = batch.take(&UInt32Array::from(order))?;
    for (c, bounds) in starts.windows(2).enumerate() {
        if bounds[1] > bounds[0] {
            send(c, sorted.slice(bounds[0], bounds[1] - bounds[0]))?;
        }
    }
    Ok(())
}
