/// The mean.
///
/// ```
/// assert_eq!(mean::mean(&[1, 2]), 1.5);
/// ```
pub fn mean(items: &[i32]) -> f64 {
    f64::from(items.iter().sum::<i32>()) / items.len() as f64
}
