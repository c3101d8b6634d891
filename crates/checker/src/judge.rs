//! From the graph of everything a machine can do to what is proved and what is not.

use std::cell::OnceCell;

use interlock_chart::{
    Chart,
    model::{Kind, Property, PropertyKind},
};
use interlock_core::Machine;

use crate::{
    bound::{Costs, Endless, Work, longest},
    explore::{Edge, Graph},
    graph::{Reverse, components},
    product::Product,
    report::Bound,
    story::{Leg, loop_at, way_to},
    watch::{Lookout, Move},
};

/// A way that breaks something, with where its loop begins, if it ends in one.
#[derive(Clone, Debug)]
pub(crate) struct Breach {
    pub(crate) way: Vec<Leg>,
    pub(crate) loops_to: Option<usize>,
}

impl Breach {
    fn at(graph: &Graph, node: u32) -> Self {
        Breach { way: way_to(graph, node), loops_to: None }
    }
}

/// The monitor of `after … leads_to …` while what was promised has not come.
const OWED: u32 = 1;

/// Looks at one graph.
pub(crate) struct Judge<'g> {
    pub(crate) machine: &'g Machine,
    pub(crate) graph: &'g Graph,
    lookout: &'g Lookout,
    costs: Costs,
    /// Per node: whether it is in a component in which only timers tick and nothing is started: a wait.
    ticking: Vec<u32>,
    bounds: OnceCell<Result<(Bound, Option<Bound>), Breach>>,
}

impl<'g> Judge<'g> {
    pub(crate) fn new(machine: &'g Machine, graph: &'g Graph, lookout: &'g Lookout) -> Self {
        let costs = Costs::of(machine, graph);
        Judge { machine, graph, lookout, costs, ticking: ticking(graph), bounds: OnceCell::new() }
    }

    fn nodes(&self) -> impl Iterator<Item = u32> + use<> {
        // The first node is the run that has not started.
        1..self.graph.len() as u32
    }

    fn is_done(&self, node: u32) -> bool {
        self.graph.layout.is_done(self.graph.packed(node))
    }

    fn is_outside(&self, edge: &Edge) -> bool {
        self.graph.meanings[edge.meaning as usize].cause.is_outside()
    }

    /// Whether the edge is one of a loop that only timers drive and that starts nothing.
    fn is_tick(&self, from: u32, edge: &Edge) -> bool {
        let part = self.ticking[from as usize];
        part != u32::MAX && part == self.ticking[edge.to as usize] && !self.is_outside(edge)
    }

    fn is_by_itself(&self, from: u32, edge: &Edge) -> bool {
        !self.is_outside(edge) && !self.is_tick(from, edge)
    }

    /// The bound between two inputs and the bound of a whole run, or a loop that nothing ends.
    pub(crate) fn bounds(&self) -> &Result<(Bound, Option<Bound>), Breach> {
        self.bounds.get_or_init(|| self.measure())
    }

    fn measure(&self) -> Result<(Bound, Option<Bound>), Breach> {
        let by_itself = longest(self.graph, &self.costs, |from, edge| self.is_by_itself(from, edge));
        let most = by_itself.map_err(|endless| self.endless(&endless))?;
        let mut bound = most[0];
        for from in 0..self.graph.len() as u32 {
            for edge in self.graph.edges_of(from).iter().filter(|edge| !self.is_by_itself(from, edge)) {
                bound = bound.max(self.costs.work(edge).plus(most[edge.to as usize]));
            }
        }
        let run = longest(self.graph, &self.costs, |from, edge| !self.is_tick(from, edge));
        Ok((as_bound(bound), run.ok().map(|most| as_bound(most[0]))))
    }

    fn endless(&self, endless: &Endless) -> Breach {
        let node = endless.members[0];
        let is_member = |node: u32| endless.members.binary_search(&node).is_ok();
        let cycle = loop_at(self.graph, node, |from, edge| {
            is_member(edge.to) && self.is_by_itself(from, edge) && endless.has(&self.costs, edge)
        });
        let mut way = way_to(self.graph, node);
        let loops_to = way.len();
        way.extend(cycle);
        Breach { way, loops_to: Some(loops_to) }
    }

    /// A way from which neither an end nor a resting place can be reached.
    pub(crate) fn dead_end(&self) -> Option<Breach> {
        let chart = self.machine.chart();
        let is_idle = |node: u32| {
            let configuration = self.graph.layout.configuration(self.graph.packed(node));
            configuration.iter().any(|state| chart.state(state).tags.iter().any(|tag| tag == "idle"))
        };
        let goals = self.nodes().filter(|&node| self.is_done(node) || is_idle(node));
        self.not_leading_to(goals)
    }

    fn not_leading_to(&self, goals: impl Iterator<Item = u32>) -> Option<Breach> {
        // What was not explored has no ways on, which proves nothing.
        if self.graph.too_much.is_some() {
            return None;
        }
        let edges = (0..self.graph.len() as u32)
            .flat_map(|from| self.graph.edges_of(from).iter().map(move |edge| (from, edge.to)));
        let leads = Reverse::of(self.graph.len(), edges).leading_to(goals);
        let lost = self.nodes().find(|&node| !leads[node as usize] && !self.is_done(node));
        lost.map(|node| Breach::at(self.graph, node))
    }

