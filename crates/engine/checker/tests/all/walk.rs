//! The engine's `step` takes every transition of every built-in machine, with data that fits the schemas. The table of
//! transitions in each machine's README is generated from these walks.
//!
//! `UPDATE_EXPECT=1` writes the tables.

use std::{env, fmt::Write, fs, path::PathBuf, sync::Arc};

use interlock_chart::{
    Chart,
    model::{Max, Part, StateId, Template, Transition, TransitionId},
    yaml,
};
use interlock_checker::{Counterexample, Options, ways};
use interlock_core::{Input, Machine, State, step};
use interlock_testkit::walk::{First, Leg, Walker};

const MARKS: (&str, &str) = ("<!-- transitions -->\n", "<!-- /transitions -->");

/// A machine with more configurations than this is explored with its counters open, which finds most paths faster.
const EXACT_MAX: usize = 20_000;

fn check(machine: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../machines").join(machine);
    let source = fs::read_to_string(folder.join("machine.yaml")).unwrap();
    let reading = yaml::read(&source);
    let machine = Machine::new(Arc::new(reading.chart.unwrap_or_else(|| panic!("{:?}", reading.diagnostics))));
    let chart = machine.chart();
    let ways = ways(machine.shared_chart(), &Options { exact_max: EXACT_MAX, ..Options::default() });
    let walker = Walker::new(&machine);
    let walks: Vec<Option<Vec<Input>>> = (chart.transitions.iter().zip(&ways))
        .map(|(transition, way)| walk(&walker, way.as_ref()?).filter(|walk| is_taken(&machine, walk, transition.id)))
        .collect();
    let missing: Vec<String> = (chart.transitions.iter().zip(&walks).zip(&ways))
        .filter(|((transition, walk), _)| walk.is_none() && !takes_only_faults(transition))
        .map(|((transition, _), way)| told(chart, transition, way.as_ref()))
        .collect();
    assert!(missing.is_empty(), "never taken by a step:\n{}", missing.join("\n"));
    let steps: Vec<Option<usize>> = walks.iter().map(|walk| walk.as_ref().map(Vec::len)).collect();
    compare(&folder.join("README.md"), &table(chart, &steps));
}

/// Returns true if only an expression that fails leads to the transition: data that fits the schemas does not.
fn takes_only_faults(transition: &Transition) -> bool {
    !transition.events.is_empty() && transition.events.iter().all(|event| event.text == "error.execution")
}

fn walk(walker: &Walker<'_>, way: &Counterexample) -> Option<Vec<Input>> {
    follow(walker, &legs(way))
}

fn legs(way: &Counterexample) -> Vec<Leg> {
    let leg = |stage: &interlock_checker::Stage| Leg {
        event: stage.event.clone(),
        by: stage.by.clone(),
        to: stage.to.clone(),
        takes: stage.transitions.clone(),
    };
    way.stages.iter().map(leg).collect()
}

fn follow(walker: &Walker<'_>, legs: &[Leg]) -> Option<Vec<Input>> {
    [First::Low, First::High].into_iter().find_map(|first| walker.walk(legs, first))
}

/// Returns true if the last of these inputs takes the transition.
fn is_taken(machine: &Machine, walk: &[Input], id: TransitionId) -> bool {
    let (mut state, mut is_taken) = (State::ready(machine), false);
    for input in walk {
        let step = step(machine, state, input.clone());
        is_taken = step.trace.transitions().any(|taken| taken == id);
        state = step.state;
    }
    is_taken
}

fn told(chart: &Chart, transition: &Transition, way: Option<&Counterexample>) -> String {
    let way = way.map_or_else(|| "  no way\n".to_owned(), Counterexample::to_string);
    format!("{}\n{way}", row(chart, transition, None))
}

fn table(chart: &Chart, steps: &[Option<usize>]) -> String {
    let mut table = "| from | event | to | when | limit | why | steps |\n|---|---|---|---|---|---|---|\n".to_owned();
    for (transition, steps) in chart.transitions.iter().zip(steps) {
        let _ = writeln!(table, "{}", row(chart, transition, *steps));
    }
    table
}

