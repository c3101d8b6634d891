//! The text of a picture: names, activities, edge labels and tooltips.
//!
//! The module turns a chart's parts into lines of text with a known size. The layout decides their positions.

use super::{
    Highlight,
    text::{self, Weight},
};
use interlock_chart::{
    Chart,
    model::{Descriptor, Kind, Max, State, StateId, Transition, TransitionId},
};

/// Font size of a state's name.
pub(crate) const NAME: f64 = 13.0;
/// Font size of all smaller text.
pub(crate) const SMALL: f64 = 11.0;
/// The distance between two small lines.
pub(crate) const LINE: f64 = 14.0;
/// The width of a glyph in front of a line.
pub(crate) const GLYPH: f64 = 15.0;
/// The width of a step number in front of a line.
pub(crate) const BADGE: f64 = 19.0;

const NAME_WIDTH_MAX: f64 = 240.0;
const LINE_WIDTH_MAX: f64 = 230.0;
const GUARD_WIDTH_MAX: f64 = 150.0;
const EVENT_WIDTH_MAX: f64 = 170.0;
const JOINED_WIDTH_MAX: f64 = 130.0;
const LABEL_LINES_MAX: usize = 6;
const CASES_MIN: usize = 3;
const INNER_LINES_MAX: usize = 5;

/// A small sign in front of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyph {
    /// The state starts an activity.
    Gear,
    /// The state has a timeout.
    Clock,
    /// The transition is internal: it leaves no state.
    Inner,
}

/// The colour class of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The colour of events and activities.
    Plain,
    /// The colour of guards.
    Muted,
    /// The colour of limits.
    Accent,
}

/// One line of small text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The sign in front of the line.
    pub glyph: Option<Glyph>,
    /// The steps of a highlighted path in which the line's transitions are taken.
    pub badge: String,
    /// The pieces of text in order.
    pub parts: Vec<(Tone, String)>,
    /// The estimated width, including glyph and step numbers.
    pub width: f64,
}

impl Line {
    fn measured(mut self) -> Self {
        let text: f64 = self.parts.iter().map(|(_, text)| text::width(text, SMALL, Weight::Regular)).sum();
        let glyph = if self.glyph.is_some() { GLYPH } else { 0.0 };
        let badge = if self.badge.is_empty() { 0.0 } else { badge_width(&self.badge) + 4.0 };
        self.width = text + glyph + badge;
        self
    }

    fn plain(glyph: Option<Glyph>, text: &str) -> Self {
        let text = text::shorten(text, SMALL, Weight::Regular, LINE_WIDTH_MAX);
        Line { glyph, parts: vec![(Tone::Plain, text)], ..Line::default() }.measured()
    }

    fn joins(&self) -> bool {
        self.glyph.is_none() && self.badge.is_empty() && self.parts.len() == 1 && self.parts[0].0 == Tone::Plain
    }
}

/// Returns the text of a badge: `2`, `2,7`, `2,7,9…`.
pub(crate) fn steps_text(steps: &[u32]) -> String {
    let shown: Vec<String> = steps.iter().take(3).map(u32::to_string).collect();
    let more = if steps.len() > 3 { "…" } else { "" };
    format!("{}{more}", shown.join(","))
}

/// The badge of a transition: in which steps it is taken, or how often it was if that is more than once.
fn badge_text(transition: TransitionId, highlight: &Highlight) -> String {
    let steps: Vec<u32> = highlight.transitions.get(&transition).into_iter().flatten().copied().collect();
    match highlight.counts.get(&transition) {
        _ if !steps.is_empty() => steps_text(&steps),
        Some(count) if *count > 1 => format!("{count}×"),
        Some(_) | None => String::new(),
    }
}

/// The width of a badge with this text.
pub(crate) fn badge_width(text: &str) -> f64 {
    (text::width(text, 10.0, Weight::Bold) + 8.0).max(BADGE - 4.0)
}

/// Returns the name of a state as it is drawn.
pub(crate) fn name(state: &State) -> String {
    text::shorten(&state.name, NAME, Weight::Bold, NAME_WIDTH_MAX)
}

