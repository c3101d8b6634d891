//! Round trips: a chart that is exported and imported again is the same chart.

use interlock_chart::{Chart, describe, file::MachineFile, unresolve::machine_file, yaml};
use interlock_exchange::{self as exchange, Format};

/// A machine that uses every feature.
const EVERYTHING: &str = include_str!("../exchange/everything.yaml");

/// The same machine with the rule of SCXML for expressions that fail.
const AS_SCXML: &str = concat!("semantics: scxml\n", include_str!("../exchange/everything.yaml"));

/// A machine with two regions whose activities finish with the same signals, and a third region that names one of them.
const LINT_AND_TESTS: &str = include_str!("../../../../../examples/lint-and-tests/machine.yaml");

const MACHINES: [(&str, &str); 8] = [
    ("lint-and-tests", LINT_AND_TESTS),
    ("everything", EVERYTHING),
    ("as-scxml", AS_SCXML),
    ("brain", include_str!("../../../../../machines/brain/machine.yaml")),
    ("coder", include_str!("../../../../../machines/coder/machine.yaml")),
    ("notebook", include_str!("../../../../../machines/notebook/machine.yaml")),
    ("prd", include_str!("../../../../../machines/prd/machine.yaml")),
    ("firmware", include_str!("../../../../../machines/firmware/machine.yaml")),
];

fn read(text: &str) -> Chart {
    let reading = yaml::read(text);
    let problems = reading.diagnostics.iter().filter(|problem| problem.is_error());
    let problems: String = problems.map(|p| format!("{} at {}: {}\n", p.code, p.span.start, p.message)).collect();
    reading.chart.unwrap_or_else(|| panic!("{problems}"))
}

/// Writes a file and reads it back.
fn reread(file: &MachineFile) -> Chart {
    read(&yaml::write(file))
}

fn assert_same(name: &str, before: &Chart, after: &Chart) {
    let (before, after) = (before.canonical(), after.canonical());
    let pretty = |json: &serde_json::Value| serde_json::to_string_pretty(json).unwrap();
    let (before, after) = (pretty(&before), pretty(&after));
    if before != after {
        let at = before.lines().zip(after.lines()).position(|(one, other)| one != other).unwrap_or_default();
        let around = |text: &str| text.lines().skip(at.saturating_sub(12)).take(20).collect::<Vec<_>>().join("\n");
        panic!("{name}: from line {at}, before:\n{}\nafter:\n{}", around(&before), around(&after));
    }
}

fn check(format: Format) {
    for (name, text) in MACHINES {
        let chart = read(text);
        let exported = exchange::export(&chart, format);
        let imported = exchange::import(&exported.text, None, "other");
        let imported = imported.unwrap_or_else(|problems| panic!("{name}: {problems:#?}\n{}", exported.text));
        assert_eq!(imported.warnings, Vec::<String>::new(), "{name}");
        assert_same(name, &chart, &reread(&imported.file));
    }
}

#[test]
fn a_restored_machine_file_gives_the_same_chart() {
    for (name, text) in MACHINES {
        let chart = read(text);
        assert_same(name, &chart, &reread(&machine_file(&chart)));
    }
}

#[test]
fn the_semantics_are_part_of_the_hash_and_of_the_description() {
    let (native, scxml) = (read(EVERYTHING), read(AS_SCXML));
    assert_ne!(native.content_hash(&[]), scxml.content_hash(&[]));
    assert_eq!(describe::json(&scxml)["semantics"], "scxml");
    assert_eq!(describe::json(&native).get("semantics"), None);
}

#[test]
fn scxml_round_trips() {
    check(Format::Scxml);
}

#[test]
fn xstate_round_trips() {
    check(Format::Xstate);
}

#[test]
fn an_ambiguous_signal_is_exported_with_its_qualified_name() {
    let chart = read(LINT_AND_TESTS);
    let scxml = exchange::export(&chart, Format::Scxml).text;
    assert!(scxml.contains(r#"event="linting.passed" il:event="passed" target="linted""#), "{scxml}");
    assert!(scxml.contains(r#"event="testing.passed" target="told""#), "{scxml}");
    let xstate = exchange::export(&chart, Format::Xstate).text;
    assert!(xstate.contains(r#""linting.passed""#) && xstate.contains(r#""testing.passed""#), "{xstate}");
    for format in [Format::Mermaid, Format::Dot] {
        let text = exchange::export(&chart, format).text;
        assert!(text.contains("testing.passed"), "{text}");
    }
}

#[test]
fn promela_distinguishes_the_signals_of_two_states() {
    let text = "machine: m\nversion: 1\ninitial: a\non: {error: c, b.passed: c}\nstates:\n  \
                a: {invoke: {activity: x, signals: [passed]}, on: {passed: b}}\n  \
                b: {invoke: {activity: y, signals: [passed]}}\n  c: {type: final, outcome: success}\n";
    let model = exchange::export(&read(text), Format::Promela).text;
    assert!(model.contains("/* b.passed */") && model.contains("/* passed */"), "{model}");
}
