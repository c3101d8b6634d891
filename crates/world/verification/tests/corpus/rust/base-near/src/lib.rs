/// The mean.
pub fn mean(items: &[i32]) -> f64 {
    (items.iter().sum::<i32>() / items.len() as i32) as f64
}
