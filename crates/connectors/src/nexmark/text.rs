//! String columns written straight into offsets and bytes: no string per row.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use millstream_types::Result;

use crate::random::{again, below, push_letters};

/// Shortest random text.
const MIN_TEXT: u64 = 3;

/// A string column under construction.
pub(super) struct TextColumn {
    offsets: Vec<i32>,
    /// The bytes of all rows; push to it, then end the row.
    pub(super) bytes: Vec<u8>,
}

impl TextColumn {
    pub(super) fn new(rows: usize, bytes_per_row: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        TextColumn { offsets, bytes: Vec::with_capacity(rows * bytes_per_row + 64) }
    }

    #[inline]
    pub(super) fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
    }

    #[inline]
    pub(super) fn end_row(&mut self) {
        self.offsets.push(self.bytes.len() as i32);
    }

    /// The array. Arrow checks that the bytes are UTF-8.
    pub(super) fn finish(self) -> Result<ArrayRef> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        Ok(Arc::new(StringArray::try_new(offsets, Buffer::from_vec(self.bytes), None)?))
    }
}

/// How long a random text of at most `most` bytes is.
#[inline]
pub(super) fn text_len(h: u64, most: u64) -> u64 {
    MIN_TEXT + below(h, most - MIN_TEXT)
}

/// A random text: letters, one in 13 a space, none of them at an end.
pub(super) fn push_text(out: &mut Vec<u8>, h: u64, most: u64) {
    let start = out.len();
    push_letters(out, h, text_len(h, most) as usize);
    let last = out.len() - 1;
    let mut spaces = h;
    for chunk in out[start + 1..last].chunks_mut(8) {
        spaces = again(spaces);
        for (letter, random) in chunk.iter_mut().zip(spaces.to_le_bytes()) {
            if random < 20 {
                *letter = b' ';
            }
        }
    }
}

/// Letters that bring a row of `used` bytes to about `mean`, give or take a fifth of what is missing.
#[inline]
pub(super) fn push_extra(out: &mut Vec<u8>, h: u64, used: u64, mean: u64) {
    if used > mean {
        return;
    }
    let wanted = mean - used;
    let delta = (wanted + 2) / 5;
    push_letters(out, h, (wanted - delta + below(h, 2 * delta)) as usize);
}
