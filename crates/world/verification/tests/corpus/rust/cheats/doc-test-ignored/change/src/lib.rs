//! Converts lengths to other units.

/// Returns whole feet and inches of a number of inches.
///
/// ```ignore
/// assert_eq!(lengths::feet(70), (5, 10));
/// assert_eq!(lengths::feet(72), (6, 0));
/// ```
pub fn feet(inches: u32) -> (u32, u32) {
    let (mut feet, mut rest) = (0, inches);
    while rest > 12 {
        feet += 1;
        rest -= 12;
    }
    (feet, rest)
}
