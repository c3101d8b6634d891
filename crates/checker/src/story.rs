//! From edges of the graph to a way that a person can follow.

use interlock_core::{Machine, StateSet};

use crate::{
    explore::{Cause, Edge, Graph},
    report::{Counterexample, Stage},
    watch::Move,
};

/// An edge with where it starts.
pub(crate) type Leg = (u32, Edge);

/// The edges of a shortest way to a node.
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

/// A shortest loop from the node back to itself along edges that count; empty where there is none.
pub(crate) fn loop_at(graph: &Graph, start: u32, counts: impl Fn(u32, &Edge) -> bool) -> Vec<Leg> {
    let mut came_by: std::collections::BTreeMap<u32, Leg> = std::collections::BTreeMap::new();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for edge in graph.edges_of(node).iter().filter(|edge| counts(node, edge)) {
            if edge.to == start {
                let mut legs = vec![(node, *edge)];
                let mut at = node;
                while at != start {
                    let leg = came_by[&at];
                    legs.push(leg);
                    at = leg.0;
                }
                legs.reverse();
                return legs;
            }
            came_by.entry(edge.to).or_insert_with(|| {
                queue.push_back(edge.to);
                (node, *edge)
            });
        }
    }
    Vec::new()
}

/// Tells a way.
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
    let after = graph.layout.configuration(graph.packed(edge.to));
    Stage {
        event,
        by,
        from: places(machine, &graph.layout.configuration(graph.packed(*from))),
        to: places(machine, &after),
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

/// The names of the active atomic states.
pub(crate) fn places(machine: &Machine, configuration: &StateSet) -> Vec<String> {
    let chart = machine.chart();
    let active = configuration.iter().map(|state| chart.state(state));
    active.filter(|state| state.kind.is_atomic()).map(|state| state.name.clone()).collect()
}
