//! A machine's formulas by purpose: conditions, assignments, the names of sent events; and which formulas may fail.

use std::collections::{BTreeMap, BTreeSet};

use interlock_chart::{
    expr::Expr,
    model::{Template, VarId},
};
use interlock_core::{FormulaId, Machine, Operation};

use super::{
    Purpose, events_of,
    sure::{Certainty, Sure},
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

pub(super) fn may_fail(machine: &Machine, certainty: &Certainty<'_>) -> Vec<bool> {
    let template = |id: FormulaId| &machine.formulas()[id.index()].template;
    let mut may_fail: Vec<bool> =
        machine.formulas().iter().map(|formula| !certainty.evaluates(&formula.template, &[])).collect();
    for transition in &machine.chart().transitions {
        let events = events_of(machine.chart(), transition);
        let mut ids = Vec::new();
        let plan = machine.plan(transition.id);
        if let Some(guard) = plan.guard {
            may_fail[guard.index()] = certainty.template(template(guard), &events) != Sure::Bool;
        }
        formulas_in(&plan.operations, &mut ids);
        for id in ids {
            may_fail[id.index()] = !certainty.evaluates(template(id), &events);
        }
    }
    may_fail
}

fn formulas_in(block: &[Operation], into: &mut Vec<FormulaId>) {
    for operation in block {
        match operation {
            Operation::Assign { value: id, .. } | Operation::Cancel { id } | Operation::Log { text: id } => {
                into.push(*id)
            }
            Operation::Raise { data, .. } => into.push(*data),
            Operation::Send { event, data, delay, .. } => {
                into.extend([Some(*event), Some(*data), *delay].into_iter().flatten())
            }
            Operation::If { branches } => branches.iter().for_each(|(cond, block)| {
                into.extend(*cond);
                formulas_in(block, into);
            }),
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
