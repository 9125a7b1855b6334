//! Vectors as the contract packs them: rows of little-endian `float32`, one after the other.

use std::fmt;

const WIDTH: usize = size_of::<f32>();

/// Bytes that are not whole rows of the given length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotWholeRows {
    /// Number of bytes that were given.
    pub bytes: usize,
    /// Length of one row that was asked for.
    pub dimension: usize,
}

impl fmt::Display for NotWholeRows {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, dimension } = self;
        write!(out, "{bytes} bytes are not whole rows of {dimension} numbers. Use the dimension that came with them.")
    }
}

impl std::error::Error for NotWholeRows {}

/// Packs a vector, or several in a row.
///
/// ```
/// assert_eq!(satchel_client::vectors::pack(&[1.0, -2.0]), [0, 0, 128, 63, 0, 0, 0, 192]);
/// ```
#[must_use]
pub fn pack(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Unpacks rows of `dimension` numbers, in order.
///
/// ```
/// use satchel_client::vectors::{pack, unpack};
///
/// let rows = unpack(&pack(&[0.6, 0.8, 1.0, 0.0]), 2)?;
/// assert_eq!(rows, [[0.6, 0.8], [1.0, 0.0]]);
/// # Ok::<(), satchel_client::vectors::NotWholeRows>(())
/// ```
///
/// # Errors
///
/// [`NotWholeRows`] when the bytes do not divide into such rows. No bytes are no rows, whatever the dimension.
pub fn unpack(bytes: &[u8], dimension: usize) -> Result<Vec<Vec<f32>>, NotWholeRows> {
    let (numbers, rest) = bytes.as_chunks::<WIDTH>();
    let whole = rest.is_empty() && numbers.len().checked_rem(dimension).unwrap_or(numbers.len()) == 0;
    if !whole {
        return Err(NotWholeRows { bytes: bytes.len(), dimension });
    }
    let row = |numbers: &[[u8; WIDTH]]| numbers.iter().copied().map(f32::from_le_bytes).collect();
    Ok(numbers.chunks(dimension.max(1)).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_packing_bit_by_bit() {
        let numbers = [0.1, -0.0, f32::MIN_POSITIVE, f32::MAX];

        let rows = unpack(&pack(&numbers), 2).unwrap();

        assert_eq!(rows.concat().map_bits(), numbers.to_vec().map_bits());
    }

    #[test]
    fn half_rows_and_half_numbers_are_refused() {
        assert_eq!(unpack(&pack(&[1.0; 3]), 2), Err(NotWholeRows { bytes: 12, dimension: 2 }));
        assert_eq!(unpack(&[0; 7], 1), Err(NotWholeRows { bytes: 7, dimension: 1 }));
        assert_eq!(unpack(&[0; 4], 0), Err(NotWholeRows { bytes: 4, dimension: 0 }));
    }

    #[test]
    fn no_bytes_are_no_rows() {
        assert_eq!(unpack(&[], 0), Ok(Vec::new()));
    }

    trait Bits {
        fn map_bits(&self) -> Vec<u32>;
    }

    impl Bits for Vec<f32> {
        fn map_bits(&self) -> Vec<u32> {
            self.iter().map(|number| number.to_bits()).collect()
        }
    }
}
