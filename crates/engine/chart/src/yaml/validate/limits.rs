//! Limits, and the alternatives when they are reached.
//!
//! A limited transition needs a later candidate for the same event: after it in the same state, or in an ancestor. The
//! candidate is a certain way out if it has no guard, or a guard that is true whenever the limited transition's guard
//! is true (the same guard, or a part of it). A candidate with another guard is an uncertain way out, which is reported
//! as a warning. A later candidate that is itself limited counts, because it must have its own way out. An eventless
//! transition also has a way out if its state handles any event: then the run can wait there.

use super::{super::code, chosen::guard_is, covering, key};
use crate::{
    Diagnostic,
    expr::{Binary, Expr, Node},
    model::{Chart, Descriptor, Raiser, State, Transition},
};
use std::collections::BTreeMap;

/// The maximum number of later candidates of one state that are examined. Further candidates are ignored.
const LATER_MAX: usize = 64;

/// The certainty that an alternative follows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WayOut {
    None,
    Guarded,
    Certain,
}

/// Reports limits without an alternative.
pub(super) fn check(chart: &Chart, problems: &mut Vec<Diagnostic>) {
    let candidates: Vec<Candidates<'_>> = chart.states.iter().map(|state| Candidates::of(chart, state)).collect();
    for transition in chart.transitions.iter().filter(|transition| !transition.limits.is_empty()) {
        if guard_is(transition, false) {
            continue;
        }
        if transition.events.is_empty() {
            eventless(chart, transition, problems);
            continue;
        }
        let worst = transition
            .events
            .iter()
            .map(|event| (way_out(chart, &candidates, transition, event), event))
            .min_by_key(|(way, _)| *way);
        if let Some((way, event)) = worst {
            report(chart, transition, way, event, problems);
        }
    }
}

/// A state's transitions by the prefixes of their descriptors, in file order.
struct Candidates<'c>(BTreeMap<&'c str, Vec<&'c Transition>>);

impl<'c> Candidates<'c> {
    fn of(chart: &'c Chart, state: &State) -> Self {
        let mut by_prefix: BTreeMap<&str, Vec<&Transition>> = BTreeMap::new();
        for transition in state.transitions.iter().map(|id| chart.transition(*id)) {
            for event in &transition.events {
                by_prefix.entry(key(event)).or_default().push(transition);
            }
        }
        Candidates(by_prefix)
    }

    fn later<'s>(
        &'s self,
        chart: &'s Chart,
        than: &Transition,
        event: &'s Descriptor,
    ) -> impl Iterator<Item = &'c Transition> + 's {
        let (source, id) = (than.source, than.id);
        let lists = covering(chart, source, event).filter_map(|key| self.0.get(key));
        lists.flat_map(move |list| {
            let first = list.partition_point(|other| other.source == source && other.id <= id);
            list[first..].iter().copied().take(LATER_MAX)
        })
    }
}

fn way_out(chart: &Chart, candidates: &[Candidates<'_>], transition: &Transition, event: &Descriptor) -> WayOut {
    // An event of another region is handled in that region, so it may be ignored here.
    if event.origin.is_some_and(|origin| !chart.is_in_line(transition.source, origin.state)) {
        return WayOut::Certain;
    }
    let states = std::iter::once(transition.source).chain(chart.ancestors(transition.source));
    let later = states.flat_map(|state| candidates[state.index()].later(chart, transition, event));
    later.map(|other| sureness(transition, other)).max().unwrap_or(WayOut::None)
}

fn sureness(limited: &Transition, later: &Transition) -> WayOut {
    match (&limited.guard, &later.guard) {
        _ if guard_is(later, false) => WayOut::None,
        (_, None) => WayOut::Certain,
        _ if guard_is(later, true) => WayOut::Certain,
        (Some(strong), Some(weak)) if implies(strong, weak) => WayOut::Certain,
        _ => WayOut::Guarded,
    }
}

/// Returns true if `weak` is true whenever `strong` is, because it is the same or a part of it.
fn implies(strong: &Expr, weak: &Expr) -> bool {
    let known = |expr: &Expr| !matches!(expr.node, Node::Opaque(_));
    let parts = |expr| {
        let mut parts = Vec::new();
        conjuncts(expr, &mut parts);
        parts
    };
    strong.source == weak.source
        || (known(strong) && known(weak) && {
            let (strong, weak) = (parts(&strong.node), parts(&weak.node));
            weak.iter().all(|part| strong.contains(part))
        })
}

fn conjuncts<'e>(node: &'e Node, parts: &mut Vec<&'e Node>) {
    match node {
        Node::Binary(Binary::And, left, right) => {
            conjuncts(left, parts);
            conjuncts(right, parts);
        }
        other => parts.push(other),
    }
}

fn eventless(chart: &Chart, transition: &Transition, problems: &mut Vec<Diagnostic>) {
    let mut states = std::iter::once(transition.source).chain(chart.ancestors(transition.source));
    let leads_on = |other: &Transition| {
        let behind = other.source != transition.source || other.id > transition.id;
        !other.events.is_empty() || (behind && sureness(transition, other) > WayOut::None)
    };
    let way_out = states
        .any(|state| chart.state(state).transitions.iter().take(LATER_MAX).any(|id| leads_on(chart.transition(*id))));
    if !way_out {
        report(chart, transition, WayOut::None, &Descriptor::plain("always"), problems);
    }
}

fn report(chart: &Chart, transition: &Transition, way: WayOut, event: &Descriptor, problems: &mut Vec<Diagnostic>) {
    let hint = |which: &str| {
        format!("add another transition for `{}` after it, which {which}is taken when the limit is reached", event.text)
    };
    let message = |certain: &str| format!("when this limit is reached, {certain} handles `{}`", event.text);
    problems.push(match way {
        WayOut::Certain => return,
        WayOut::Guarded => {
            let message = message("perhaps nothing");
            Diagnostic::warning(code::UNCERTAIN_WAY_OUT, transition.span, message).hint(hint("has no guard and "))
        }
        // An event from outside that is no longer handled blocks nothing; an unhandled signal does.
        WayOut::None if only_from_outside(chart, event) => {
            Diagnostic::warning(code::UNCERTAIN_WAY_OUT, transition.span, message("nothing")).hint(hint(""))
        }
        WayOut::None => Diagnostic::error(code::NO_WAY_OUT, transition.span, message("nothing")).hint(hint("")),
    });
}

fn only_from_outside(chart: &Chart, event: &Descriptor) -> bool {
    let mut taken = chart.events.iter().filter(|known| event.matches(&known.name)).peekable();
    taken.peek().is_some()
        && taken.all(|known| matches!(known.from, Raiser::User | Raiser::Run | Raiser::Any) && known.declared)
}
