//! Judges the graph of everything a machine can do: the proofs and the breaches.

use std::cell::OnceCell;

use interlock_chart::{
    Chart,
    model::{Kind, Property, PropertyKind},
};
use interlock_core::Machine;

use crate::{
    bound::{Costs, Endless, Prices, Weight, Work, longest},
    explore::{Edge, Graph},
    graph::{Reverse, components},
    product::Product,
    refine::counter_against,
    report::Bound,
    story::{Leg, loop_by, way_to},
    watch::{Lookout, Move},
};

/// A path that breaks a claim, with the position at which its loop begins if it ends in one.
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

/// The most paths into a loop that are checked against the counters, and the most loops, before the nearest one is
/// examined further.
const WAYS_TRIED_MAX: usize = 2_000;
const LOOPS_MAX: usize = 16;

/// The monitor value of `after … leads_to …` while the promised observation has not come.
const OWED: u32 = 1;

/// Judges one graph of a machine.
pub(crate) struct Judge<'g> {
    pub(crate) machine: &'g Machine,
    pub(crate) graph: &'g Graph,
    lookout: &'g Lookout,
    /// Per counter: true if the graph tracks it.
    pub(crate) exact: &'g [bool],
    costs: Costs,
    prices: &'g Prices,
    /// Per node: the number of its component if only timers drive that component and it starts nothing, which is a
    /// wait.
    ticking: Vec<u32>,
    bounds: OnceCell<Result<(Bound, Option<Bound>), Breach>>,
}

impl<'g> Judge<'g> {
    pub(crate) fn new(machine: &'g Machine, graph: &'g Graph, lookout: &'g Lookout, exact: &'g [bool]) -> Self {
        let costs = Costs::of(machine, graph);
        Judge {
            machine,
            graph,
            lookout,
            exact,
            costs,
            prices: Prices::NONE,
            ticking: ticking(graph),
            bounds: OnceCell::new(),
        }
    }

    /// Adds the work that activities do in child runs.
    pub(crate) fn priced(self, prices: &'g Prices) -> Self {
        Judge { prices, ..self }
    }

    fn nodes(&self) -> impl Iterator<Item = u32> + use<> {
        // The first node is the run that has not started.
        1..self.graph.len() as u32
    }

    fn is_done(&self, node: u32) -> bool {
        self.graph.is_done(node)
    }

    fn is_outside(&self, edge: &Edge) -> bool {
        self.graph.meanings[edge.meaning as usize].cause.is_outside()
    }

    /// Returns true if the edge belongs to a loop that only timers drive and that starts nothing.
    fn is_tick(&self, from: u32, edge: &Edge) -> bool {
        let part = self.ticking[from as usize];
        part != u32::MAX && part == self.ticking[edge.to as usize] && !self.is_outside(edge)
    }

    fn is_by_itself(&self, from: u32, edge: &Edge) -> bool {
        !self.is_outside(edge) && !self.is_tick(from, edge)
    }

    /// Returns the bound between two inputs and the bound of a whole run, or a loop that no limit ends.
    pub(crate) fn bounds(&self) -> &Result<(Bound, Option<Bound>), Breach> {
        self.bounds.get_or_init(|| self.measure())
    }

    fn measure(&self) -> Result<(Bound, Option<Bound>), Breach> {
        let between = self.prices.between(&self.costs, self.graph);
        let by_itself = longest(self.graph, &between, |from, edge| match self.is_by_itself(from, edge) {
            true => Weight::Counts,
            false => Weight::Ends,
        });
        let most = by_itself.map_err(|endless| self.endless(&endless))?;
        let mut bound = most[0];
        for from in 0..self.graph.len() as u32 {
            for edge in self.graph.edges_of(from).iter().filter(|edge| !self.is_by_itself(from, edge)) {
                bound = bound.max(between.work(edge).plus(most[edge.to as usize]));
            }
        }
        // A clock may tick any number of times; the run continues from wherever it is then.
        let whole = self.prices.whole(&self.costs, self.graph);
        let run = longest(self.graph, &whole, |from, edge| match self.is_tick(from, edge) {
            true => Weight::Free,
            false => Weight::Counts,
        });
        Ok((as_bound(bound.plus(self.prices.running())), run.ok().map(|most| as_bound(most[0]))))
    }