    /// A way that breaks a property.
    pub(crate) fn breach(&self, at: usize, property: &Property) -> Option<Breach> {
        match &property.kind {
            PropertyKind::Terminates => self.bounds().as_ref().err().cloned(),
            PropertyKind::Never { .. } | PropertyKind::AtMost { .. } => {
                let way = Product::of(self.graph, property, &self.lookout.roles[at]).breach()?;
                Some(Breach { way, loops_to: None })
            }
            PropertyKind::Possible { .. } => {
                let what = self.lookout.roles[at].what;
                let shows =
                    |edge: &Edge| self.graph.meanings[edge.meaning as usize].seen.iter().any(|seen| seen & what != 0);
                let goals = (0..self.graph.len() as u32).filter(|&node| self.graph.edges_of(node).iter().any(shows));
                self.not_leading_to(goals)
            }
            PropertyKind::LeadsTo { .. } => self.owed(at, property),
        }
    }

    /// A way on which something promised does not come: the run ends or goes round by itself without it. A run that waits for
    /// somebody has not broken its promise.
    fn owed(&self, at: usize, property: &Property) -> Option<Breach> {
        let product = Product::of(self.graph, property, &self.lookout.roles[at]);
        let is_complete = self.graph.too_much.is_none();
        let is_stuck = |node: u32| is_complete && self.graph.edges_of(node).is_empty();
        if let Some((visit, _)) = product.nodes_with(OWED).find(|&(_, node)| is_stuck(node)) {
            return Some(Breach { way: product.way_to(visit), loops_to: None });
        }
        let mut is_owed = vec![false; self.graph.len()];
        product.nodes_with(OWED).for_each(|(_, node)| is_owed[node as usize] = true);
        let counts = |from: u32, edge: &Edge| {
            !self.is_outside(edge) && is_owed[from as usize] && product.after(edge, OWED).0 == OWED
        };
        let endless = longest(self.graph, &self.costs, counts).err()?;
        let is_member = |node: u32| endless.members.binary_search(&node).is_ok();
        let (visit, node) = product.nodes_with(OWED).find(|&(_, node)| is_member(node))?;
        let cycle = loop_at(self.graph, node, |from, edge| {
            counts(from, edge) && is_member(edge.to) && endless.has(&self.costs, edge)
        });
        let mut way = product.way_to(visit);
        let loops_to = way.len();
        way.extend(cycle);
        Some(Breach { way, loops_to: Some(loops_to) })
    }

    /// States that are never entered.
    pub(crate) fn unreachable(&self) -> Vec<interlock_chart::model::StateId> {
        let states = self.machine.chart().states.iter();
        states
            .filter(|state| !state.kind.is_history() && !self.graph.visited.contains(state.id))
            .map(|state| state.id)
            .collect()
    }

    /// Transitions that are never taken.
    pub(crate) fn never_taken(&self) -> Vec<interlock_chart::model::TransitionId> {
        let mut taken = vec![false; self.machine.chart().transitions.len()];
        for meaning in &self.graph.meanings {
            for one in &meaning.moves {
                if let Move::Taken(transition) = one {
                    taken[transition.index()] = true;
                }
            }
        }
        let transitions = self.machine.chart().transitions.iter().map(|transition| transition.id);
        transitions.filter(|id| !taken[id.index()]).collect()
    }

    /// Where a run rests until somebody outside does something.
    pub(crate) fn waits(&self) -> Vec<String> {
        let mut waits = vec![false; self.machine.chart().states.len()];
        for node in self.nodes().filter(|&node| !self.is_done(node)) {
            if self.graph.edges_of(node).iter().all(|edge| self.is_outside(edge)) {
                let configuration = self.graph.layout.configuration(self.graph.packed(node));
                configuration.iter().for_each(|state| waits[state.index()] = true);
            }
        }
        let states = self.machine.chart().states.iter();
        let is_place = |state: &&interlock_chart::model::State| waits[state.id.index()] && state.kind == Kind::Atomic;
        states.filter(is_place).map(|state| state.name.clone()).collect()
    }
}

/// Numbers the components of what happens without anybody outside in which there are loops, but only timers drive them and
/// nothing is started; all other nodes have the highest number.
fn ticking(graph: &Graph) -> Vec<u32> {
    let is_inside = |edge: &Edge| !graph.meanings[edge.meaning as usize].cause.is_outside();
    let parts = components(graph.len(), |node, at| {
        let edge = graph.edges_of(node).get(at)?;
        Some(is_inside(edge).then_some(edge.to))
    });
    let mut is_quiet = vec![true; parts.count];
    for from in 0..graph.len() as u32 {
        for edge in graph.edges_of(from).iter().filter(|edge| is_inside(edge)) {
            let part = parts.of[from as usize];
            let meaning = &graph.meanings[edge.meaning as usize];
            if part == parts.of[edge.to as usize] && !(meaning.cause.is_timer() && meaning.started.is_empty()) {
                is_quiet[part as usize] = false;
            }
        }
    }
    parts.of.iter().map(|&part| if is_quiet[part as usize] { part } else { u32::MAX }).collect()
}

fn as_bound(work: Work) -> Bound {
    Bound { transitions: work.transitions, activities: work.activities, judgements: work.judgements }
}

/// Where a problem about the whole machine is shown.
pub(crate) fn top(chart: &Chart) -> interlock_chart::Span {
    chart.state(Chart::ROOT).span
}
