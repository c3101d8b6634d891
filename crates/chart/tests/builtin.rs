//! The machines in the binary: they are read, described, and survive being written out.

use interlock_chart::{canonical::same, diagnostic::render, library, yaml};
use std::path::Path;

fn machines() -> Vec<library::Source> {
    library::builtin_names().map(|name| library::load(name, Path::new("/")).unwrap()).collect()
}

#[test]
fn every_built_in_machine_is_without_errors() {
    for source in machines() {
        let reading = source.read();
        let shown: String = reading
            .diagnostics
            .iter()
            .map(|problem| render(problem, &source.file_name(), &source.text, false))
            .collect();
        assert!(reading.diagnostics.is_empty(), "{shown}");
    }
}

#[test]
fn a_built_in_machine_that_is_written_out_is_the_same() {
    for source in machines() {
        let chart = source.read().chart.unwrap();
        let written = yaml::write(&yaml::unresolve(&chart));
        let reading = yaml::read(&written);
        let shown: String =
            reading.diagnostics.iter().map(|problem| render(problem, "written", &written, false)).collect();
        let again = reading.chart.unwrap_or_else(|| panic!("{shown}"));
        assert_eq!(again.canonical(), chart.canonical(), "{}", source.name);
        assert!(same(&again, &chart));
    }
}
