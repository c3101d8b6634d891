//! Limits match their description: the example that users copy promises "five attempts" and makes five.

use std::sync::Arc;

use interlock_chart::yaml;
use interlock_checker::{Options, check};

const EXAMPLE: &str = include_str!("../../../../../examples/fix-until-green/machine.yaml");

/// Returns true if the example enters `changing` at most `times` times.
fn changes_at_most(times: u32) -> bool {
    let text = format!("{EXAMPLE}\n  - at_most: {times}\n    of: changing\n");
    let report = check(Arc::new(yaml::read(&text).chart.unwrap()), &Options::default());
    report.properties.last().unwrap().ok
}

#[test]
fn the_example_makes_exactly_the_promised_number_of_attempts() {
    assert!(EXAMPLE.contains("five times at most") && EXAMPLE.contains("five attempts were not enough"));
    assert!(changes_at_most(5), "it changes the code more than five times");
    assert!(!changes_at_most(4), "it gives up before the fifth attempt");
}
