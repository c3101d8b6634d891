//! A machine's formulas by purpose: conditions, assignments, the names of sent events; and which formulas may fail.

use std::collections::{BTreeMap, BTreeSet};

use interlock_chart::{
    expr::Expr,
    model::{Schema, Template, VarId},
};
use interlock_core::{FormulaId, Machine, Operation};

use super::{
    Purpose,
    sure::{Certainty, Found, Sure, forget, lasting, with},
};

/// Every expression that is evaluated as a condition, and every one whose truth is assigned to a variable.
pub(super) fn conditions(machine: &Machine) -> Vec<(FormulaId, &Expr)> {
    let mut ids = BTreeSet::new();
    for transition in &machine.chart().transitions {
        let plan = machine.plan(transition.id);
        ids.extend(plan.guard);
        conditions_in(&plan.operations, &mut ids);
    }
    for state in &machine.chart().states {
        machine.content(state.id).for_each(|block| conditions_in(block, &mut ids));
    }
    let expr = |id: FormulaId| match &machine.formulas()[id.index()].template {
        Template::Expr(expr) => Some((id, expr)),
        _ => None,
    };
    ids.into_iter().filter_map(expr).collect()
}

fn conditions_in(block: &[Operation], into: &mut BTreeSet<FormulaId>) {
    for operation in block {
        if let Operation::If { branches } = operation {
            into.extend(branches.iter().filter_map(|(cond, _)| *cond));
            branches.iter().for_each(|(_, block)| conditions_in(block, into));
        }
    }
}

fn every_block<'m>(machine: &'m Machine, mut visit: impl FnMut(&'m Operation)) {
    fn walk<'m>(block: &'m [Operation], visit: &mut impl FnMut(&'m Operation)) {
        for operation in block {
            visit(operation);
            if let Operation::If { branches } = operation {
                branches.iter().for_each(|(_, block)| walk(block, visit));
            }
        }
    }
    for transition in &machine.chart().transitions {
        walk(&machine.plan(transition.id).operations, &mut visit);
    }
    for state in &machine.chart().states {
        machine.content(state.id).for_each(|block| walk(block, &mut visit));
    }
}

pub(super) fn assignments(machine: &Machine) -> Vec<(VarId, FormulaId)> {
    let mut found: Vec<_> =
        (machine.initial_context().iter().enumerate()).map(|(at, id)| (VarId::at(at), *id)).collect();
    every_block(machine, |operation| {
        if let Operation::Assign { var, value } = operation {
            found.push((*var, *value));
        }
    });
    found
}

/// Returns, per formula, whether its evaluation may fail.
pub(super) fn may_fail(machine: &Machine, certainty: &Certainty<'_>) -> Vec<bool> {
    let nothing = Found::new();
    let may_fail = machine.formulas().iter().map(|formula| !certainty.evaluates(&formula.template, &[], &nothing));
    let mut risks = Risks { machine, certainty, may_fail: may_fail.collect() };
    for transition in &machine.chart().transitions {
        let (plan, events) = (machine.plan(transition.id), certainty.events.taken_by(transition));
        let guard = transition.guard.as_ref().map(|guard| &guard.node);
        risks.condition(plan.guard, &events, &nothing);
        // The reason is evaluated right after the guard. Exit content comes in between for the actions.
        let found = with(&nothing, guard, true);
        plan.reason.into_iter().for_each(|reason| risks.value(reason, &events, &found));
        risks.block(&plan.operations, &events, lasting(found));
    }
    for state in &machine.chart().states {
        machine.content(state.id).for_each(|block| risks.block(block, &[], Vec::new()));
    }
    // A computed text need not be a duration.
    for (id, _) in purposes(machine).into_iter().filter(|(_, purpose)| *purpose == Purpose::Delay) {
        risks.may_fail[id.index()] |= !matches!(machine.formulas()[id.index()].template, Template::Literal(_));
    }
    risks.may_fail
}

/// Finds the formulas that may fail where they stand.
struct Risks<'m> {
    machine: &'m Machine,
    certainty: &'m Certainty<'m>,
    may_fail: Vec<bool>,
}

impl<'m> Risks<'m> {
    fn template(&self, id: FormulaId) -> &'m Template {
        &self.machine.formulas()[id.index()].template
    }

    fn value(&mut self, id: FormulaId, events: &[&Schema], found: &Found<'_>) {
        self.may_fail[id.index()] = !self.certainty.evaluates(self.template(id), events, found);
    }

    fn condition(&mut self, id: Option<FormulaId>, events: &[&Schema], found: &Found<'_>) {
        if let Some(id) = id {
            self.may_fail[id.index()] = self.certainty.template(self.template(id), events, found) != Sure::Bool;
        }
    }

    fn block(&mut self, block: &[Operation], events: &[&Schema], mut found: Found<'m>) {
        for operation in block {
            match operation {
                Operation::Assign { var, value } => {
                    self.value(*value, events, &found);
                    forget(&mut found, &self.machine.chart().context[var.index()].name);
                }
                Operation::Cancel { id } | Operation::Log { text: id } | Operation::Raise { data: id, .. } => {
                    self.value(*id, events, &found);
                }
                Operation::Send { event, data, delay, .. } => {
                    let all = [Some(*event), Some(*data), *delay];
                    all.into_iter().flatten().for_each(|id| self.value(id, events, &found));
                }
                Operation::If { branches } => {
                    let mut before = found.clone();
                    for (cond, block) in branches {
                        self.condition(*cond, events, &before);
                        let node = cond.and_then(|cond| match self.template(cond) {
                            Template::Expr(expr) => Some(&expr.node),
                            _ => None,
                        });
                        self.block(block, events, with(&before, node, true));
                        before = with(&before, node, false);
                    }
                    // A branch may have assigned anything.
                    found = lasting(found);
                }
            }
        }
    }
}

pub(super) fn purposes(machine: &Machine) -> BTreeMap<FormulaId, Purpose> {
    let mut purposes = BTreeMap::new();
    every_block(machine, |operation| match operation {
        Operation::Send { event, delay, .. } => {
            purposes.insert(*event, Purpose::Event);
            purposes.extend(delay.map(|delay| (delay, Purpose::Delay)));
        }
        Operation::Cancel { id } => _ = purposes.insert(*id, Purpose::Cancel),
        _ => {}
    });
    purposes
}

pub(super) fn send_names(machine: &Machine) -> Vec<String> {
    let mut names = BTreeSet::new();
    every_block(machine, |operation| {
        if let Operation::Send { id: Some(id), .. } = operation {
            names.insert(id.to_string());
        }
    });
    names.into_iter().collect()
}