/// Returns the lines below a state's name: activities, a timeout that is not inherited, and internal transitions.
pub(crate) fn state_lines(chart: &Chart, state: &State, highlight: &Highlight) -> Vec<Line> {
    let mut lines: Vec<Line> =
        (state.invokes.iter()).map(|&invoke| Line::plain(Some(Glyph::Gear), &chart.invoke(invoke).activity)).collect();
    if let Some(timeout) = state.timeout_ms
        && !state.timeout_inherited
    {
        lines.push(Line::plain(Some(Glyph::Clock), &duration(timeout)));
    }
    let inner: Vec<TransitionId> =
        state.transitions.iter().copied().filter(|&id| chart.transition(id).targets.is_empty()).collect();
    let inner = edge_lines(chart, &inner, highlight);
    lines.extend(inner.into_iter().map(|line| Line { glyph: line.glyph.or(Some(Glyph::Inner)), ..line }.measured()));
    shorten_list(lines, INNER_LINES_MAX)
}

/// Returns the label of an edge that combines these transitions.
pub(crate) fn edge_lines(chart: &Chart, transitions: &[TransitionId], highlight: &Highlight) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for &id in transitions {
        let line = match cases(chart, id, transitions, highlight) {
            Some(cases) => cases,
            None => transition_line(chart, chart.transition(id), highlight),
        };
        if line.parts.is_empty() || lines.contains(&line) {
            continue;
        }
        match lines.last_mut() {
            Some(last) if last.joins() && line.joins() && last.width + line.width < JOINED_WIDTH_MAX => {
                let text = format!("{}, {}", last.parts[0].1, line.parts[0].1);
                *last = Line::plain(None, &text);
            }
            _ => lines.push(line),
        }
    }
    shorten_list(lines, LABEL_LINES_MAX)
}

/// Returns one line for many transitions on the same event. Returns `None` if they are few or if the highlighted path
/// takes them.
fn cases(chart: &Chart, id: TransitionId, transitions: &[TransitionId], highlight: &Highlight) -> Option<Line> {
    let (glyph, event) = event_text(chart, chart.transition(id));
    let alike = transitions.iter().filter(|&&other| {
        !highlight.transitions.contains_key(&other)
            && event_text(chart, chart.transition(other)) == (glyph, event.clone())
    });
    let count = alike.count();
    if count < CASES_MIN || highlight.transitions.contains_key(&id) || event.is_empty() {
        return None;
    }
    let parts = vec![(Tone::Plain, event), (Tone::Muted, format!(" [{count} cases]"))];
    Some(Line { glyph, parts, ..Line::default() }.measured())
}

fn shorten_list(mut lines: Vec<Line>, lines_max: usize) -> Vec<Line> {
    if lines.len() > lines_max {
        let more = format!("+{} more", lines.len() - (lines_max - 1));
        lines.truncate(lines_max - 1);
        lines.push(Line { parts: vec![(Tone::Muted, more)], ..Line::default() }.measured());
    }
    lines
}

fn transition_line(chart: &Chart, transition: &Transition, highlight: &Highlight) -> Line {
    let (glyph, event) = event_text(chart, transition);
    let mut parts = Vec::new();
    if !event.is_empty() {
        parts.push((Tone::Plain, text::shorten(&event, SMALL, Weight::Regular, EVENT_WIDTH_MAX)));
    }
    if let Some(guard) = &transition.guard {
        let gap = if parts.is_empty() { "" } else { " " };
        let guard = text::shorten(&brief(&guard.source), SMALL, Weight::Regular, GUARD_WIDTH_MAX);
        parts.push((Tone::Muted, format!("{gap}[{guard}]")));
    }
    // Only the lowest limit is shown; the tooltip lists all of them.
    if let Some(limit) = transition.limits.iter().min_by_key(|limit| limit.max.at_most()) {
        let gap = if parts.is_empty() { "" } else { " " };
        parts.push((Tone::Accent, format!("{gap}×{}", max_text(&limit.max))));
    }
    let badge = badge_text(transition.id, highlight);
    if parts.is_empty() && !badge.is_empty() {
        parts.push((Tone::Muted, "always".to_owned()));
    }
    Line { glyph, badge, parts, width: 0.0 }.measured()
}

/// Shortens a guard: the common prefixes are removed and operators become words.
fn brief(guard: &str) -> String {
    let mut text = guard.split_whitespace().collect::<Vec<_>>().join(" ");
    for (long, short) in
        [("context.", ""), ("event.", ""), ("input.", ""), (" == ", " = "), (" && ", " and "), (" || ", " or ")]
    {
        text = text.replace(long, short);
    }
    text
}

