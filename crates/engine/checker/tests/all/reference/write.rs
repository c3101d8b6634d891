//! Random machines of parallel regions, activities and handlers under plain and qualified names.

use std::fmt::Write;

use interlock_chart::{Chart, model::Kind};
use interlock_testkit::random::Rng;

const STATES_MAX: usize = 9;
const DEPTH_MAX: usize = 3;

struct Sketch {
    name: String,
    kind: Kind,
    children: Vec<usize>,
    signals: Vec<&'static str>,
    is_timed: bool,
}

pub(crate) fn machine(rng: &mut Rng) -> String {
    let mut states = vec![sketch(rng, 0, Kind::Compound)];
    grow(rng, &mut states, 0, 0);
    states[0].signals.clear();
    states[0].is_timed = false;
    let mut out = "machine: random\nversion: 1\nevents: {u0: {from: any}, u1: {from: any}}\n".to_owned();
    let _ = writeln!(out, "initial: {}", states[states[0].children[0]].name);
    handlers(rng, &states, "", &mut out);
    out += "states:\n";
    states[0].children.clone().into_iter().for_each(|child| state(rng, &states, child, 1, &mut out));
    out += "  end: {type: final, outcome: success}\n";
    let invoker = (1..states.len()).find(|at| states[*at].signals.contains(&"passed"));
    if let Some(at) = invoker {
        let target = rng.pick(&["end", states[states.len() - 1].name.as_str()]).to_string();
        let _ = writeln!(out, "properties:\n  - never: {target}\n    without: {}.passed", states[at].name);
    }
    out
}

/// The states that the property names, if the machine has one: the state that must not be entered, and the state whose
/// activity must have passed.
pub(crate) fn property(chart: &Chart) -> Option<(usize, usize)> {
    let name = &chart.properties.first()?.name;
    let (target, origin) = name.strip_prefix("never ")?.split_once(" without ")?;
    let at = |name: &str| chart.find_state(name).map(|id| id.index());
    Some((at(target)?, at(origin.strip_suffix(".passed")?)?))
}

fn sketch(rng: &mut Rng, at: usize, kind: Kind) -> Sketch {
    let signals = match rng.below(10) {
        0..=4 => vec!["passed", "failed"],
        5 => vec!["passed"],
        _ => Vec::new(),
    };
    // Some names are prefixes of others: a qualified name must be taken exactly.
    let name = if at % 4 == 3 { format!("s{}.x", at - 1) } else { format!("s{at}") };
    Sketch { name, kind, children: Vec::new(), signals, is_timed: rng.percent(20) }
}

fn grow(rng: &mut Rng, states: &mut Vec<Sketch>, parent: usize, depth: usize) {
    for _ in 0..2 {
        let is_parallel = states[parent].kind == Kind::Parallel;
        let may_nest = depth < DEPTH_MAX && states.len() < STATES_MAX;
        let kind = match rng.below(10) {
            0..=3 if may_nest => Kind::Parallel,
            4..=5 if may_nest => Kind::Compound,
            _ if may_nest && is_parallel && rng.percent(50) => Kind::Compound,
            _ => Kind::Atomic,
        };
        let at = states.len();
        let made = sketch(rng, at, kind);
        states.push(made);
        states[parent].children.push(at);
        if kind != Kind::Atomic {
            grow(rng, states, at, depth + 1);
        }
    }
}

fn state(rng: &mut Rng, states: &[Sketch], at: usize, depth: usize, out: &mut String) {
    let (pad, inner, own) = ("  ".repeat(depth), "  ".repeat(depth + 1), &states[at]);
    let _ = writeln!(out, "{pad}{}:", own.name);
    let _ = writeln!(out, "{inner}tags: [t{at}]");
    match own.kind {
        Kind::Parallel => _ = writeln!(out, "{inner}type: parallel"),
        Kind::Compound => _ = writeln!(out, "{inner}initial: {}", states[own.children[0]].name),
        _ => {}
    }
    if !own.signals.is_empty() {
        let _ = writeln!(out, "{inner}invoke: {{activity: act{at}, signals: [{}]}}", own.signals.join(", "));
    }
    if own.is_timed {
        let _ = writeln!(out, "{inner}timeout: 1m");
    }
    handlers(rng, states, &inner, out);
    if !own.children.is_empty() {
        let _ = writeln!(out, "{inner}states:");
        own.children.iter().for_each(|child| state(rng, states, *child, depth + 2, out));
    }
}

fn handlers(rng: &mut Rng, states: &[Sketch], pad: &str, out: &mut String) {
    let count = rng.below(5);
    if count == 0 {
        return;
    }
    let _ = writeln!(out, "{pad}on:");
    for _ in 0..count {
        let events = (0..1 + rng.below(2)).map(|_| event(rng, states)).collect::<Vec<_>>().join(" ");
        let target = match rng.below(20) {
            0 => "target: end".to_owned(),
            1..=4 => String::new(),
            _ => format!("target: {}", states[1 + rng.below(states.len() - 1)].name),
        };
        // A guard that may fail doubles the ways of every event, so a machine has at most two.
        let is_frail = rng.percent(12) && out.matches(super::rules::FRAIL).count() < 2;
        let frail = format!("guard: \"{}\"", super::rules::FRAIL);
        let guard = *rng.pick(&["", "", "", "guard: \"false\"", "guard: \"true\""]);
        let guard = if is_frail { frail.as_str() } else { guard };
        let parts: Vec<&str> = [target.as_str(), guard].into_iter().filter(|part| !part.is_empty()).collect();
        let _ = writeln!(
            out,
            "{pad}  - {{event: \"{events}\"{}{}}}",
            if parts.is_empty() { "" } else { ", " },
            parts.join(", ")
        );
    }
}

fn event(rng: &mut Rng, states: &[Sketch]) -> String {
    let plain = ["passed", "failed", "error", "error.execution", "timeout", "*", "u0", "u1"];
    let invoking: Vec<&Sketch> = states.iter().filter(|state| !state.signals.is_empty()).collect();
    let timed: Vec<&Sketch> = states.iter().filter(|state| state.is_timed).collect();
    match rng.below(10) {
        0..=3 if !invoking.is_empty() => {
            let state = *rng.pick(&invoking);
            format!("{}.{}", state.name, rng.pick(&state.signals))
        }
        4 if !invoking.is_empty() => format!("{}.error", rng.pick(&invoking).name),
        5 if !timed.is_empty() => format!("timeout.{}", rng.pick(&timed).name),
        _ => (*rng.pick(&plain)).to_owned(),
    }
}
