//! Event names for tools in which every active state receives every event. A signal that such a tool could assign to
//! another region gets its qualified name.

use interlock_chart::{
    Chart,
    model::{Descriptor, Invoke, Transition},
};

/// Returns the events of a transition under names that keep their meaning in a tool without per-state signals.
pub(super) fn names(chart: &Chart, transition: &Transition) -> Vec<String> {
    transition.events.iter().flat_map(|descriptor| name(chart, transition, descriptor)).collect()
}

fn name(chart: &Chart, transition: &Transition, descriptor: &Descriptor) -> Vec<String> {
    let is_signal = |invoke: &Invoke| {
        let mut signals = invoke.signals.iter().map(|signal| chart.event(signal.event));
        !descriptor.prefix().is_empty() && signals.any(|event| descriptor.matches(&event.name))
    };
    let (own, others): (Vec<&Invoke>, Vec<&Invoke>) = (chart.invokes.iter())
        .filter(|invoke| descriptor.origin.is_none() && is_signal(invoke))
        .partition(|invoke| chart.is_in_line(invoke.state, transition.source));
    let is_mistaken = others.iter().any(|invoke| chart.can_be_together(invoke.state, transition.source));
    if own.is_empty() || !is_mistaken {
        return vec![descriptor.text.clone()];
    }
    let qualified = own.into_iter().flat_map(|invoke| {
        let signals = invoke.signals.iter().map(|signal| &chart.event(signal.event).name);
        let taken = signals.filter(|name| descriptor.matches(name));
        taken.map(move |name| format!("{}.{name}", chart.state(invoke.state).name))
    });
    // An event that can also be raised elsewhere keeps its plain name beside the qualified ones.
    let plain = chart.events.iter().any(|event| event.declared && event.name == descriptor.text);
    let mut names: Vec<String> = qualified.chain(plain.then(|| descriptor.text.clone())).collect();
    names.dedup();
    names
}