fn event_text(chart: &Chart, transition: &Transition) -> (Option<Glyph>, String) {
    let word = |event: &Descriptor| match event.origin {
        Some(origin) if !chart.is_in_line(origin.state, transition.source) => event.text.clone(),
        _ => event_word(event.prefix()).to_owned(),
    };
    let names: Vec<String> = transition.events.iter().map(word).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let source = chart.state(transition.source);
    match (names.as_slice(), source.timeout_ms) {
        (["timeout"], Some(timeout)) if !source.timeout_inherited => (Some(Glyph::Clock), duration(timeout)),
        (["timeout"], _) => (Some(Glyph::Clock), "timeout".to_owned()),
        _ => (None, names.join(", ")),
    }
}

fn event_word(descriptor: &str) -> &str {
    match descriptor {
        "" => "any event",
        descriptor if descriptor.starts_with("done.state.") => "done",
        descriptor if descriptor.starts_with("timeout.") => "timeout",
        descriptor => descriptor,
    }
}

fn max_text(max: &Max) -> String {
    match max {
        Max::Fixed(max) => max.to_string(),
        Max::Input { expr, .. } => {
            let last = expr.source.trim().rsplit('.').next().unwrap_or_default();
            text::shorten(last, SMALL, Weight::Regular, 110.0)
        }
    }
}

/// Formats a duration as a machine file writes it, in the largest exact unit.
pub(crate) fn duration(ms: u64) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let fitting = units.iter().find(|(unit, _)| ms >= *unit && ms.is_multiple_of(*unit));
    fitting.map_or_else(|| format!("{ms}ms"), |(unit, word)| format!("{}{word}", ms / unit))
}

/// Returns the tooltip of a state, with everything that does not fit in its box.
pub(crate) fn state_tooltip(chart: &Chart, state: &State) -> String {
    let mut lines = vec![format!("{} ({})", state.name, kind_text(state))];
    lines.extend((!state.summary.is_empty()).then(|| state.summary.clone()));
    for &id in &state.invokes {
        let invoke = chart.invoke(id);
        let signals: Vec<&str> = invoke.signals.iter().map(|signal| chart.event(signal.event).name.as_str()).collect();
        lines.push(format!("starts {}: {}", invoke.activity, signals.join(", ")));
    }
    lines.extend(state.timeout_ms.map(|timeout| format!("times out after {}", duration(timeout))));
    lines.extend((!state.tags.is_empty()).then(|| format!("tags: {}", state.tags.join(", "))));
    let inner = state.transitions.iter().map(|&id| chart.transition(id)).filter(|one| one.targets.is_empty());
    lines.extend(inner.map(|transition| transition_tooltip(chart, transition, &[])));
    lines.join("\n")
}

fn kind_text(state: &State) -> String {
    match (state.kind, state.outcome) {
        (Kind::Final, Some(outcome)) => format!("final, {}", outcome.word()),
        (kind, _) => kind.word().to_owned(),
    }
}

/// Returns the tooltip of an edge, with every transition in full.
pub(crate) fn edge_tooltip(chart: &Chart, transitions: &[TransitionId], target: StateId) -> String {
    let lines: Vec<String> =
        transitions.iter().map(|&id| transition_tooltip(chart, chart.transition(id), &[target])).collect();
    lines.join("\n")
}

fn transition_tooltip(chart: &Chart, transition: &Transition, targets: &[StateId]) -> String {
    let source = if transition.source == Chart::ROOT { "any state" } else { &chart.state(transition.source).name };
    let mut out = source.to_owned();
    for target in targets {
        out.push_str(&format!(" → {}", chart.state(*target).name));
    }
    let events: Vec<&str> = transition.events.iter().map(|event| event.text.as_str()).collect();
    out.push_str(&if events.is_empty() { ": always".to_owned() } else { format!(": {}", events.join(", ")) });
    for limit in &transition.limits {
        let counter = chart.counters.get(limit.counter.index());
        let counted =
            counter.filter(|counter| counter.named).map_or(String::new(), |counter| format!(" ({})", counter.name));
        let times = match &limit.max {
            Max::Fixed(1) => "once".to_owned(),
            max => format!("{} times", max_text(max)),
        };
        out.push_str(&format!(", at most {times}{counted}"));
    }
    if let Some(guard) = &transition.guard {
        out.push_str(&format!("\n  if {}", guard.source.trim()));
    }
    if let Some(reason) = &transition.reason {
        out.push_str(&format!("\n  because {}", interlock_chart::unresolve::template_text(reason)));
    }
    out
}
