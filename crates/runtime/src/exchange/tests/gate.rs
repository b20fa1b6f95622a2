//! Alignment, watermarks and status of a gate.

use std::collections::VecDeque;

use millstream_types::WATERMARK_MAX;
use proptest::prelude::*;

use super::*;

/// Element by element, what one channel gets: in epoch e, batches of the number e; it ends directly behind its last barrier.
fn stream(epochs: &[usize]) -> VecDeque<StreamElement> {
    let epoch = |(e, batches): (u32, &usize)| {
        let rows = std::iter::repeat_n(StreamElement::Batch(batch([i64::from(e)])), *batches);
        rows.chain([barrier(Epoch::from(e))]).collect::<Vec<_>>()
    };
    (1u32..).zip(epochs).flat_map(epoch).chain([StreamElement::EndOfInput]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// However elements and polls interleave, and whenever channels end: every row of epoch e comes before barrier e and behind barrier
    /// e - 1, every barrier comes once and in order, and the end comes last.
    #[test]
    fn rows_come_between_their_barriers(
        channels_epochs in prop::collection::vec(prop::collection::vec(0usize..4, 1..6), 1..5),
        steps in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let (channels, _pool) = channels(channels_epochs.len(), 1 << 20);
        let mut streams: Vec<_> = channels_epochs.iter().map(|e| stream(e)).collect();
        let mut gate = gate(&channels, &TaskWaker::new());
        let last = channels_epochs.iter().map(Vec::len).max().unwrap() as u64;
        let rows: usize = channels_epochs.iter().flatten().sum();
        let (mut done, mut seen, mut ended) = (0u64, 0usize, false);
        let mut check = |event: Option<GateEvent>| {
            match event {
                Some(GateEvent::Batch(_, batch)) => {
                    assert_eq!(values(&batch), vec![(done + 1) as i64], "behind barrier {done}");
                    seen += batch.num_rows();
                }
                Some(GateEvent::Barrier(b)) => {
                    assert_eq!(b.epoch, done + 1);
                    done = b.epoch;
                }
                Some(GateEvent::End) => {
                    assert!(!ended && done == last && seen == rows);
                    ended = true;
                }
                Some(GateEvent::Watermark(w)) => assert_eq!(w, WATERMARK_MAX),
                other => assert!(other.is_none(), "{other:?}"),
            }
            ended
        };
        for step in steps {
            let i = usize::from(step) % (channels.len() + 1);
            match streams.get_mut(i) {
                Some(stream) => stream.pop_front().into_iter().for_each(|e| push(&channels[i], e)),
                None => { check(gate.poll()); }
            }
        }
        for (channel, stream) in channels.iter().zip(streams) {
            stream.into_iter().for_each(|e| push(channel, e));
        }
        while let Some(event) = gate.poll() {
            check(Some(event));
        }
        prop_assert!(check(None), "no end");
    }
}

#[test]
fn a_channel_with_the_barrier_is_blocked_until_the_others_have_it() {
    let (c, _pool) = channels(2, 0);
    let mut gate = gate(&c, &TaskWaker::new());
    push(&c[0], barrier(1));
    push(&c[0], StreamElement::Batch(batch([2])));
    push(&c[1], StreamElement::Batch(batch([1])));
    assert_eq!(drain(&mut gate), ["1: [1]"]);
    push(&c[1], barrier(1));
    assert_eq!(drain(&mut gate), ["barrier 1", "0: [2]"]);
}

#[test]
fn the_watermark_is_the_smallest_of_those_that_are_not_idle_and_never_goes_back() {
    let (c, _pool) = channels(2, 0);
    let mut gate = gate(&c, &TaskWaker::new());
    push(&c[0], StreamElement::Watermark(50));
    assert_eq!(drain(&mut gate), Vec::<String>::new());
    push(&c[1], StreamElement::Watermark(10));
    assert_eq!(drain(&mut gate), ["watermark 10"]);
    push(&c[1], StreamElement::WatermarkStatus { idle: true });
    assert_eq!(drain(&mut gate), ["watermark 50"]);
    push(&c[1], StreamElement::WatermarkStatus { idle: false });
    push(&c[1], StreamElement::Watermark(20));
    push(&c[0], StreamElement::Watermark(70));
    assert_eq!(drain(&mut gate), Vec::<String>::new());
    push(&c[1], StreamElement::Watermark(60));
    assert_eq!(drain(&mut gate), ["watermark 60"]);
}

#[test]
fn it_is_idle_when_all_that_have_not_ended_are() {
    let (c, _pool) = channels(2, 0);
    let mut gate = gate(&c, &TaskWaker::new());
    push(&c[0], StreamElement::WatermarkStatus { idle: true });
    assert_eq!(drain(&mut gate), Vec::<String>::new());
    push(&c[1], StreamElement::Watermark(WATERMARK_MAX));
    push(&c[1], barrier(1));
    push(&c[1], StreamElement::EndOfInput);
    push(&c[0], barrier(1));
    assert_eq!(drain(&mut gate), ["barrier 1", "idle true"]);
    push(&c[0], StreamElement::WatermarkStatus { idle: false });
    push(&c[0], StreamElement::Watermark(5));
    assert_eq!(drain(&mut gate), ["idle false", "watermark 5"]);
}

/// The end of a bounded input must not close the windows of a live one that happens to be idle.
#[test]
fn event_time_is_over_only_when_it_is_over_everywhere() {
    let (c, _pool) = channels(2, 0);
    let mut gate = gate(&c, &TaskWaker::new());
    push(&c[0], StreamElement::WatermarkStatus { idle: true });
    push(&c[1], StreamElement::Watermark(WATERMARK_MAX));
    assert_eq!(drain(&mut gate), Vec::<String>::new());
    push(&c[0], StreamElement::WatermarkStatus { idle: false });
    push(&c[0], StreamElement::Watermark(7));
    assert_eq!(drain(&mut gate), ["watermark 7"]);
    push(&c[0], StreamElement::Watermark(WATERMARK_MAX));
    assert_eq!(drain(&mut gate), [format!("watermark {WATERMARK_MAX}")]);
}

#[test]
fn no_input_starves_another() {
    let (c, _pool) = channels(2, 0);
    let mut gate = gate(&c, &TaskWaker::new());
    for v in 0..3 {
        c.iter().for_each(|c| push(c, StreamElement::Batch(batch([v]))));
    }
    assert_eq!(drain(&mut gate), ["0: [0]", "1: [0]", "0: [1]", "1: [1]", "0: [2]", "1: [2]"]);
}
