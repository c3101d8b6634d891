//! Checks a machine: explores it, judges the graph, and refines the exploration if that may help.
//!
//! A machine that is small enough is explored once with all its counters. A larger one is explored with its counters
//! left open. That graph contains every real path and some that are not real. If a path breaks a claim, it is replayed
//! with the counters; if a counter rules the path out, that counter is tracked from then on, for this claim alone. So
//! each claim gets the smallest graph that decides it.

use std::{collections::BTreeMap, rc::Rc, sync::Arc};

use interlock_chart::{
    Chart,
    model::{CounterId, Dialect, Property, PropertyKind},
};
use interlock_core::Machine;

use crate::{
    Outside,
    bound::Prices,
    dropped,
    explore::{Allowance, Graph, explore},
    facts::Table,
    judge::{Breach, Judge, top},
    refine::counter_against,
    report::{Bound, Counterexample, Problem, Proof, Report, Total},
    story::{place, tell},
    watch::{Lookout, Unhandled},
};

/// Limits of a check.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The most configurations in one exploration.
    pub configurations_max: usize,
    /// If a machine has more configurations than this, its counters are left open at first and tracked only if a claim
    /// needs them.
    pub exact_max: usize,
    /// The most work in all explorations together: paths tried, plus rounds of the engine on them. It does not depend
    /// on the speed of the computer, so the same machine always gets the same answer.
    pub work_max: u64,
    /// The knowledge about data that the exploration uses.
    pub data: Knowledge,
}

/// The knowledge about data that an exploration uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Knowledge {
    /// Facts are remembered: the same question gets the same answer until something may have changed it.
    #[default]
    Facts,
    /// Nothing is known: every guard goes either way each time it is evaluated, and no evaluation fails. `draw --format
    /// promela` writes this reduced form, so that the counts can be compared with SPIN.
    Nothing,
}

impl Default for Options {
    fn default() -> Self {
        Options { configurations_max: 2_000_000, exact_max: 120_000, work_max: WORK_MAX, data: Knowledge::Facts }
    }
}

/// Many times the work that any built-in machine needs; it takes a few seconds.
const WORK_MAX: u64 = 60_000_000;

/// The most counters that are tracked one after another for one claim. After that, the remaining breach is reported as
/// it is.
pub(crate) const REFINEMENTS_MAX: usize = 16;

/// Checks a machine and reports its proofs, bounds and problems.
pub fn check(chart: Arc<Chart>, options: &Options) -> Report {
    check_priced(chart, options, Prices::NONE)
}

/// Checks a machine and adds the bounds of the machines that it starts to its bounds.
pub fn check_within(chart: Arc<Chart>, outside: &Outside<'_>, options: &Options) -> Report {
    let prices = Prices::of(&chart, outside);
    check_priced(chart, options, &prices)
}

fn check_priced(chart: Arc<Chart>, options: &Options, prices: &Prices) -> Report {
    let machine = Machine::new(chart);
    let table = match options.data {
        Knowledge::Facts => Table::of(&machine),
        Knowledge::Nothing => Table::without_data(&machine),
    };
    let lookout = Lookout::of(&machine);
    let (mut explorations, is_exact) = Explorations::begin(&machine, &table, &lookout, options);
    explorations.prices = prices;
    explorations.report(is_exact)
}

/// The size of a machine, explored with all its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of configurations found.
    pub configurations: usize,
    /// The number of edges between configurations.
    pub edges: usize,
    /// True if the exploration covered everything.
    pub is_complete: bool,
}

/// Explores a machine with all its counters and proves nothing.
pub fn size(chart: Arc<Chart>, options: &Options) -> Size {
    let machine = Machine::new(chart);
    let (table, lookout) = (Table::of(&machine), Lookout::of(&machine));
    let exact = vec![true; machine.chart().counters.len()];
    let allowance = Allowance { configurations: options.configurations_max, work: options.work_max };
    let graph = explore(&machine, &table, &lookout, &exact, allowance);
    Size { configurations: graph.len() - 1, edges: graph.edges.len(), is_complete: graph.too_much.is_none() }
}

/// A claim about a machine that must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    Property(usize),
    NoDeadEnd,
    ComesToRest,
    NoFalseEnd,
}

impl Claim {
    fn breach(self, judge: &Judge<'_>) -> Option<Breach> {
        match self {
            Claim::Property(at) => judge.breach(at, &judge.machine.chart().properties[at]),
            Claim::NoDeadEnd => judge.dead_end(),
            Claim::ComesToRest => judge.bounds().as_ref().err().cloned(),
            Claim::NoFalseEnd => judge.false_end(),
        }
    }
}

/// Explorations of one machine that track different counters.
pub(crate) struct Explorations<'m> {
    pub(crate) machine: &'m Machine,
    table: &'m Table,
    lookout: &'m Lookout,
    options: &'m Options,
    found: BTreeMap<Vec<bool>, Rc<Graph>>,
    work_left: u64,
    /// The work that activities do in child runs.
    prices: &'m Prices,
    total: Total,
}

