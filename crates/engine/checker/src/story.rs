//! Turns edges of the graph into a path that a person can follow.

use std::collections::{BTreeMap, VecDeque};

use interlock_chart::{Chart, Span};
use interlock_core::{Machine, StateSet};

use crate::{
    explore::{Cause, Edge, Graph},
    report::{Counterexample, Stage},
    watch::Move,
};

/// An edge with the node it starts from.
pub(crate) type Leg = (u32, Edge);

/// Returns the edges of a shortest path to a node.
pub(crate) fn way_to(graph: &Graph, mut node: u32) -> Vec<Leg> {
    let mut legs = Vec::new();
    while node != 0 {
        let (from, edge) = graph.parents[node as usize];
        legs.push((from, graph.edges[edge as usize]));
        node = from;
    }
    legs.reverse();
    legs
}

/// Returns a shortest loop that begins with this edge, along edges that count, or the edge alone if there is none.
pub(crate) fn loop_by(graph: &Graph, first: Leg, counts: impl Fn(u32, &Edge) -> bool) -> Vec<Leg> {
    let (goal, begun) = (first.0, first.1.to);
    let mut came_by: BTreeMap<u32, Leg> = BTreeMap::new();
    let mut queue = VecDeque::from([begun]);
    while let Some(node) = queue.pop_front() {
        if node == goal {
            break;
        }
        for edge in graph.edges_of(node).iter().filter(|edge| edge.to != begun && counts(node, edge)) {
            came_by.entry(edge.to).or_insert_with(|| {
                queue.push_back(edge.to);
                (node, *edge)
            });
        }
    }
    let mut legs = Vec::new();
    let mut at = goal;
    while let Some(leg) = came_by.get(&at).filter(|_| at != begun) {
        legs.push(*leg);
        at = leg.0;
    }
    legs.push(first);
    legs.reverse();
    legs
}

/// Turns a path into a counterexample.
pub(crate) fn tell(machine: &Machine, graph: &Graph, way: &[Leg], loops_to: Option<usize>) -> Counterexample {
    Counterexample { stages: way.iter().map(|leg| stage(machine, graph, leg)).collect(), loops_to }
}

fn stage(machine: &Machine, graph: &Graph, (from, edge): &Leg) -> Stage {
    let meaning = &graph.meanings[edge.meaning as usize];
    let (event, by) = words(machine, graph, meaning.cause);
    let taken = |taken: &Move| match taken {
        Move::Taken(transition) => Some(*transition),
        Move::Refused(_) => None,
    };
    let after = graph.configuration(edge.to);
    Stage {
        event,
        by,
        from: places(machine, graph.configuration(*from)),
        to: places(machine, after),
        transitions: meaning.moves.iter().filter_map(taken).collect(),
        states: after.iter().collect(),
    }
}

fn words(machine: &Machine, graph: &Graph, cause: Cause) -> (String, String) {
    let chart = machine.chart();
    match cause {
        Cause::Start => ("start".into(), String::new()),
        Cause::Signal(invoke, event) => (machine.event_name(event).into(), chart.invoke(invoke).activity.clone()),
        Cause::Error(invoke) => ("error".into(), chart.invoke(invoke).activity.clone()),
        Cause::Timeout(state) => (machine.event_name(machine.timeout_event(state)).into(), "timer".into()),
        Cause::Delayed(at) => (graph.layout.delayed_name(at).into(), "timer".into()),
        Cause::Raised(event) => {
            (machine.event_name(event).into(), chart.event(event).from.word().replace("any", "outside"))
        }
    }
}

/// The place in the file for a path: the transition that a loop begins with, or else the innermost state it ends in.
pub(crate) fn place(chart: &Chart, way: &Counterexample) -> Option<Span> {
    let turn = way.loops_to.and_then(|at| way.stages.get(at..)?.iter().find_map(|stage| stage.transitions.first()));
    if let Some(transition) = turn {
        return Some(chart.transition(*transition).span);
    }
    let last = way.stages.last()?;
    last.states.iter().map(|state| chart.state(*state)).find(|state| state.kind.is_atomic()).map(|state| state.span)
}

/// The names of the active atomic states.
pub(crate) fn places(machine: &Machine, configuration: &StateSet) -> Vec<String> {
    let chart = machine.chart();
    let active = configuration.iter().map(|state| chart.state(state));
    active.filter(|state| state.kind.is_atomic()).map(|state| state.name.clone()).collect()
}
