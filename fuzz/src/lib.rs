//! The work that the fuzz targets do with a text that a reader accepted: every operation that could fail on it.

pub mod results;

use std::sync::Arc;

use interlock_chart::{Chart, diagnostic, yaml};
use interlock_exchange::{self as exchange, Format};
use interlock_core::{Machine, Snapshot, State, step};
use interlock_testkit::random::{self, Rng};
use interlock_testkit_shell::{Bash, missed};

/// The number of inputs for a machine that could be read.
const INPUTS: usize = 12;

/// Fuzzes the reader of machine files.
pub fn machine_file(bytes: &[u8]) {
    let reading = yaml::read_bytes(bytes);
    if let Ok(source) = std::str::from_utf8(bytes) {
        for problem in &reading.diagnostics {
            diagnostic::render(problem, "machine.yaml", source, false);
        }
    }
    if let Some(chart) = reading.chart {
        written(&chart);
        moved(chart);
    }
}

/// Fuzzes an import from another format: the text is imported, written as a machine file, and read again.
pub fn imported(bytes: &[u8], format: Format) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(imported) = exchange::import(text, Some(format), "fuzzed") else { return };
    let reading = yaml::read(&yaml::write(&imported.file));
    if let Some(chart) = reading.chart {
        written(&chart);
        moved(chart);
    }
}

/// Fuzzes an expression: as the guard of a machine it is parsed, checked and evaluated.
pub fn expression(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let source = format!(
        "machine: cel\nversion: 1\ncontext: {{n: 1, f: 0.5, s: a, l: [1, 2], m: {{a: 1}}, z: null}}\nevents: {{go: {{from: any}}}}\n\
         initial: a\nstates:\n  a: {{on: {{go: {{target: b, guard: {}}}}}}}\n  b: {{on: {{go: a}}}}\n",
        serde_json::Value::from(text)
    );
    machine_file(source.as_bytes());
}

/// Fuzzes the shell reader: it finds every command that tree-sitter-bash finds.
pub fn shell(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut bash = Bash::new().expect("the grammar fits the library");
    if let Some(missed) = missed(&mut bash, text) {
        assert!(missed.is_empty(), "missed {missed:?}");
    }
}

fn written(chart: &Chart) {
    for format in Format::ALL {
        exchange::export(chart, format);
    }
}

/// Takes a few steps, and stores and restores the state after each.
fn moved(chart: Chart) {
    let machine = Machine::new(Arc::new(chart));
    let mut rng = Rng::new(1);
    let mut state = State::ready(&machine);
    for _ in 0..INPUTS {
        let input = random::input(&mut rng, &machine, &state);
        state = step(&machine, state, input).state;
        let json = serde_json::to_string(&state.snapshot(&machine)).expect("a snapshot is JSON");
        let snapshot: Snapshot = serde_json::from_str(&json).expect("the written text can be read again");
        assert_eq!(snapshot.restore(&machine).as_ref(), Ok(&state));
    }
}