/// The decision on a claim.
enum Decision {
    Holds,
    Fails(Counterexample),
    /// Undecided because there was too much to explore, with the reason.
    Open(String),
}

impl<'m> Explorations<'m> {
    /// Explores a machine for the first time: with all its counters if it is small enough, and otherwise with none. The
    /// returned flag is true if all counters are tracked.
    pub(crate) fn begin(
        machine: &'m Machine,
        table: &'m Table,
        lookout: &'m Lookout,
        options: &'m Options,
    ) -> (Self, bool) {
        let counters = machine.chart().counters.len();
        let (found, work_left) = (BTreeMap::new(), options.work_max);
        let (prices, total) = (Prices::NONE, Total::default());
        let mut explorations = Explorations { machine, table, lookout, options, found, work_left, prices, total };
        // Most machines are small. If this one is not, most of the work must remain for the later explorations.
        let first = Allowance {
            configurations: options.exact_max.min(options.configurations_max),
            work: options.work_max / if counters == 0 { 1 } else { 16 },
        };
        let all = vec![true; counters];
        let is_small = explorations.explore(&all, first).too_much.is_none();
        if !is_small && counters > 0 {
            explorations.found.clear();
            explorations.following(&vec![false; counters]);
        }
        (explorations, is_small || counters == 0)
    }

    fn explore(&mut self, exact: &[bool], allowance: Allowance) -> Rc<Graph> {
        let graph = Rc::new(explore(self.machine, self.table, self.lookout, exact, allowance));
        self.work_left = self.work_left.saturating_sub(graph.work);
        self.total.explorations += 1;
        self.total.configurations += graph.len() as u64 - 1;
        self.total.ways += graph.edges.len() as u64;
        self.found.insert(exact.to_vec(), graph.clone());
        graph
    }

    /// Returns the graph that tracks these counters, and explores it on first use.
    pub(crate) fn following(&mut self, exact: &[bool]) -> Rc<Graph> {
        match self.found.get(exact) {
            Some(graph) => graph.clone(),
            None => {
                let configurations = self.options.configurations_max;
                self.explore(exact, Allowance { configurations, work: self.work_left })
            }
        }
    }

    fn report(&mut self, is_exact: bool) -> Report {
        let exact = vec![is_exact; self.machine.chart().counters.len()];
        let base = self.following(&exact);
        let (machine, lookout) = (self.machine, self.lookout);
        let judge = Judge::new(machine, &base, lookout, &exact).priced(self.prices);
        let chart = machine.chart();
        let mut problems = Vec::new();
        let mut properties = Vec::new();
        for (at, property) in chart.properties.iter().enumerate() {
            let (ok, counterexample) = match self.decide(Claim::Property(at), &judge) {
                Decision::Holds => (true, None),
                Decision::Fails(way) => (false, Some(way)),
                // If the machine itself is too big, that is reported only once.
                Decision::Open(_) if base.too_much.is_some() => (false, None),
                Decision::Open(why) => {
                    let message = format!("`{}` is not decided: {why}", property.name);
                    problems.push(Problem { span: property.span, ..problem(chart, "E0604", message, None) });
                    (false, None)
                }
            };
            let Property { name, because, span, .. } = property.clone();
            properties.push(Proof { name, because, ok, counterexample, span });
        }
        problems.splice(0..0, self.problems(&judge));
        let bounds = self.bounds(&judge);
        let is_bounded = |bound: &Bound| bound.transitions < u64::MAX;
        Report {
            machine: chart.id.clone(),
            ok: properties.iter().all(|proof| proof.ok) && !problems.iter().any(|problem| problem.is_error),
            explored: self.found.values().map(|graph| graph.len() - 1).max().unwrap_or(0),
            total: self.total,
            exact: is_exact,
            bound: bounds.map(|(bound, _)| bound).filter(is_bounded),
            run_bound: bounds.and_then(|(_, run)| run).filter(is_bounded),
            waits: judge.waits(),
            properties,
            problems,
        }
    }

    /// Decides a claim and refines the graph as often as needed.
    fn decide(&mut self, claim: Claim, base: &Judge<'_>) -> Decision {
        let mut exact = base.exact.to_vec();
        let mut decided = self.look(claim, base);
        for _ in 0..REFINEMENTS_MAX {
            let counter = match decided {
                Look::Decided(decision) => return decision,
                Look::Counter(counter) => counter,
            };
            exact[counter.index()] = true;
            let graph = self.following(&exact);
            decided = self.look(claim, &Judge::new(self.machine, &graph, self.lookout, &exact).priced(self.prices));
        }
        Decision::Open(format!("deciding it needs more than {REFINEMENTS_MAX} counters"))
    }

