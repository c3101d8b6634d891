//! Good machine files and what they mean.

use interlock_chart::{Chart, diagnostic::render, yaml};

fn read(source: &str) -> Chart {
    let reading = yaml::read(source);
    let shown: String =
        reading.diagnostics.iter().map(|problem| render(problem, "machine.yaml", source, false)).collect();
    assert!(shown.is_empty(), "{shown}");
    reading.chart.unwrap()
}

const FIX: &str = include_str!("good/fix-until-green.yaml");

#[test]
fn the_example_of_the_manual_is_read() {
    let chart = read(FIX);
    assert_eq!(chart.states.len(), 6);
}
