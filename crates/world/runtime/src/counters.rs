//! The maximum of each counter in a run. The maximum of a limit may depend on the run's input.

use interlock_chart::{
    Value,
    model::{CounterId, TransitionId},
};
use interlock_core::{FormulaId, Scope};

use crate::Live;

impl Live {
    /// Returns the largest value that a counter can reach in this run. If the run's maximum cannot be evaluated,
    /// returns the largest value it can reach in any run.
    pub fn counter_max(&self, counter: CounterId) -> u32 {
        let (machine, chart) = (&self.loaded.machine, self.loaded.chart());
        let limits = chart.transitions.iter().flat_map(|transition| &machine.plan(transition.id).limits);
        let own = limits.filter(|(counted, ..)| *counted == counter);
        let max = own.map(|(_, at_most, formula)| formula.map_or(*at_most, |formula| self.given(formula, *at_most)));
        max.max().unwrap_or(chart.counters[counter.index()].max)
    }

    /// Returns false if a counter of the transition has reached the transition's own limit.
    pub(crate) fn is_within_limits(&self, transition: TransitionId) -> bool {
        let limits = &self.loaded.machine.plan(transition).limits;
        limits.iter().all(|(counter, at_most, formula)| {
            let max = formula.map_or(*at_most, |formula| self.given(formula, *at_most));
            self.state.counters[counter.index()] < max
        })
    }

    fn given(&self, formula: FormulaId, at_most: u32) -> u32 {
        let scope = Scope {
            machine: &self.loaded.machine,
            configuration: &self.state.configuration,
            counters: &self.state.counters,
            event: None,
        };
        match self.state.data.evaluate(formula, &scope) {
            Ok(Value::Int(max)) => u32::try_from(max.max(0)).map_or(at_most, |max| max.min(at_most)),
            _ => at_most,
        }
    }
}