    /// Examines a claim in one graph.
    fn look(&self, claim: Claim, judge: &Judge<'_>) -> Look {
        let (machine, graph) = (self.machine, judge.graph);
        let open = || Look::Decided(Decision::Open(too_big(graph)));
        let Some(breach) = claim.breach(judge) else {
            return if graph.too_much.is_some() { open() } else { Look::Decided(Decision::Holds) };
        };
        match counter_against(machine, graph, &breach, judge.exact) {
            None => Look::Decided(Decision::Fails(tell(machine, graph, &breach.way, breach.loops_to))),
            // With one more counter there is more to explore, not less.
            Some(_) if graph.too_much.is_some() => open(),
            Some(counter) => Look::Counter(counter),
        }
    }

    /// Returns the bounds, from the first graph in which the machine comes to rest.
    fn bounds(&mut self, base: &Judge<'_>) -> Option<(Bound, Option<Bound>)> {
        let mut exact = base.exact.to_vec();
        for _ in 0..=REFINEMENTS_MAX {
            let graph = self.following(&exact);
            let judge = Judge::new(self.machine, &graph, self.lookout, &exact).priced(self.prices);
            let bounds = if exact == base.exact { base.bounds() } else { judge.bounds() };
            match bounds {
                // The unexplored part may do more work.
                _ if graph.too_much.is_some() => return None,
                Ok(bounds) => return Some(*bounds),
                Err(breach) => {
                    let counter = counter_against(self.machine, &graph, breach, &exact)?;
                    exact[counter.index()] = true;
                }
            }
        }
        None
    }

    fn problems(&mut self, judge: &Judge<'_>) -> Vec<Problem> {
        let chart = self.machine.chart();
        if judge.graph.too_much.is_some() {
            return vec![problem(chart, "E0604", too_big(judge.graph), None)];
        }
        let mut problems = Vec::new();
        for state in judge.unreachable() {
            let state = chart.state(state);
            let message = format!("state `{}` can never be reached", state.name);
            problems.push(Problem { span: state.span, ..problem(chart, "E0601", message, None) });
        }
        let dead_end = "from here the run can neither end nor reach a state tagged `idle`";
        problems.extend(self.unasked(Claim::NoDeadEnd, "E0602", dead_end, judge));
        if !problems.iter().any(|problem| problem.code == "E0602") {
            problems.extend(dropped::find(judge));
        }
        let says_terminates = chart.properties.iter().any(|property| property.kind == PropertyKind::Terminates);
        if !says_terminates {
            let endless = "this loop has no limit, so the machine may never come to rest";
            problems.extend(self.unasked(Claim::ComesToRest, "E0603", endless, judge));
        }
        if chart.dialect == Dialect::Native {
            let false_end = "an expression can fail here, and the run still does not end in failure";
            problems.extend(self.unasked(Claim::NoFalseEnd, "E0606", false_end, judge));
            problems.extend(judge.graph.unhandled.iter().map(|one| unhandled(chart, one)));
        }
        for id in judge.never_taken() {
            let transition = chart.transition(id);
            if judge.graph.visited.contains(transition.source) {
                let message = format!("this transition of `{}` is never taken", chart.state(transition.source).name);
                let problem = problem(chart, "W0605", message, None);
                problems.push(Problem { span: transition.span, is_error: false, ..problem });
            }
        }
        problems
    }

    /// Returns the problem if a claim that is made for every machine does not hold.
    fn unasked(&mut self, claim: Claim, code: &'static str, message: &str, judge: &Judge<'_>) -> Option<Problem> {
        let chart = self.machine.chart();
        match self.decide(claim, judge) {
            Decision::Holds => None,
            Decision::Fails(way) => Some(problem(chart, code, message.to_owned(), Some(way))),
            Decision::Open(why) => Some(problem(chart, "E0604", format!("{code} is not decided: {why}"), None)),
        }
    }
}

/// Warns of an expression that may fail and would end the run in failure.
fn unhandled(chart: &Chart, one: &Unhandled) -> Problem {
    let Unhandled { span, place, what } = one;
    let message = format!(
        "{place} may fail ({what}), and no transition handles `error.execution` there: the run then ends in failure"
    );
    let hint = "test the field with `has()`, require it in a schema, or add `on: { error: … }`".to_owned();
    let problem = problem(chart, "W0607", message, None);
    Problem { span: *span, is_error: false, hint: Some(hint), ..problem }
}

/// The result of examining a claim once: a decision, or a counter to track in the next graph.
enum Look {
    Decided(Decision),
    Counter(CounterId),
}

fn too_big(graph: &Graph) -> String {
    let (what, seen) = (graph.too_much.unwrap_or("configurations"), graph.len() - 1);
    format!("too many {what} to explore all; {seen} configurations seen")
}

fn problem(chart: &Chart, code: &'static str, message: String, counterexample: Option<Counterexample>) -> Problem {
    let span = counterexample.as_ref().and_then(|way| place(chart, way)).unwrap_or(top(chart));
    Problem { code, is_error: true, message, hint: None, span, counterexample }
}
