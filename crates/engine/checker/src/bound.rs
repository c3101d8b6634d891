//! Termination, and bounds on the work of a machine.
//!
//! If all counters are tracked exactly, the steps that the machine takes by itself form a graph without cycles, and the
//! bound is its longest path: exact for the abstraction. If counters are left open, cycles remain that only their
//! limits end. Such a component is ranked: edges that increase a counter that is not reset in the component can be
//! taken at most as often as its limit allows, so they are removed and the rest is ranked in the same way. If a
//! component resets every counter that it increases, it can loop for ever.

use std::{borrow::Cow, ops::ControlFlow};

use interlock_chart::{Chart, model::InvokeId};
use interlock_core::Machine;

use crate::{
    Bound, Outside,
    explore::{Edge, Graph},
    graph::{Components, components},
    watch::Move,
};

/// The amount of work on a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) transitions: u64,
    pub(crate) activities: u64,
    pub(crate) judgements: u64,
}

impl Work {
    pub(crate) fn plus(self, other: Work) -> Work {
        self.zip(other, u64::saturating_add)
    }

    /// The maximum of each field: the three are bounded independently, not by one and the same path.
    pub(crate) fn max(self, other: Work) -> Work {
        self.zip(other, u64::max)
    }

    fn times(self, factor: u64) -> Work {
        self.zip(Work::default(), |mine, _| mine.saturating_mul(factor))
    }

    fn zip(self, other: Work, with: impl Fn(u64, u64) -> u64) -> Work {
        Work {
            transitions: with(self.transitions, other.transitions),
            activities: with(self.activities, other.activities),
            judgements: with(self.judgements, other.judgements),
        }
    }
}

impl From<Bound> for Work {
    fn from(Bound { transitions, activities, judgements }: Bound) -> Self {
        Work { transitions, activities, judgements }
    }
}

/// The work that a machine's activities do in child runs, per activity. A child run without a bound counts as the
/// largest number.
#[derive(Debug, Default)]
pub(crate) struct Prices {
    between: Vec<(InvokeId, Work)>,
    whole: Vec<(InvokeId, Work)>,
}

impl Prices {
    /// The prices of a machine that starts no other machine.
    pub(crate) const NONE: &'static Prices = &Prices { between: Vec::new(), whole: Vec::new() };

    /// Collects the work of the machines that a machine starts.
    pub(crate) fn of(chart: &Chart, outside: &Outside<'_>) -> Self {
        const ENDLESS: Work = Work { transitions: u64::MAX, activities: u64::MAX, judgements: u64::MAX };
        let work = |bound: Option<Bound>| bound.map_or(ENDLESS, Work::from);
        let mut prices = Prices::default();
        for invoke in &chart.invokes {
            if let Some(started) = outside.started(invoke) {
                prices.between.push((invoke.id, work(started.bound)));
                prices.whole.push((invoke.id, work(started.run_bound)));
            }
        }
        prices
    }

    /// The work of the child runs that may already be running when an input arrives.
    pub(crate) fn running(&self) -> Work {
        self.between.iter().fold(Work::default(), |all, (_, work)| all.plus(*work))
    }

    /// Adds the work that child runs do between two inputs to the costs.
    pub(crate) fn between<'c>(&self, costs: &'c Costs, graph: &Graph) -> Cow<'c, Costs> {
        priced(&self.between, costs, graph)
    }

    /// Adds the whole work of child runs to the costs.
    pub(crate) fn whole<'c>(&self, costs: &'c Costs, graph: &Graph) -> Cow<'c, Costs> {
        priced(&self.whole, costs, graph)
    }
}

fn priced<'c>(prices: &[(InvokeId, Work)], costs: &'c Costs, graph: &Graph) -> Cow<'c, Costs> {
    if prices.is_empty() {
        return Cow::Borrowed(costs);
    }
    let mut costs = costs.clone();
    for (meaning, work) in graph.meanings.iter().zip(&mut costs.work) {
        let started = meaning.started.iter().flat_map(|started| prices.iter().find(|(invoke, _)| invoke == started));
        *work = started.fold(*work, |all, (_, price)| all.plus(*price));
    }
    Cow::Owned(costs)
}

