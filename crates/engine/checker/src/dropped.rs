//! Outcomes of activities that no transition takes: signals whose guards are all false, and failures without a handler.
//!
//! The activity is then over while its state is still active, so the run waits there for another event. If only an
//! event that ends or aborts the run can follow, the run is stuck, which is an error. If a timer or a person can move
//! it on, it is a warning. A state that has no exit at all is a dead end and is reported as one (E0602).

use std::collections::BTreeSet;

use interlock_chart::{
    Chart,
    model::{EventId, InvokeId, StateId},
};

use crate::{
    explore::{Cause, Edge, Graph},
    judge::Judge,
    report::Problem,
    watch::Move,
};

/// The most places that a message names.
const NAMED_MAX: usize = 3;

/// The events that may follow a dropped outcome.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum After {
    /// Only events that outer states handle.
    Stuck,
    /// A timer, or an event that the state itself waits for.
    Waiting,
}

/// The outcomes that may be dropped, by severity.
#[derive(Default)]
struct Dropped {
    signals: BTreeSet<(InvokeId, EventId, After)>,
    failures: BTreeSet<(InvokeId, After)>,
}

/// Finds the outcomes that may be dropped.
pub(crate) fn find(judge: &Judge<'_>) -> Vec<Problem> {
    let (chart, graph) = (judge.machine.chart(), judge.graph);
    let mut dropped = Dropped::default();
    for node in 1..graph.len() as u32 {
        for edge in graph.edges_of(node) {
            let meaning = &graph.meanings[edge.meaning as usize];
            let is_taken = meaning.moves.iter().any(|one| matches!(one, Move::Taken(_)));
            // If some counters are left open, a limit may appear used up although it is not.
            let is_vague = judge.exact.contains(&false) && !meaning.moves.is_empty();
            let invoke = match meaning.cause {
                // A fault that nothing handles ends the run, so nothing waits.
                _ if graph.is_done(edge.to) => continue,
                Cause::Signal(invoke, _) | Cause::Error(invoke) if !is_taken && !is_vague => invoke,
                _ => continue,
            };
            let Some(after) = after(chart, graph, edge, chart.invoke(invoke).state) else { continue };
            match meaning.cause {
                Cause::Signal(_, event) => drop(dropped.signals.insert((invoke, event, after))),
                _ => drop(dropped.failures.insert((invoke, after))),
            }
        }
    }
    let mut problems: Vec<Problem> = signals(chart, &dropped);
    problems.extend(failures(chart, &dropped, After::Stuck));
    problems.extend(failures(chart, &dropped, After::Waiting));
    problems
}

/// Returns the events that may follow a dropped outcome, or `None` if the state continues anyway or may rest.
fn after(chart: &Chart, graph: &Graph, edge: &Edge, state: StateId) -> Option<After> {
    let is_within = |inner: StateId| inner == state || chart.is_descendant(inner, state);
    let active = graph.configuration(edge.to);
    let is_idle = |state: StateId| chart.state(state).tags.iter().any(|tag| tag == "idle");
    if !active.contains(state) || active.iter().any(is_idle) {
        return None;
    }
    let mut found = After::Stuck;
    for next in graph.edges_of(edge.to) {
        let meaning = &graph.meanings[next.meaning as usize];
        let leaves = || {
            let mut taken = meaning.moves.iter().filter_map(|one| match one {
                Move::Taken(transition) => Some(chart.transition(*transition).source),
                Move::Refused(_) => None,
            });
            taken.any(is_within)
        };
        match meaning.cause {
            Cause::Signal(other, _) | Cause::Error(other) if is_within(chart.invoke(other).state) => return None,
            // Another region continues, and may move this one on as well.
            Cause::Signal(..) | Cause::Error(_) | Cause::Timeout(_) | Cause::Delayed(_) => found = After::Waiting,
            Cause::Raised(_) if leaves() => found = After::Waiting,
            Cause::Raised(_) | Cause::Start => {}
        }
    }
    Some(found)
}

fn signals(chart: &Chart, dropped: &Dropped) -> Vec<Problem> {
    let mut told = BTreeSet::new();
    let problem = |&(invoke, event, after): &(InvokeId, EventId, After)| {
        let (invoke, event) = (chart.invoke(invoke), &chart.event(event).name);
        let state = &chart.state(invoke.state).name;
        let message = format!(
            "`{event}` of `{}` can be dropped, because no guard for it need be true; the run then waits in `{state}` {}",
            invoke.activity,
            until(after),
        );
        Problem {
            code: if after == After::Stuck { "E0717" } else { "W0719" },
            is_error: after == After::Stuck,
            message,
            hint: Some(format!("write a last transition for `{event}` without a guard")),
            span: invoke.span,
            counterexample: None,
        }
    };
    // The set is sorted, so the more severe case comes first.
    dropped.signals.iter().filter(|(invoke, event, _)| told.insert((*invoke, *event))).map(problem).collect()
}

/// Returns one problem for all places, because most often the machine lacks a single line.
fn failures(chart: &Chart, dropped: &Dropped, after: After) -> Option<Problem> {
    let is_stuck = |invoke| dropped.failures.contains(&(invoke, After::Stuck));
    let found = dropped
        .failures
        .iter()
        .filter(|(invoke, found)| *found == after && (after == After::Stuck || !is_stuck(*invoke)));
    let found: Vec<_> = found.map(|(invoke, _)| chart.invoke(*invoke)).collect();
    let first = found.first()?;
    let mut names: Vec<String> =
        found.iter().take(NAMED_MAX).map(|invoke| chart.state(invoke.state).name.clone()).collect();
    names.dedup();
    let mut names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if let Some(more) = found.len().checked_sub(NAMED_MAX).filter(|more| *more > 0) {
        names.push_str(&format!(" and {more} more"));
    }
    Some(Problem {
        code: if after == After::Stuck { "E0716" } else { "W0718" },
        is_error: after == After::Stuck,
        message: format!(
            "no transition handles the `error` of the activity in {names}; the run then waits there {}",
            until(after)
        ),
        hint: Some("add `on: { error: … }` to the machine, or to the state".to_owned()),
        span: first.span,
        counterexample: None,
    })
}

fn until(after: After) -> &'static str {
    match after {
        After::Stuck => "for ever, unless a person aborts it",
        After::Waiting => "until a timer or another event ends the wait",
    }
}
