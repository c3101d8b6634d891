//! Pictures of a run: only the states that it visited and the transitions that it took.
//!
//! [`Visits`] counts them step by step, `part` makes a separate chart of them, and [`svg`] and [`mermaid`] draw that
//! chart. A picture is meant for a page of A4, so it is drawn with as many details as fit its width.

mod mermaid;
mod page;
mod part;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::{Highlight, Options, Theme, layout};
use interlock_chart::{
    Chart,
    model::{Kind, StateId, TransitionId},
};

pub use mermaid::mermaid;

/// The width of a page of A4 without its margins, in CSS pixels.
pub const PAGE_WIDTH_MAX: f64 = 720.0;

/// The height of a page of A4 without its margins, a title and a caption, in CSS pixels.
pub const PAGE_HEIGHT_MAX: f64 = 940.0;

/// The states that a run visited and the transitions that it took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visits {
    /// Every state that was entered.
    entered: BTreeSet<StateId>,
    /// Composites that were entered by default, at their initial state.
    begun: BTreeSet<StateId>,
    /// Each transition with the state that it left, and how often it was taken from there.
    taken: BTreeMap<(TransitionId, StateId), u32>,
    /// The states without children that the run is in now.
    here: BTreeSet<StateId>,
}

impl Visits {
    /// Adds one microstep: the transitions taken and the states left and entered by them.
    pub fn add(&mut self, chart: &Chart, taken: &[TransitionId], exited: &[StateId], entered: &[StateId]) {
        self.entered.extend(entered);
        for &id in taken {
            *self.taken.entry((id, left_by(chart, id, exited))).or_default() += 1;
        }
        let targets: Vec<StateId> = taken.iter().flat_map(|&id| chart.transition(id).targets.clone()).collect();
        let by_default = |state: &&StateId| !targets.iter().any(|&target| chart.is_descendant(target, **state));
        self.begun.extend(entered.iter().filter(by_default));
        if taken.is_empty() && !entered.is_empty() {
            self.begun.insert(Chart::ROOT);
        }
    }

    /// Marks the states that the run is in now.
    pub fn rest(&mut self, chart: &Chart, active: impl IntoIterator<Item = StateId>) {
        self.here = active.into_iter().filter(|&state| chart.state(state).kind.is_atomic()).collect();
        self.entered.extend(&self.here);
    }

    /// Returns true if no state was visited.
    pub fn is_empty(&self) -> bool {
        self.entered.is_empty()
    }
}

/// The state that a transition left. A transition of a composite, or of the machine itself, is drawn from the state inside that the run was in.
fn left_by(chart: &Chart, id: TransitionId, exited: &[StateId]) -> StateId {
    let source = chart.transition(id).source;
    let inside = exited.iter().copied().filter(|&state| chart.state(state).kind.is_atomic());
    let mut inside = inside.filter(|&state| state == source || chart.is_descendant(state, source));
    match (inside.next(), inside.next()) {
        (Some(only), None) => only,
        _ => source,
    }
}

/// The amount of detail in a picture, from everything to the minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// Activities, timeouts, events and the states around states.
    All,
    /// No activities and timeouts.
    Events,
    /// No states around states either, but for parallel ones.
    Flat,
}

/// Draws the visited part of a chart as SVG: with all details if they fit a page, otherwise with fewer.
pub fn svg(chart: &Chart, visits: &Visits, theme: Theme) -> String {
    let mut best: Option<(f64, String)> = None;
    for detail in [Detail::All, Detail::Events, Detail::Flat] {
        let (part, highlight) = part::of(chart, visits, detail);
        let picture = layout(&part, &highlight);
        let sheet = page::fitted(&picture);
        if best.as_ref().is_none_or(|(scale, _)| sheet.scale > *scale) {
            best = Some((
                sheet.scale,
                page::svg(&part, &picture, &Options { theme, highlight, ..Options::default() }, &sheet),
            ));
        }
        if sheet.scale >= page::READABLE_SCALE_MIN {
            break;
        }
    }
    best.map(|(_, text)| text).unwrap_or_default()
}

/// Returns true if a state of this kind has regions that are active at once.
fn is_parallel(kind: Kind) -> bool {
    kind == Kind::Parallel
}