fn row(chart: &Chart, transition: &Transition, steps: Option<usize>) -> String {
    let name = |id: &StateId| format!("`{}`", chart.state(*id).name);
    let from = if transition.source == Chart::ROOT { "anywhere".to_owned() } else { name(&transition.source) };
    let events: Vec<String> = transition.events.iter().map(|event| format!("`{}`", event.text)).collect();
    let limits = transition.limits.iter().map(|limit| {
        let max = match &limit.max {
            Max::Fixed(max) => max.to_string(),
            Max::Input { expr, .. } => format!("`{}`", expr.source),
        };
        let counter = &chart.counters[limit.counter.index()];
        if counter.named { format!("`{}` {max}", counter.name) } else { max }
    });
    let cells = [
        from,
        if events.is_empty() { "at once".to_owned() } else { events.join(" ") },
        transition.targets.iter().map(name).collect::<Vec<_>>().join(" "),
        transition.guard.as_ref().map(|guard| format!("`{}`", guard.source)).unwrap_or_default(),
        limits.collect::<Vec<_>>().join(", "),
        transition.reason.as_ref().map(words).unwrap_or_default(),
        steps.map_or("a fault".to_owned(), |steps| steps.to_string()),
    ];
    let cell = |cell: &String| cell.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    format!("| {} |", cells.iter().map(cell).collect::<Vec<_>>().join(" | "))
}

/// A reason, with its expressions as they are written.
fn words(template: &Template) -> String {
    let expression = |source: &str| format!("`${{{source}}}`");
    match template {
        Template::Literal(value) => value.to_string(),
        Template::Expr(expr) => expression(&expr.source),
        Template::Text(parts) => (parts.iter())
            .map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::Expr(expr) => expression(&expr.source),
            })
            .collect(),
        Template::List(_) | Template::Map(_) => String::new(),
    }
}

/// Compares the text between the marks with the table, or writes it.
fn compare(readme: &PathBuf, table: &str) {
    let text = fs::read_to_string(readme).unwrap();
    let (before, rest) = text.split_once(MARKS.0).expect("the README has a place for the table");
    let (now, after) = rest.split_once(MARKS.1).expect("the place has an end");
    if now == table {
        return;
    }
    assert!(
        env::var_os("UPDATE_EXPECT").is_some(),
        "the table in {} is not of this machine; UPDATE_EXPECT=1 writes it",
        readme.display()
    );
    fs::write(readme, format!("{before}{}{table}{}{after}", MARKS.0, MARKS.1)).unwrap();
}

#[test]
fn every_transition_of_brain_is_taken() {
    check("brain");
}

#[test]
fn every_transition_of_coder_is_taken() {
    check("coder");
}

#[test]
fn every_transition_of_firmware_is_taken() {
    check("firmware");
}

#[test]
fn every_transition_of_notebook_is_taken() {
    check("notebook");
}

/// A commit of `prd` that was interrupted three times leaves a verified tree. A person who goes on commits it; the task is
/// not done again.
#[test]
fn interrupted_commit_of_prd_is_committed_when_a_person_goes_on() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../machines/prd");
    let reading = yaml::read(&fs::read_to_string(folder.join("machine.yaml")).unwrap());
    let machine = Machine::new(Arc::new(reading.chart.unwrap()));
    let chart = machine.chart();
    let ways = ways(machine.shared_chart(), &Options { exact_max: EXACT_MAX, ..Options::default() });
    let is_third = |transition: &Transition| row(chart, transition, None).contains("it was interrupted three times");
    let (_, way) = chart.transitions.iter().zip(&ways).find(|(transition, _)| is_third(transition)).unwrap();
    let mut legs = legs(way.as_ref().unwrap());
    assert_eq!(legs.last().unwrap().to, ["BLOCKED"]);
    for (event, to) in [("HUMAN_INTERVENTION", "COMMIT_TASK"), ("SKIP_TASK", "UNDO_TASK")] {
        let leg = Leg { event: event.to_owned(), by: "user".to_owned(), to: vec![to.to_owned()], takes: Vec::new() };
        legs.push(leg);
        assert!(follow(&Walker::new(&machine), &legs).is_some(), "{event} does not lead to {to}");
        legs.pop();
    }
}

#[test]
fn every_transition_of_prd_is_taken() {
    check("prd");
}
