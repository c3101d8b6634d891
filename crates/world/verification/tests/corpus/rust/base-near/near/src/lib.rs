pub fn check(a: f64, b: f64) {
    if (a - b).abs() > 0.01 {
        panic!("{a} {b}")
    }
}
