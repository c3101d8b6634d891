//! Keys that a kind of state cannot have, and states that are not allowed at their position.

use super::super::{code, draft};
use crate::{
    Diagnostic,
    model::{Chart, Kind, State},
};

const FINAL_HAS_NO: &[&str] =
    &["states", "initial", "invoke", "timeout", "on", "always", "history", "target", "shows", "grants"];
const HISTORY_HAS_NO: &[&str] =
    &["states", "invoke", "timeout", "on", "always", "entry", "exit", "data", "tags", "shows", "grants"];
const PARALLEL_HAS_NO: &[&str] = &["initial", "history", "target", "data"];
const COMPOUND_HAS_NO: &[&str] = &["history", "target", "data"];
const ATOMIC_HAS_NO: &[&str] = &["initial", "history", "target", "data"];

/// Reports every state with an invalid structure.
pub(super) fn check(machine: &draft::Machine<'_>, chart: &Chart, problems: &mut Vec<Diagnostic>) {
    // The chart has the states of the draft in the same order.
    let mut drafts = Vec::with_capacity(chart.states.len());
    flatten(&machine.root, &mut drafts);
    for (state, draft) in chart.states.iter().zip(drafts) {
        // If the `type` is unreadable, the allowed keys are unknown.
        let type_is_known = draft.ty.is_some() || draft.fields.is_none_or(|fields| fields.get("type").is_none());
        if type_is_known {
            keys(state, draft, problems);
            outcome(chart, state, draft, problems);
        }
        place(chart, state, problems);
        if state.kind == Kind::Parallel && state.children.is_empty() && state.parent.is_some() {
            let message = format!("`{}` is parallel and has no regions", state.name);
            problems.push(Diagnostic::error(code::EMPTY_MACHINE, state.span, message).hint("give it `states`"));
        }
    }
}

fn flatten<'a, 'n>(draft: &'a draft::State<'n>, drafts: &mut Vec<&'a draft::State<'n>>) {
    drafts.push(draft);
    draft.states.iter().for_each(|child| flatten(child, drafts));
}

fn keys(state: &State, draft: &draft::State<'_>, problems: &mut Vec<Diagnostic>) {
    let (kind, refused, why) = match state.kind {
        Kind::Final => ("a final state", FINAL_HAS_NO, "a final state has no actions, activities or transitions"),
        Kind::ShallowHistory | Kind::DeepHistory => {
            ("a history state", HISTORY_HAS_NO, "a history state only remembers; it has `history` and `target`")
        }
        Kind::Parallel => ("a parallel state", PARALLEL_HAS_NO, "all its regions are entered at once"),
        Kind::Compound | Kind::Atomic if state.parent.is_none() => return,
        Kind::Compound => ("a state with `states`", COMPOUND_HAS_NO, "only history and final states have it"),
        Kind::Atomic => ("a state without `states`", ATOMIC_HAS_NO, "add `type` or `states` if one of them is missing"),
    };
    let Some(fields) = draft.fields else { return };
    for key in refused {
        if let Some(entry) = fields.entry(key) {
            let message = format!("{kind} cannot have `{key}`");
            problems.push(Diagnostic::error(code::MISPLACED_KEY, entry.key.span, message).hint(why));
        }
    }
}

fn outcome(chart: &Chart, state: &State, draft: &draft::State<'_>, problems: &mut Vec<Diagnostic>) {
    let ends_run = state.kind == Kind::Final && state.parent == Some(Chart::ROOT);
    let entry = draft.fields.and_then(|fields| fields.entry("outcome")).filter(|_| state.parent.is_some());
    match entry {
        Some(entry) if !ends_run => {
            let message = format!("`{}` does not end a run, so it has no outcome", state.name);
            let hint = "an outcome belongs to a final state at the top of the machine";
            problems.push(Diagnostic::error(code::BAD_OUTCOME, entry.key.span, message).hint(hint));
        }
        None if ends_run && chart.state(Chart::ROOT).kind == Kind::Compound => {
            let message = format!("the final state `{}` has no outcome", state.name);
            let hint = "add `outcome: success`, `incomplete`, `failure` or `aborted`";
            problems.push(Diagnostic::warning(code::NO_OUTCOME, state.span, message).hint(hint));
        }
        _ => {}
    }
}

fn place(chart: &Chart, state: &State, problems: &mut Vec<Diagnostic>) {
    let Some(parent) = state.parent.map(|parent| chart.state(parent)) else { return };
    if state.kind.is_history() && (parent.id == Chart::ROOT || !matches!(parent.kind, Kind::Compound | Kind::Parallel))
    {
        let message = format!("the history state `{}` is not inside a compound or parallel state", state.name);
        let problem = Diagnostic::error(code::BAD_HISTORY, state.span, message);
        problems.push(problem.hint("move it into the `states` of the state whose history it restores"));
    }
    if state.kind == Kind::Final && parent.kind == Kind::Parallel {
        let message = format!("`{}` is final, so it cannot be a region of `{}`", state.name, parent.name);
        let problem = Diagnostic::error(code::MISPLACED_KEY, state.span, message);
        problems.push(
            problem.hint("a parallel state is done when all its regions are: put the final state inside a region"),
        );
    }
}
