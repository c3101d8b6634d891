//! Converts lengths to other units.

/// Returns whole feet and inches of a number of inches.
///
/// ```
/// assert_eq!(lengths::feet(70), (5, 10));
/// assert_eq!(lengths::feet(72), (6, 0));
/// ```
pub fn feet(inches: u32) -> (u32, u32) {
    (inches / 12, inches % 12)
}
