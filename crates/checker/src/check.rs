//! Checking a machine: explore, judge, and look again more closely where that may help.

use std::sync::Arc;

use interlock_chart::{Chart, model::PropertyKind};
use interlock_core::Machine;

use crate::{
    explore::{Graph, explore},
    facts::Table,
    judge::{Breach, Judge, top},
    refine::counter_against,
    report::{Counterexample, Problem, Proof, Report},
    story::tell,
    watch::Lookout,
};

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Configurations to explore at most.
    pub configurations_max: usize,
    /// With more configurations than this, counters are left open at first and followed only where it matters.
    pub exact_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { configurations_max: 4_000_000, exact_max: 100_000 }
    }
}

/// How many counters are taken in one after another before what remains is reported as it is.
const REFINEMENTS_MAX: usize = 24;

/// Finds out what a machine can and cannot do.
pub fn check(chart: Arc<Chart>, options: &Options) -> Report {
    let machine = Machine::new(chart);
    let table = Table::of(&machine);
    let lookout = Lookout::of(&machine);
    let counters = machine.chart().counters.len();
    let all = vec![true; counters];
    let first = options.exact_max.min(options.configurations_max);
    let graph = explore(&machine, &table, &lookout, &all, first);
    if graph.too_much.is_none() || counters == 0 {
        return Findings::of(&machine, &graph, &lookout).report(true);
    }
    let mut exact = vec![false; counters];
    for _ in 0..REFINEMENTS_MAX {
        let graph = explore(&machine, &table, &lookout, &exact, options.configurations_max);
        let findings = Findings::of(&machine, &graph, &lookout);
        let counters = findings.counters_to_follow(&exact);
        if counters.is_empty() || graph.too_much.is_some() {
            return findings.report(false);
        }
        counters.iter().for_each(|counter| exact[counter.index()] = true);
    }
    let graph = explore(&machine, &table, &lookout, &exact, options.configurations_max);
    Findings::of(&machine, &graph, &lookout).report(false)
}

/// What one exploration shows.
struct Findings<'g> {
    judge: Judge<'g>,
    properties: Vec<Option<Breach>>,
    dead_end: Option<Breach>,
    bounds: Result<(crate::Bound, Option<crate::Bound>), Breach>,
}

impl<'g> Findings<'g> {
    fn of(machine: &'g Machine, graph: &'g Graph, lookout: &'g Lookout) -> Self {
        let judge = Judge::new(machine, graph, lookout);
        let properties = machine.chart().properties.iter().enumerate();
        Findings {
            properties: properties.map(|(at, property)| judge.breach(at, property)).collect(),
            dead_end: judge.dead_end(),
            bounds: judge.bounds(),
            judge,
        }
    }

    fn breaches(&self) -> impl Iterator<Item = &Breach> {
        self.properties.iter().flatten().chain(&self.dead_end).chain(self.bounds.as_ref().err())
    }

    /// Counters that rule out ways which were found, one for each.
    fn counters_to_follow(&self, exact: &[bool]) -> Vec<interlock_chart::model::CounterId> {
        let Judge { machine, graph, .. } = &self.judge;
        self.breaches().filter_map(|breach| counter_against(machine, graph, breach, exact)).collect()
    }

    fn tell(&self, breach: &Breach) -> Counterexample {
        tell(self.judge.machine, self.judge.graph, &breach.way, breach.loops_to)
    }

    fn report(self, exact: bool) -> Report {
        let chart = self.judge.machine.chart();
        let is_complete = self.judge.graph.too_much.is_none();
        let proof = |(property, breach): (&interlock_chart::model::Property, &Option<Breach>)| Proof {
            name: property.name.clone(),
            because: property.because.clone(),
            ok: breach.is_none() && is_complete,
            counterexample: breach.as_ref().map(|breach| self.tell(breach)),
            span: property.span,
        };
        let properties: Vec<Proof> = chart.properties.iter().zip(&self.properties).map(proof).collect();
        let problems = self.problems();
        let bounds = self.bounds.ok().filter(|_| is_complete);
        Report {
            machine: chart.id.clone(),
            ok: properties.iter().all(|proof| proof.ok) && !problems.iter().any(|problem| problem.is_error),
            explored: self.judge.graph.len() - 1,
            exact,
            bound: bounds.map(|(bound, _)| bound),
            run_bound: bounds.and_then(|(_, run)| run),
            waits: self.judge.waits(),
            properties,
            problems,
        }
    }

    fn problems(&self) -> Vec<Problem> {
        let chart = self.judge.machine.chart();
        let mut problems = Vec::new();
        if let Some(what) = self.judge.graph.too_much {
            let seen = self.judge.graph.len() - 1;
            problems.push(self.problem(
                "E0604",
                format!("too many {what} to explore all; {seen} configurations seen"),
                None,
            ));
            return problems;
        }
        for state in self.judge.unreachable() {
            let state = chart.state(state);
            let message = format!("state `{}` can never be reached", state.name);
            problems.push(Problem { span: state.span, ..self.problem("E0601", message, None) });
        }
        if let Some(breach) = &self.dead_end {
            let message = "from here the run can neither end nor come to a state tagged `idle`".to_owned();
            problems.push(self.problem("E0602", message, Some(breach)));
        }
        let says_terminates = chart.properties.iter().any(|property| property.kind == PropertyKind::Terminates);
        if let (Err(breach), false) = (&self.bounds, says_terminates) {
            let message = "this loop has no limit: the machine need not come to rest".to_owned();
            problems.push(self.problem("E0603", message, Some(breach)));
        }
        let is_entered = |source| self.judge.graph.visited.contains(source);
        for id in self.judge.never_taken() {
            let transition = chart.transition(id);
            if is_entered(transition.source) {
                let message = format!("this transition of `{}` is never taken", chart.state(transition.source).name);
                let problem = self.problem("W0605", message, None);
                problems.push(Problem { span: transition.span, is_error: false, ..problem });
            }
        }
        problems
    }

    fn problem(&self, code: &'static str, message: String, breach: Option<&Breach>) -> Problem {
        Problem {
            code,
            is_error: true,
            message,
            span: top(self.judge.machine.chart()),
            counterexample: breach.map(|breach| self.tell(breach)),
        }
    }
}
