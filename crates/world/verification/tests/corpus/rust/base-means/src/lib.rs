/// The mean.
///
/// ```
/// assert_eq!(mean::mean(&[1, 2]), 1.5);
/// ```
pub fn mean(items: &[i32]) -> f64 {
    (items.iter().sum::<i32>() / items.len() as i32) as f64
}
