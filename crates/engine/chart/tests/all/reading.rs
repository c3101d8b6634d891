//! Valid machine files and their charts.

use interlock_chart::{
    Chart,
    canonical::same,
    diagnostic::render,
    model::{Kind, Max, Raiser},
    unresolve, yaml,
};

const FIX: &str = include_str!("../good/fix-until-green.yaml");
const EVERYTHING: &str = include_str!("../good/everything.yaml");

fn read(source: &str) -> Chart {
    let reading = yaml::read(source);
    let shown: String =
        reading.diagnostics.iter().map(|problem| render(problem, "machine.yaml", source, false)).collect();
    assert!(shown.is_empty(), "{shown}");
    reading.chart.unwrap()
}

#[test]
fn the_example_of_the_manual_is_read() {
    let chart = read(FIX);
    let names: Vec<&str> = chart.states.iter().map(|state| state.name.as_str()).collect();
    assert_eq!(names, ["fix-until-green", "changing", "testing", "fixed", "failed", "aborted"]);
    assert_eq!(chart.properties[1].name, "never fixed without testing.passed since changing");
    assert_eq!((chart.counters[0].name.as_str(), chart.counters[0].max), ("testing.failed#1", 4));
}

#[test]
fn defaults_and_shorthands_are_filled_in() {
    let chart = read(EVERYTHING);
    let state = |name: &str| chart.state(chart.find_state(name).unwrap());
    assert_eq!((state("first").timeout_ms, state("first").timeout_inherited), (Some(1_200_000), true));
    assert_eq!(state("second").timeout_ms, None);
    assert_eq!((state("r1").timeout_ms, state("r1").timeout_inherited), (Some(90_000), false));
    assert_eq!(state("left").initial.as_ref().unwrap().targets, [state("l1").id]);
    assert_eq!((state("remember").kind, state("shallow").kind), (Kind::DeepHistory, Kind::ShallowHistory));
    assert_eq!(state("shallow").initial.as_ref().unwrap().targets, [state("r1").id], "its parent's initial state");
    let split = chart.transition(state("split").transitions[0]);
    assert_eq!(split.events[0].text, "done.state.split");
    let working = chart.transition(state("working").transitions[0]);
    assert_eq!(working.events.iter().map(|event| event.text.as_str()).collect::<Vec<_>>(), ["go", "tick"]);
    let max: Vec<u32> =
        chart.transitions.iter().flat_map(|transition| &transition.limits).map(|limit| limit.max.at_most()).collect();
    assert_eq!(max, [2, 7, 5, 7]);
    assert!(matches!(
        chart.transitions.iter().flat_map(|transition| &transition.limits).nth(1).unwrap().max,
        Max::Input { .. }
    ));
    assert_eq!(chart.counters[0].max, 7, "the largest of its limits");
}

#[test]
fn events_are_collected_with_their_sources() {
    let chart = read(EVERYTHING);
    let events: Vec<(&str, Raiser)> = chart.events.iter().map(|event| (event.name.as_str(), event.from)).collect();
    let expected = [
        ("go", Raiser::User),
        ("stop", Raiser::Any),
        ("tick", Raiser::Any),
        ("passed", Raiser::Activity),
        ("failed", Raiser::Activity),
        ("unsure", Raiser::Activity),
        ("nudge", Raiser::Machine),
        ("error", Raiser::Machine),
        ("timeout", Raiser::Timer),
        ("done.state.working", Raiser::Machine),
        ("done.state.split", Raiser::Machine),
        ("timeout.r1", Raiser::Timer),
    ];
    assert_eq!(events, expected);
}

#[test]
fn a_machine_round_trips() {
    for source in [FIX, EVERYTHING] {
        let chart = read(source);
        let written = yaml::write(&unresolve::machine_file(&chart));
        let again = read(&written);
        assert_eq!(again.canonical(), chart.canonical(), "{written}");
        assert!(same(&again, &chart));
        assert_eq!(again.hash, chart.hash);
        assert_eq!(yaml::write(&unresolve::machine_file(&again)), written, "writing settles");
    }
}

#[test]
fn the_hash_covers_the_meaning_and_the_directory() {
    let chart = read(FIX);
    let laid_out_otherwise = format!("# a comment\n{}", FIX.replace("{ target: testing }", "testing"));
    assert_eq!(read(&laid_out_otherwise).hash, chart.hash);
    assert_ne!(read(&FIX.replace("limit: 4", "limit: 6")).hash, chart.hash);
    let prompt = |text: &str| vec![("prompts/a.md".to_owned(), text.as_bytes().to_vec())];
    let with = |text: &str| yaml::read_folder(FIX, &prompt(text)).chart.unwrap().hash;
    assert_ne!(with("a"), chart.hash);
    assert_ne!(with("a"), with("b"));
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_accepted() {
    let chart = read(&format!("\u{feff}{}", FIX.replace('\n', "\r\n")));
    assert_eq!(chart.hash, read(FIX).hash);
}
