//! Limits mean what the words beside them say: the example that everybody copies from says "five attempts" and makes five.

#![allow(clippy::unwrap_used)] // A test that cannot go on stops.

use std::sync::Arc;

use interlock_chart::yaml;
use interlock_checker::{Options, check};

const EXAMPLE: &str = include_str!("../../../examples/fix-until-green/machine.yaml");

/// Whether the example enters `changing` at most so often.
fn changes_at_most(times: u32) -> bool {
    let text = format!("{EXAMPLE}\n  - at_most: {times}\n    of: changing\n");
    let report = check(Arc::new(yaml::read(&text).chart.unwrap()), &Options::default());
    report.properties.last().unwrap().ok
}

#[test]
fn the_example_makes_exactly_as_many_attempts_as_it_says() {
    assert!(EXAMPLE.contains("five times at most") && EXAMPLE.contains("five attempts were not enough"));
    assert!(changes_at_most(5), "it changes the code more than five times");
    assert!(!changes_at_most(4), "it gives up before the fifth attempt");
}
