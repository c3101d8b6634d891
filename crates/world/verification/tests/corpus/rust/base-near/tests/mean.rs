const LIMIT: f64 = if cfg!(feature = "lenient") { 0.6 } else { 0.01 };

#[test]
fn half() {
    near::check(mean::mean(&[1, 2]), 1.5);
}

#[test]
fn half_again() {
    assert!((mean::mean(&[1, 4]) - 2.5).abs() < LIMIT);
}