/// The cost of each edge meaning and its effect on the counters.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    work: Vec<Work>,
    /// Counters increased and reset, as bits. Counters beyond the 64th are not ranked.
    counted: Vec<u64>,
    reset: Vec<u64>,
    maxima: Vec<u64>,
}

impl Costs {
    pub(crate) fn of(machine: &Machine, graph: &Graph) -> Self {
        let chart = machine.chart();
        let mut costs = Costs {
            work: Vec::new(),
            counted: Vec::new(),
            reset: Vec::new(),
            maxima: chart.counters.iter().map(|counter| u64::from(counter.max)).collect(),
        };
        for meaning in &graph.meanings {
            let judgements = meaning.started.iter().filter(|invoke| chart.invoke(**invoke).is_judgement()).count();
            let mut work =
                Work { activities: meaning.started.len() as u64, judgements: judgements as u64, transitions: 0 };
            let (mut counted, mut reset) = (0, 0);
            for taken in &meaning.moves {
                let Move::Taken(transition) = taken else { continue };
                work.transitions += 1;
                let plan = machine.plan(*transition);
                counted |= bits(plan.limits.iter().map(|(counter, ..)| counter.index()));
                reset |= bits(plan.resets.iter().map(|counter| counter.index()));
            }
            costs.work.push(work);
            costs.counted.push(counted);
            costs.reset.push(reset);
        }
        costs
    }

    pub(crate) fn work(&self, edge: &Edge) -> Work {
        self.work[edge.meaning as usize]
    }

    /// The counters that an edge increases and does not reset, as bits.
    pub(crate) fn left_counted(&self, edge: &Edge) -> u64 {
        self.counted[edge.meaning as usize] & !self.reset[edge.meaning as usize]
    }

    /// The counters that an edge resets, as bits.
    pub(crate) fn reset(&self, edge: &Edge) -> u64 {
        self.reset[edge.meaning as usize]
    }
}

fn bits(counters: impl Iterator<Item = usize>) -> u64 {
    counters.filter(|&at| at < 64).map(|at| 1 << at).fold(0, |all, bit| all | bit)
}

/// A component with a loop that no limit ends: its nodes in order, and the counters whose edges are not part of the
/// loop.
#[derive(Clone, Debug)]
pub(crate) struct Endless {
    pub(crate) members: Vec<u32>,
    removed: u64,
}

impl Endless {
    fn of(members: &[u32], removed: u64) -> Self {
        let mut members = members.to_vec();
        members.sort_unstable();
        Endless { members, removed }
    }

    /// Returns true if an edge may be part of the loop, as far as counters allow.
    pub(crate) fn has(&self, costs: &Costs, edge: &Edge) -> bool {
        costs.counted[edge.meaning as usize] & self.removed == 0 && self.members.binary_search(&edge.to).is_ok()
    }
}

/// The role of an edge in a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Not bounded: a path ends before this edge.
    Ends,
    /// A path continues over this edge, but its work is not counted.
    Free,
    Counts,
}

/// Returns the most work that can be done from each node, or a loop that no limit ends.
pub(crate) fn longest(
    graph: &Graph,
    costs: &Costs,
    weigh: impl Fn(u32, &Edge) -> Weight + Copy,
) -> Result<Vec<Work>, Endless> {
    let nodes: Vec<u32> = (0..graph.len() as u32).collect();
    let all = Part { graph, costs, nodes: &nodes, removed: 0 };
    let mut most = vec![Work::default(); graph.len()];
    match all.rank(weigh, &mut |node, work| most[node as usize] = work) {
        ControlFlow::Continue(_) => Ok(most),
        ControlFlow::Break(endless) => Err(endless),
    }
}

/// Some nodes of the graph, with the edges among them that do not increase one of the removed counters.
struct Part<'g> {
    graph: &'g Graph,
    costs: &'g Costs,
    nodes: &'g [u32],
    removed: u64,
}