    fn endless(&self, endless: &Endless) -> Breach {
        let counts = |from: u32, edge: &Edge| self.is_by_itself(from, edge);
        let ways = |node: u32| Some(way_to(self.graph, node));
        self.loop_in(endless, counts, ways).unwrap_or_else(|| Breach::at(self.graph, endless.members[0]))
    }

    /// Returns a path into a loop that no limit ends, if possible one that the counters allow. Loops that touch no
    /// limit come first, then those that leave nothing counted, then those that increase one counter and reset it: most
    /// often these are the error.
    fn loop_in(
        &self,
        endless: &Endless,
        counts: impl Fn(u32, &Edge) -> bool,
        way_into: impl Fn(u32) -> Option<Vec<Leg>>,
    ) -> Option<Breach> {
        let refuses = |edge: &Edge| {
            let moves = &self.graph.meanings[edge.meaning as usize].moves;
            moves.iter().any(|one| matches!(one, Move::Refused(_)))
        };
        let one_counter = (0..64).map(|at| (true, 1 << at)).filter(|(_, bit)| *bit & self.resets_in(endless) != 0);
        let mut nearest = None;
        for (may_refuse, may_count) in [(false, 0), (true, 0)].into_iter().chain(one_counter).chain([(true, u64::MAX)])
        {
            let is_part = |from: u32, edge: &Edge| {
                counts(from, edge)
                    && endless.has(&self.costs, edge)
                    && (may_refuse || !refuses(edge))
                    && self.costs.left_counted(edge) & !may_count == 0
            };
            let begins = |edge: &Edge| may_count.count_ones() != 1 || self.costs.reset(edge) & may_count != 0;
            let mut loops_left = LOOPS_MAX;
            for first in turning(self.graph, &endless.members, is_part, begins).into_iter().take(WAYS_TRIED_MAX) {
                let Some(way) = way_into(first.0) else { continue };
                let mut breach = Breach { way, loops_to: None };
                let is_possible = counter_against(self.machine, self.graph, &breach, self.exact).is_none();
                if loops_left == 0 || !(is_possible || nearest.is_none()) {
                    continue;
                }
                loops_left -= 1;
                breach.loops_to = Some(breach.way.len());
                breach.way.extend(loop_by(self.graph, first, is_part));
                if counter_against(self.machine, self.graph, &breach, self.exact).is_none() {
                    return Some(breach);
                }
                nearest.get_or_insert(breach);
            }
        }
        nearest
    }

    /// The counters that are reset among the members, as bits.
    fn resets_in(&self, endless: &Endless) -> u64 {
        let edges = endless.members.iter().flat_map(|&node| self.graph.edges_of(node));
        edges.fold(0, |all, edge| all | self.costs.reset(edge))
    }

    /// Returns a path from which neither an end nor a resting place can be reached.
    pub(crate) fn dead_end(&self) -> Option<Breach> {
        let chart = self.machine.chart();
        let is_idle = |node: u32| {
            let configuration = self.graph.configuration(node);
            configuration.iter().any(|state| chart.state(state).tags.iter().any(|tag| tag == "idle"))
        };
        let goals = self.nodes().filter(|&node| self.is_done(node) || is_idle(node));
        self.not_leading_to(goals)
    }

