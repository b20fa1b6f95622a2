//! How often each value is there, in the order of the values: what MIN, MAX, DISTINCT and `string_agg` keep per group. Few values are a
//! sorted vector (most groups have few, and a tree's node has room for eleven), many are a tree.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use hashbrown::HashMap;

/// Values beyond which a tree takes over.
const FEW: usize = 32;

/// Values with their counts; a count of 0 is no entry, a negative one waits for its insert within the epoch.
#[derive(Debug)]
pub(super) enum Counted<V> {
    Few(Vec<(V, i64)>),
    Many(BTreeMap<V, i64>),
}

/// The counts of one value before and after a change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) before: i64,
    pub(super) after: i64,
}

impl Step {
    /// What the change does to the number of values with a negative count.
    pub(super) fn negatives(self) -> i64 {
        i64::from(self.after < 0) - i64::from(self.before < 0)
    }
}

impl<V: Ord> Counted<V> {
    pub(super) const EMPTY: Self = Counted::Few(Vec::new());

    /// Adds `sign` to the count of a value, which is copied only if it is new.
    pub(super) fn add<Q: Ord + ?Sized>(&mut self, value: &Q, sign: i64, own: impl FnOnce(&Q) -> V) -> Step
    where
        V: Borrow<Q>,
    {
        let before = match self {
            Counted::Few(values) => match values.binary_search_by(|(v, _)| v.borrow().cmp(value)) {
                Ok(found) => {
                    let before = values[found].1;
                    values[found].1 += sign;
                    if before + sign == 0 {
                        values.remove(found);
                    }
                    before
                }
                Err(place) => {
                    values.insert(place, (own(value), sign));
                    0
                }
            },
            Counted::Many(values) => match values.get_mut(value) {
                Some(count) => {
                    let before = *count;
                    *count += sign;
                    if before + sign == 0 {
                        values.remove(value);
                    }
                    before
                }
                None => {
                    values.insert(own(value), sign);
                    0
                }
            },
        };
        self.spread();
        Step { before, after: before + sign }
    }

    fn spread(&mut self) {
        if let Counted::Few(values) = self
            && values.len() > FEW
        {
            *self = Counted::Many(std::mem::take(values).into_iter().collect());
        }
    }

    /// Puts a value with its count behind the last one (reading a snapshot).
    pub(super) fn push(&mut self, value: V, count: i64) {
        match self {
            Counted::Few(values) => values.push((value, count)),
            Counted::Many(values) => drop(values.insert(value, count)),
        }
        self.spread();
    }

    /// All values with their counts, in order.
    pub(super) fn iter(&self) -> Box<dyn DoubleEndedIterator<Item = (&V, i64)> + '_> {
        match self {
            Counted::Few(values) => Box::new(values.iter().map(|(v, c)| (v, *c))),
            Counted::Many(values) => Box::new(values.iter().map(|(v, c)| (v, *c))),
        }
    }

    /// The smallest value that is there.
    pub(super) fn first(&self) -> Option<&V> {
        self.iter().find(|(_, c)| *c > 0).map(|(v, _)| v)
    }

    /// The largest value that is there.
    pub(super) fn last(&self) -> Option<&V> {
        self.iter().rev().find(|(_, c)| *c > 0).map(|(v, _)| v)
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Counted::Few(values) => values.len(),
            Counted::Many(values) => values.len(),
        }
    }

    /// How many values have a negative count.
    pub(super) fn negatives(&self) -> i64 {
        self.iter().filter(|(_, c)| *c < 0).count() as i64
    }
}

/// A [`Counted`] per slot, with what all families that use one need.
#[derive(Debug)]
pub(super) struct CountedSlots<V> {
    slots: Vec<Counted<V>>,
    /// Slots that have values with a negative count, and how many.
    negatives: HashMap<u32, i64>,
    entries: usize,
    heap_bytes: usize,
}

impl<V: Ord> CountedSlots<V> {
    pub(super) fn new() -> Self {
        CountedSlots { slots: vec![], negatives: HashMap::new(), entries: 0, heap_bytes: 0 }
    }

    pub(super) fn resize(&mut self, slots: usize) {
        self.slots.resize_with(slots.max(self.slots.len()), || Counted::EMPTY);
    }

    /// Adds `sign` to the count of `value`, which owns `heap` bytes outside of itself.
    pub(super) fn add<Q: Ord + ?Sized>(&mut self, slot: usize, value: &Q, sign: i64, heap: usize, own: impl FnOnce(&Q) -> V) -> Step
    where
        V: Borrow<Q>,
    {
        let step = self.slots[slot].add(value, sign, own);
        if step.before == 0 {
            self.entries += 1;
            self.heap_bytes += heap;
        }
        if step.after == 0 {
            self.entries = self.entries.saturating_sub(1);
            self.heap_bytes = self.heap_bytes.saturating_sub(heap);
        }
        let change = step.negatives();
        if change != 0 {
            let negatives = self.negatives.entry(slot as u32).or_insert(0);
            *negatives += change;
            if *negatives == 0 {
                self.negatives.remove(&(slot as u32));
            }
        }
        step
    }

    pub(super) fn get(&self, slot: u32) -> &Counted<V> {
        &self.slots[slot as usize]
    }

    pub(super) fn inconsistent(&self, slots: &[u32]) -> bool {
        !self.negatives.is_empty() && slots.iter().any(|s| self.negatives.contains_key(s))
    }

    pub(super) fn clear(&mut self, slot: u32, heap: impl Fn(&V) -> usize) {
        let old = std::mem::replace(&mut self.slots[slot as usize], Counted::EMPTY);
        self.entries = self.entries.saturating_sub(old.len());
        self.heap_bytes = self.heap_bytes.saturating_sub(old.iter().map(|(v, _)| heap(v)).sum());
        self.negatives.remove(&slot);
    }

    /// Takes the values of a snapshot.
    pub(super) fn put(&mut self, slot: u32, values: Counted<V>, heap: impl Fn(&V) -> usize) {
        self.clear(slot, &heap);
        self.entries += values.len();
        self.heap_bytes += values.iter().map(|(v, _)| heap(v)).sum::<usize>();
        let negatives = values.negatives();
        if negatives > 0 {
            self.negatives.insert(slot, negatives);
        }
        self.slots[slot as usize] = values;
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Counted<V>>() + self.entries * size_of::<(V, i64)>() + self.heap_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_count_alike() {
        let mut counted = Counted::EMPTY;
        for v in (0..100i64).rev() {
            counted.add(&v, 1, |v| *v);
            counted.add(&v, 1, |v| *v);
        }
        assert!(matches!(counted, Counted::Many(_)));
        for v in 0..99i64 {
            assert_eq!(counted.add(&v, -1, |v| *v).after, 1);
            assert_eq!(counted.add(&v, -1, |v| *v).after, 0);
        }
        assert_eq!((counted.len(), counted.first(), counted.last()), (1, Some(&99), Some(&99)));
        counted.add(&5, -1, |v| *v);
        assert_eq!((counted.first(), counted.negatives()), (Some(&99), 1));
    }
}
