//! The machines in the binary: they are read, described, and written back without loss.

use interlock_chart::{Chart, canonical::same, describe, diagnostic::render, library, unresolve, yaml};
use std::path::Path;

fn machines() -> Vec<library::Source> {
    let found: Vec<_> = library::builtin_names().map(|name| library::load(name, Path::new("/")).unwrap()).collect();
    assert_eq!(found.len(), 5);
    found
}

fn read(name: &str, source: &str, reading: yaml::ReadResult) -> Chart {
    let shown: String = reading.diagnostics.iter().map(|problem| render(problem, name, source, false)).collect();
    assert!(shown.is_empty(), "{shown}");
    reading.chart.unwrap()
}

#[test]
fn built_in_machines_have_no_problems() {
    let mut shown = String::new();
    for source in machines() {
        let reading = source.read();
        let problems =
            reading.diagnostics.iter().map(|problem| render(problem, &source.file_name(), &source.text, false));
        shown.extend(problems);
    }
    assert!(shown.is_empty(), "{shown}");
}

/// A run names its machine by this hash: if it changes without a change of the machine's folder, old runs can no longer be read.
#[test]
fn definition_hashes_of_the_built_in_machines_are_the_golden_ones() {
    let line = |source: &library::Source| {
        let chart = read(&source.name, &source.text, source.read());
        format!("{} {}\n", chart.hash, source.name)
    };
    let hashes: String = machines().iter().map(line).collect();
    expect_test::expect_file!["../golden/definition-hashes.txt"].assert_eq(&hashes);
}

#[test]
fn a_built_in_machine_round_trips() {
    for source in machines() {
        let chart = read(&source.name, &source.text, source.read());
        let written = yaml::write(&unresolve::machine_file(&chart));
        let again = read("written.yaml", &written, yaml::read(&written));
        assert_eq!(again.canonical(), chart.canonical(), "{}", source.name);
        assert!(same(&again, &chart));
    }
}

#[test]
fn a_described_machine_has_its_states_events_and_transitions() {
    for source in machines() {
        let chart = read(&source.name, &source.text, source.read());
        let json = describe::json(&chart);
        assert_eq!(json["id"], source.name);
        assert_eq!(json["states"].as_array().unwrap().len(), chart.states.len() - 1);
        assert_eq!(json["events"].as_array().unwrap().len(), chart.events.len());
        let rows: usize = chart.transitions.iter().map(|transition| transition.events.len().max(1)).sum();
        assert_eq!(json["transitions"].as_array().unwrap().len(), rows);
        assert!(chart.states.iter().skip(1).all(|state| describe::text(&chart).contains(&state.name)));
    }
}