    /// Returns a path on which an expression fails, no transition handles that, and the run still does not end in failure.
    pub(crate) fn false_end(&self) -> Option<Breach> {
        let nodes = 0..self.graph.len() as u32;
        let mut edges = nodes.flat_map(|node| self.graph.edges_of(node).iter().map(move |edge| (node, *edge)));
        let last = edges.find(|(_, edge)| self.graph.meanings[edge.meaning as usize].is_false_end)?;
        let way = way_to(self.graph, last.0).into_iter().chain([last]).collect();
        Some(Breach { way, loops_to: None })
    }

    fn not_leading_to(&self, goals: impl Iterator<Item = u32>) -> Option<Breach> {
        // Unexplored configurations have no edges, which proves nothing.
        if self.graph.too_much.is_some() {
            return None;
        }
        let edges = (0..self.graph.len() as u32)
            .flat_map(|from| self.graph.edges_of(from).iter().map(move |edge| (from, edge.to)));
        let leads = Reverse::of(self.graph.len(), edges).leading_to(goals);
        let lost = self.nodes().find(|&node| !leads[node as usize] && !self.is_done(node));
        lost.map(|node| Breach::at(self.graph, node))
    }

    /// Returns a path that breaks a property.
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

    /// Returns a path on which a promised observation does not come: the run ends or loops by itself without it. A run
    /// that waits for an input from outside has not broken its promise.
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
        let weigh = |from: u32, edge: &Edge| if counts(from, edge) { Weight::Counts } else { Weight::Ends };
        let endless = longest(self.graph, &self.costs, weigh).err()?;
        let ways = |node: u32| {
            let (visit, _) = product.nodes_with(OWED).find(|&(_, at)| at == node)?;
            Some(product.way_to(visit))
        };
        self.loop_in(&endless, counts, ways)
    }

    /// The states that are never entered.
    pub(crate) fn unreachable(&self) -> Vec<interlock_chart::model::StateId> {
        let states = self.machine.chart().states.iter();
        states
            .filter(|state| !state.kind.is_history() && !self.graph.visited.contains(state.id))
            .map(|state| state.id)
            .collect()
    }

    /// The transitions that are never taken.
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

    /// The states in which a run rests until an input comes from outside.
    pub(crate) fn waits(&self) -> Vec<String> {
        let mut waits = vec![false; self.machine.chart().states.len()];
        for node in self.nodes().filter(|&node| !self.is_done(node)) {
            if self.graph.edges_of(node).iter().all(|edge| self.is_outside(edge)) {
                let configuration = self.graph.configuration(node);
                configuration.iter().for_each(|state| waits[state.index()] = true);
            }
        }
        let states = self.machine.chart().states.iter();
        let is_place = |state: &&interlock_chart::model::State| waits[state.id.index()] && state.kind == Kind::Atomic;
        states.filter(is_place).map(|state| state.name.clone()).collect()
    }
}

/// For each member that lies on a loop, in order, returns the first edge of one that may begin it.
fn turning(
    graph: &Graph,
    members: &[u32],
    is_part: impl Fn(u32, &Edge) -> bool,
    begins: impl Fn(&Edge) -> bool,
) -> Vec<Leg> {
    let number = |node: u32| members.binary_search(&node).ok().map(|at| at as u32);
    let parts = components(members.len(), |at, edge| {
        let from = members[at as usize];
        let edge = graph.edges_of(from).get(edge)?;
        Some(number(edge.to).filter(|_| is_part(from, edge)))
    });
    let part = |node: u32| number(node).map(|at| parts.of[at as usize]);
    let first = |&node: &u32| {
        let mut edges = graph.edges_of(node).iter().filter(|edge| begins(edge) && is_part(node, edge));
        edges.find(|edge| part(edge.to) == part(node)).map(|edge| (node, *edge))
    };
    members.iter().filter_map(first).collect()
}

/// Numbers the components of the graph without outside edges whose loops are driven only by timers and start nothing.
/// All other nodes get the highest number.
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

/// The place at which a problem of the whole machine is shown.
pub(crate) fn top(chart: &Chart) -> interlock_chart::Span {
    chart.state(Chart::ROOT).span
}
