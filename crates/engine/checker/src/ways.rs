//! Paths by which each transition of a machine is taken.
//!
//! "This transition is never taken" is a claim like any other, and the path that breaks it is the result here. Like
//! every claim it gets the smallest graph that decides it: counters are tracked if a path would not be possible with
//! them.

use std::sync::Arc;

use interlock_chart::{Chart, model::TransitionId};
use interlock_core::Machine;

use crate::{
    check::{Explorations, Options, REFINEMENTS_MAX},
    explore::Graph,
    facts::Table,
    judge::Breach,
    refine::counter_against,
    report::Counterexample,
    story::{Leg, tell, way_to},
    watch::{Lookout, Move},
};

/// Returns, for each transition in order, a short path whose last input takes the transition; it is a shortest path if
/// all counters are tracked. The entry is `None` if there is no path, or if there is too much to explore.
///
/// No evaluation fails on these paths. Unknown data is open, so a path may need data that is impossible.
pub fn ways(chart: Arc<Chart>, options: &Options) -> Vec<Option<Counterexample>> {
    let machine = Machine::new(chart);
    let (table, lookout) = (Table::without_faults(&machine), Lookout::of(&machine));
    let (explorations, is_exact) = Explorations::begin(&machine, &table, &lookout, options);
    let exact = vec![is_exact; machine.chart().counters.len()];
    let mut search = Search { explorations };
    machine.chart().transitions.iter().map(|transition| search.way(transition.id, exact.clone())).collect()
}

/// The most paths to a transition that are checked against the counters in one graph before more counters are tracked.
const TRIED_MAX: usize = 2_000;

struct Search<'m> {
    explorations: Explorations<'m>,
}

impl Search<'_> {
    fn way(&mut self, id: TransitionId, mut exact: Vec<bool>) -> Option<Counterexample> {
        let machine = self.explorations.machine;
        for _ in 0..REFINEMENTS_MAX {
            let graph = self.explorations.following(&exact);
            let mut against = None;
            for leg in taking(&graph, id).take(TRIED_MAX) {
                let way = way_to(&graph, leg.0).into_iter().chain([leg]).collect();
                let breach = Breach { way, loops_to: None };
                match counter_against(machine, &graph, &breach, &exact) {
                    Some(counter) => _ = against.get_or_insert(counter),
                    None => return Some(tell(machine, &graph, &breach.way, None)),
                }
            }
            exact[against?.index()] = true;
        }
        None
    }
}

/// The edges that take a transition, nearest first: configurations are numbered by their distance from the start.
fn taking(graph: &Graph, id: TransitionId) -> impl Iterator<Item = Leg> + '_ {
    let takes: Vec<bool> = graph.meanings.iter().map(|meaning| meaning.moves.contains(&Move::Taken(id))).collect();
    let edges = (0..graph.len() as u32).flat_map(|node| graph.edges_of(node).iter().map(move |edge| (node, *edge)));
    edges.filter(move |(_, edge)| takes[edge.meaning as usize])
}
