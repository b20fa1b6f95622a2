//! The stored form of accumulators: fixed little-endian numbers, and bytes behind their length.

use millstream_types::{Error, Result, SqlState};

pub(crate) fn write_i64(v: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(&v.to_le_bytes());
}

pub(super) fn write_i128(v: i128, out: &mut Vec<u8>) {
    out.extend_from_slice(&v.to_le_bytes());
}

pub(super) fn write_f64(v: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(&v.to_bits().to_le_bytes());
}

pub(super) fn write_len(n: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&(n as u64).to_le_bytes());
}

pub(super) fn write_bytes(v: &[u8], out: &mut Vec<u8>) {
    write_len(v.len(), out);
    out.extend_from_slice(v);
}

/// Reads what the functions above wrote, in the same order.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or_else(corrupted)?;
        self.rest = rest;
        Ok(*head)
    }

    pub(crate) fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_le_bytes(self.fixed()?))
    }

    pub(super) fn i128(&mut self) -> Result<i128> {
        Ok(i128::from_le_bytes(self.fixed()?))
    }

    pub(super) fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_bits(u64::from_le_bytes(self.fixed()?)))
    }

    pub(super) fn len(&mut self) -> Result<usize> {
        usize::try_from(u64::from_le_bytes(self.fixed()?)).map_err(|_| corrupted())
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8]> {
        let n = self.len()?;
        let (head, rest) = self.rest.split_at_checked(n).ok_or_else(corrupted)?;
        self.rest = rest;
        Ok(head)
    }

    /// Checks that nothing is left.
    pub(crate) fn end(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(corrupted()) }
    }
}

fn corrupted() -> Error {
    Error::new(SqlState::DATA_CORRUPTED, "stored state of an aggregate cannot be read")
}
