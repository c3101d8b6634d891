//! Checking a machine: explore, judge, and look again more closely where that may help.
//!
//! A machine that is small enough is explored once with all its counters. A larger one is explored with its counters left open, which
//! shows every way there is and some that there are not; where such a way breaks a claim, it is gone again with the counters, and
//! one that rules it out is followed from then on, for this claim alone. Each claim so gets the smallest graph that decides it.

use std::{collections::BTreeMap, rc::Rc, sync::Arc};

use interlock_chart::{Chart, model::PropertyKind};
use interlock_core::Machine;

use crate::{
    explore::{Graph, explore},
    facts::Table,
    judge::{Breach, Judge, top},
    refine::counter_against,
    report::{Bound, Counterexample, Problem, Proof, Report},
    story::tell,
    watch::Lookout,
};

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Configurations to explore at most, in one exploration.
    pub configurations_max: usize,
    /// With more configurations than this, counters are left open at first and followed only where it matters.
    pub exact_max: usize,
    /// What is known of data.
    pub data: Knowledge,
}

/// What an exploration knows of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Knowledge {
    /// Facts are remembered: the same question gets the same answer until something may have changed it.
    #[default]
    Facts,
    /// Nothing: every guard goes either way each time it is asked, and nothing fails to evaluate. This is the reduced form that
    /// `draw --format promela` writes, so that what is counted here can be held against SPIN.
    Nothing,
}

impl Default for Options {
    fn default() -> Self {
        Options { configurations_max: 2_000_000, exact_max: 120_000, data: Knowledge::Facts }
    }
}

/// How many counters are taken in one after another for one claim before what remains is reported as it is.
pub(crate) const REFINEMENTS_MAX: usize = 16;

/// Finds out what a machine can and cannot do.
pub fn check(chart: Arc<Chart>, options: &Options) -> Report {
    let machine = Machine::new(chart);
    let table = match options.data {
        Knowledge::Facts => Table::of(&machine),
        Knowledge::Nothing => Table::without_data(&machine),
    };
    let lookout = Lookout::of(&machine);
    let (mut explorations, is_exact) = Explorations::begin(&machine, &table, &lookout, options);
    explorations.report(is_exact)
}

/// How large a machine is, explored with all its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Configurations found.
    pub configurations: usize,
    /// Ways from one to the next.
    pub edges: usize,
    /// Whether those are all.
    pub is_complete: bool,
}

/// Explores a machine with all its counters and proves nothing.
pub fn size(chart: Arc<Chart>, options: &Options) -> Size {
    let machine = Machine::new(chart);
    let (table, lookout) = (Table::of(&machine), Lookout::of(&machine));
    let exact = vec![true; machine.chart().counters.len()];
    let graph = explore(&machine, &table, &lookout, &exact, options.configurations_max);
    Size { configurations: graph.len() - 1, edges: graph.edges.len(), is_complete: graph.too_much.is_none() }
}

/// Something that must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    Property(usize),
    NoDeadEnd,
    ComesToRest,
}

impl Claim {
    fn breach(self, judge: &Judge<'_>) -> Option<Breach> {
        match self {
            Claim::Property(at) => judge.breach(at, &judge.machine.chart().properties[at]),
            Claim::NoDeadEnd => judge.dead_end(),
            Claim::ComesToRest => judge.bounds().as_ref().err().cloned(),
        }
    }
}

/// Explorations of one machine that follow different counters.
pub(crate) struct Explorations<'m> {
    pub(crate) machine: &'m Machine,
    table: &'m Table,
    lookout: &'m Lookout,
    options: &'m Options,
    found: BTreeMap<Vec<bool>, Rc<Graph>>,
}

/// A claim that could not be shown, with the way that breaks it.
type Failure = Option<Counterexample>;

impl<'m> Explorations<'m> {
    /// Explores a machine for the first time: with all its counters where it is small enough, which is said, and else with none.
    pub(crate) fn begin(
        machine: &'m Machine,
        table: &'m Table,
        lookout: &'m Lookout,
        options: &'m Options,
    ) -> (Self, bool) {
        let counters = machine.chart().counters.len();
        let all = vec![true; counters];
        let mut base = explore(machine, table, lookout, &all, options.exact_max.min(options.configurations_max));
        let is_exact = base.too_much.is_none() || counters == 0;
        if !is_exact {
            base = explore(machine, table, lookout, &vec![false; counters], options.configurations_max);
        }
        let found = [(vec![is_exact; counters], Rc::new(base))].into();
        (Explorations { machine, table, lookout, options, found }, is_exact)
    }

    /// The graph that follows these counters, explored when it is first asked for.
    pub(crate) fn following(&mut self, exact: &[bool]) -> Rc<Graph> {
        let Explorations { machine, table, lookout, options, .. } = *self;
        let make = || Rc::new(explore(machine, table, lookout, exact, options.configurations_max));
        self.found.entry(exact.to_vec()).or_insert_with(make).clone()
    }