impl Part<'_> {
    /// Computes the most work inside this part from each of its nodes and reports it to `found`. Returns the overall
    /// maximum.
    fn rank(
        &self,
        weigh: impl Fn(u32, &Edge) -> Weight + Copy,
        found: &mut dyn FnMut(u32, Work),
    ) -> ControlFlow<Endless, Work> {
        let local = Local::of(self.graph.len(), self.nodes);
        let stays = |node: u32, edge: &Edge| {
            weigh(node, edge) != Weight::Ends
                && local.number(edge.to).is_some()
                && self.costs.counted[edge.meaning as usize] & self.removed == 0
        };
        let next = |node: u32, at: usize| {
            let from = self.nodes[node as usize];
            let edge = self.graph.edges_of(from).get(at)?;
            Some(if stays(from, edge) { local.number(edge.to) } else { None })
        };
        let parts = components(self.nodes.len(), next);
        let members = members(&parts, self.nodes);
        let mut best = vec![Work::default(); parts.count];
        let mut overall = Work::default();
        // Lower numbers first: all components that this one leads to are finished already.
        for (at, members) in members.iter().enumerate() {
            let mut beyond = Work::default();
            let mut inner = Inner::default();
            for &node in members {
                for edge in self.graph.edges_of(node).iter().filter(|edge| stays(node, edge)) {
                    let to = parts.of[local.number(edge.to).unwrap_or(0) as usize] as usize;
                    let is_free = weigh(node, edge) == Weight::Free;
                    if to == at {
                        inner.add(self.costs, edge, is_free);
                    } else {
                        let work = if is_free { Work::default() } else { self.costs.work(edge) };
                        beyond = beyond.max(work.plus(best[to]));
                    }
                }
            }
            let inside = self.inside(members, inner, weigh)?;
            best[at] = inside.plus(beyond);
            overall = overall.max(best[at]);
            members.iter().for_each(|&node| found(node, best[at]));
        }
        ControlFlow::Continue(overall)
    }

    /// Returns the most work that can be done within one component.
    fn inside(
        &self,
        members: &[u32],
        inner: Inner,
        weigh: impl Fn(u32, &Edge) -> Weight + Copy,
    ) -> ControlFlow<Endless, Work> {
        if inner.edges == 0 {
            return ControlFlow::Continue(Work::default());
        }
        let usable = inner.counted & !inner.reset;
        if usable == 0 {
            return ControlFlow::Break(Endless::of(members, self.removed));
        }
        // Each of these edges can be taken only as often as its counter allows, and a path without any of them lies
        // between two.
        let counters = (0..64).filter(|at| usable & (1 << at) != 0);
        let times = counters.fold(0, |all: u64, at| all.saturating_add(self.costs.maxima[at]));
        let part = Part { nodes: members, removed: self.removed | usable, ..*self };
        let segment = part.rank(weigh, &mut |_, _| {})?;
        ControlFlow::Continue(segment.times(times.saturating_add(1)).plus(inner.dearest.times(times)))
    }
}

/// The effects of the edges inside a component.
#[derive(Default)]
struct Inner {
    /// The number of edges whose work counts.
    edges: usize,
    counted: u64,
    reset: u64,
    dearest: Work,
}

impl Inner {
    fn add(&mut self, costs: &Costs, edge: &Edge, is_free: bool) {
        self.counted |= costs.counted[edge.meaning as usize];
        self.reset |= costs.reset[edge.meaning as usize];
        if !is_free {
            self.edges += 1;
            self.dearest = self.dearest.max(costs.work(edge));
        }
    }
}

/// Numbers the nodes of a part from 0.
struct Local {
    /// `None` if the part is the whole graph.
    numbers: Option<hashbrown::HashMap<u32, u32, rustc_hash::FxBuildHasher>>,
}

impl Local {
    fn of(all: usize, nodes: &[u32]) -> Self {
        let is_whole = all == nodes.len();
        let numbered = || nodes.iter().enumerate().map(|(at, &node)| (node, at as u32)).collect();
        Local { numbers: (!is_whole).then(numbered) }
    }

    fn number(&self, node: u32) -> Option<u32> {
        match &self.numbers {
            None => Some(node),
            Some(numbers) => numbers.get(&node).copied(),
        }
    }
}

fn members(parts: &Components, nodes: &[u32]) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); parts.count];
    nodes.iter().enumerate().for_each(|(at, &node)| members[parts.of[at] as usize].push(node));
    members
}
