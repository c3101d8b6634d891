//! Draws machines as pictures.
//!
//! [`svg`] lays a chart out and writes it as one SVG: no external program, no script, the same text for the same chart.
//! [`Picture`] is the layout as plain data. The parts of this module:
//!
//! - `collapse` leaves out the insides of states that a reader does not want to see;
//! - `words` chooses the text, `text` measures it;
//! - `bundle` collects the edges, `wiring` splits them at the composites that they cross;
//! - `layered` lays out the inside of one composite;
//! - `inside` turns a composite into such a layout and puts the border around it;
//! - `compose` does so from the innermost outwards and puts the boxes into each other;
//! - `render` writes the SVG, `style` its colours.
//!
//! This crate does not know how a machine moves and opens no file. Text formats of diagrams (Mermaid, DOT) are written by
//! `interlock-exchange`.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod bundle;
mod collapse;
mod compose;
mod inside;
mod layered;
mod picture;
mod render;
mod style;
mod text;
pub mod visited;
mod wiring;
mod words;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use picture::{BoxKind, Edge, Label, Mark, MarkKind, Picture, Rect, Role, StateBox};
pub use words::{Glyph, Line, Tone};

use interlock_chart::{
    Chart,
    model::{StateId, TransitionId},
};

/// Options for a picture.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Light, dark, or the preference of the reader's system.
    pub theme: Theme,
    /// The part of the chart that is emphasised.
    pub highlight: Highlight,
    /// Writes the picture as a part of a web page: its style comes from the page ([`page_style`]), and states and edges
    /// carry the names of states and the numbers of transitions (`data-state`, `data-transitions`).
    pub is_part_of_page: bool,
    /// The names of composite states that are drawn as plain boxes, without the states inside them. The highlight must
    /// be empty, because its indices are those of the whole chart.
    pub collapsed: BTreeSet<String>,
}

/// The colours of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark shapes on a light background.
    Light,
    /// Light shapes on a dark background.
    Dark,
    /// The reader's preference (`prefers-color-scheme`).
    #[default]
    Auto,
}

/// A path through a chart, or any other part of it, that is emphasised. The rest is drawn faintly.
///
/// The numbers are steps of the path. A state may be marked without a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Highlight {
    /// States, and the steps after which they are active.
    pub states: BTreeMap<StateId, BTreeSet<u32>>,
    /// Transitions, and the steps in which they are taken.
    pub transitions: BTreeMap<TransitionId, BTreeSet<u32>>,
    /// Transitions and how often they were taken. Nothing steps back because of them.
    pub counts: BTreeMap<TransitionId, u32>,
    /// States that a run is in. Nothing steps back because of them.
    pub here: BTreeSet<StateId>,
}

impl Highlight {
    /// Creates the highlight of a path that takes these transitions in order, numbered from 1, with every state it
    /// visits.
    pub fn path(chart: &Chart, transitions: &[TransitionId]) -> Self {
        let mut highlight = Highlight::default();
        for (step, &id) in (1..).zip(transitions) {
            let Some(transition) = chart.transitions.get(id.index()) else { continue };
            highlight.step(step, id);
            for &state in
                transition.targets.iter().chain((transition.source != Chart::ROOT).then_some(&transition.source))
            {
                highlight.state(state);
            }
        }
        highlight
    }

    /// Marks a state without a step number.
    pub fn state(&mut self, state: StateId) {
        self.states.entry(state).or_default();
    }

    /// Marks a transition as taken in a step.
    pub fn step(&mut self, step: u32, transition: TransitionId) {
        self.transitions.entry(transition).or_default().insert(step);
    }

    /// Returns true if nothing is emphasised.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty() && self.transitions.is_empty()
    }
}

/// Returns the chart as an SVG document.
pub fn svg(chart: &Chart, options: &Options) -> String {
    let chart = collapse::chart(chart, &options.collapsed);
    render::svg(&chart, &layout(&chart, &options.highlight), options)
}

/// Returns the style sheet for pictures that are part of a web page. A page chooses a theme with the attribute
/// `data-theme` of its root element; without it, the reader's preference applies.
pub fn page_style() -> String {
    style::page()
}

/// Computes the layout of a chart. The highlight is needed because its step numbers take room beside the labels.
pub fn layout(chart: &Chart, highlight: &Highlight) -> Picture {
    compose::picture(chart, highlight)
}