    fn report(&mut self, is_exact: bool) -> Report {
        let exact = vec![is_exact; self.machine.chart().counters.len()];
        let base = self.following(&exact);
        let (machine, lookout) = (self.machine, self.lookout);
        let judge = Judge::new(machine, &base, lookout);
        let chart = machine.chart();
        let is_complete = base.too_much.is_none();
        let properties: Vec<Proof> = (chart.properties.iter().enumerate())
            .map(|(at, property)| {
                let failure = self.failure(Claim::Property(at), &judge, &exact);
                Proof {
                    name: property.name.clone(),
                    because: property.because.clone(),
                    ok: failure.is_none() && is_complete,
                    counterexample: failure.flatten(),
                    span: property.span,
                }
            })
            .collect();
        let problems = self.problems(&judge, &exact);
        let bounds = self.bounds(&judge, &exact).filter(|_| is_complete);
        Report {
            machine: chart.id.clone(),
            ok: properties.iter().all(|proof| proof.ok) && !problems.iter().any(|problem| problem.is_error),
            explored: self.found.values().map(|graph| graph.len() - 1).max().unwrap_or(0),
            exact: is_exact,
            bound: bounds.map(|(bound, _)| bound),
            run_bound: bounds.and_then(|(_, run)| run),
            waits: judge.waits(),
            properties,
            problems,
        }
    }

    /// Whether a claim fails, however closely one looks.
    fn failure(&mut self, claim: Claim, base: &Judge<'_>, exact: &[bool]) -> Option<Failure> {
        let breach = claim.breach(base)?;
        let (machine, mut exact) = (self.machine, exact.to_vec());
        let Some(mut counter) = counter_against(machine, base.graph, &breach, &exact) else {
            return Some(Some(tell(machine, base.graph, &breach.way, breach.loops_to)));
        };
        for _ in 0..REFINEMENTS_MAX {
            exact[counter.index()] = true;
            let graph = self.following(&exact);
            if graph.too_much.is_some() {
                return Some(None);
            }
            let breach = claim.breach(&Judge::new(machine, &graph, self.lookout))?;
            match counter_against(machine, &graph, &breach, &exact) {
                Some(next) => counter = next,
                None => return Some(Some(tell(machine, &graph, &breach.way, breach.loops_to))),
            }
        }
        Some(None)
    }

    /// The bounds, from the first graph in which the machine comes to rest.
    fn bounds(&mut self, base: &Judge<'_>, exact: &[bool]) -> Option<(Bound, Option<Bound>)> {
        if let Ok(bounds) = base.bounds() {
            return Some(*bounds);
        }
        let mut exact = exact.to_vec();
        for _ in 0..REFINEMENTS_MAX {
            let graph = self.following(&exact);
            let judge = Judge::new(self.machine, &graph, self.lookout);
            match judge.bounds() {
                Ok(bounds) => return Some(*bounds),
                Err(breach) => {
                    let counter = counter_against(self.machine, &graph, breach, &exact)?;
                    exact[counter.index()] = true;
                }
            }
        }
        None
    }

    fn problems(&mut self, judge: &Judge<'_>, exact: &[bool]) -> Vec<Problem> {
        let chart = self.machine.chart();
        let problem = |code, message: String, counterexample| Problem {
            code,
            is_error: true,
            message,
            span: top(chart),
            counterexample,
        };
        if let Some(what) = judge.graph.too_much {
            let seen = judge.graph.len() - 1;
            return vec![problem("E0604", format!("too many {what} to explore all; {seen} configurations seen"), None)];
        }
        let mut problems = Vec::new();
        for state in judge.unreachable() {
            let state = chart.state(state);
            let message = format!("state `{}` can never be reached", state.name);
            problems.push(Problem { span: state.span, ..problem("E0601", message, None) });
        }
        if let Some(way) = self.failure(Claim::NoDeadEnd, judge, exact) {
            let message = "from here the run can neither end nor come to a state tagged `idle`".to_owned();
            problems.push(problem("E0602", message, way));
        }
        let says_terminates = chart.properties.iter().any(|property| property.kind == PropertyKind::Terminates);
        if !says_terminates && let Some(way) = self.failure(Claim::ComesToRest, judge, exact) {
            let message = "this loop has no limit: the machine need not come to rest".to_owned();
            problems.push(problem("E0603", message, way));
        }
        for id in judge.never_taken() {
            let transition = chart.transition(id);
            if judge.graph.visited.contains(transition.source) {
                let message = format!("this transition of `{}` is never taken", chart.state(transition.source).name);
                problems.push(Problem { span: transition.span, is_error: false, ..problem("W0605", message, None) });
            }
        }
        problems
    }
}
