//! Random values that depend on nothing but (seed, column, row number): no state, so any split or projection gives the same rows.

/// The odd constant of SplitMix64's counter.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// SplitMix64's output function (Steele, Lea, Flood 2014): every input bit reaches every output bit.
#[inline]
pub(crate) fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The random numbers of one column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomColumn {
    key: u64,
}

impl RandomColumn {
    /// Columns of one seed are independent of each other.
    pub(crate) fn new(seed: u64, column: u64) -> Self {
        RandomColumn { key: mix(mix(seed).wrapping_add(column.wrapping_add(1).wrapping_mul(GOLDEN))) }
    }

    /// The number of row `n`.
    #[inline]
    pub(crate) fn at(self, n: u64) -> u64 {
        mix(self.key.wrapping_add(n.wrapping_mul(GOLDEN)))
    }
}

/// One more number from a number.
#[inline]
pub(crate) fn again(h: u64) -> u64 {
    mix(h.wrapping_add(GOLDEN))
}

/// Maps the high bits of `h` to `0..bound`.
#[inline]
pub(crate) fn below(h: u64, bound: u64) -> u64 {
    ((u128::from(h) * u128::from(bound)) >> 64) as u64
}

/// A number in `0.0 .. 1.0`.
#[inline]
pub(crate) fn unit(h: u64) -> f64 {
    (h >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Eight letters `a` to `z`, two bytes of the product per letter, eight letters at a time.
#[inline]
fn eight_letters(x: u64) -> u64 {
    const EVEN: u64 = 0x00FF_00FF_00FF_00FF;
    let even = ((x & EVEN).wrapping_mul(26) >> 8) & EVEN;
    let odd = ((x >> 8) & EVEN).wrapping_mul(26) & !EVEN;
    (even | odd).wrapping_add(0x6161_6161_6161_6161)
}

/// Appends `len` letters that depend on `h`.
#[inline]
pub(crate) fn push_letters(out: &mut Vec<u8>, h: u64, len: usize) {
    let end = out.len() + len;
    let mut state = h;
    while out.len() < end {
        let mut chunk = [0u8; 32];
        for word in chunk.chunks_exact_mut(8) {
            state = state.wrapping_add(GOLDEN);
            let x = (state ^ (state >> 32)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            word.copy_from_slice(&eight_letters(x ^ (x >> 29)).to_le_bytes());
        }
        out.extend_from_slice(&chunk);
    }
    out.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_letters_and_all_of_them() {
        let mut out = vec![];
        for n in 0..2_000 {
            push_letters(&mut out, mix(n), (n % 70) as usize);
        }
        let mut seen = [0usize; 26];
        for b in &out {
            assert!(b.is_ascii_lowercase());
            seen[usize::from(b - b'a')] += 1;
        }
        let mean = out.len() / 26;
        assert!(seen.iter().all(|&c| c > mean * 8 / 10 && c < mean * 12 / 10), "{seen:?}");
    }

    #[test]
    fn a_prefix_does_not_depend_on_the_length() {
        let (mut short, mut long) = (vec![], vec![]);
        push_letters(&mut short, 7, 13);
        push_letters(&mut long, 7, 90);
        assert_eq!(short[..], long[..13]);
    }

    #[test]
    fn numbers_fill_their_range_evenly() {
        let column = RandomColumn::new(1, 2);
        let mut seen = [0usize; 10];
        for n in 0..100_000 {
            seen[below(column.at(n), 10) as usize] += 1;
            assert!((0.0..1.0).contains(&unit(column.at(n))));
        }
        assert!(seen.iter().all(|&c| c > 9_500 && c < 10_500), "{seen:?}");
    }
}
