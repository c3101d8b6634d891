//! Writes a picture as SVG text.
//!
//! Everything is written in a fixed order with one digit after the point, so the same chart gives the same bytes.
//! Arrowheads are separate shapes because not every viewer lets markers inherit the colour of their line.

use std::fmt::Write;

use super::{
    BoxKind, Edge, Glyph, Label, Line, Mark, MarkKind, Options, Picture, Role, StateBox, Tone, compose, style,
    text::{self, Weight, escape},
    words,
};
use interlock_chart::{
    Chart, counted,
    model::{Outcome, TransitionId},
};

const RADIUS: f64 = 7.0;
const HEAD_LENGTH: f64 = 8.0;
const HEAD_HALF: f64 = 4.0;

/// The size of a drawing, and the size at which it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Size {
    pub(crate) drawn: (f64, f64),
    pub(crate) shown: (f64, f64),
}

/// Writes the picture.
pub(crate) fn svg(chart: &Chart, picture: &Picture, options: &Options) -> String {
    let size = (picture.width.ceil(), picture.height.ceil());
    let head = head(chart, picture, options, Size { drawn: size, shown: size });
    format!("{head}{}</svg>\n", body(chart, picture, options))
}

/// The beginning of a document: its size, description, style, ground, title and summary.
pub(crate) fn head(chart: &Chart, picture: &Picture, options: &Options, size: Size) -> String {
    let mut writer = Writer { chart, options, out: String::new() };
    writer.head(picture, size);
    writer.out
}

/// Everything below the summary.
pub(crate) fn body(chart: &Chart, picture: &Picture, options: &Options) -> String {
    let mut writer = Writer { chart, options, out: String::new() };
    picture.boxes.iter().filter(|state| is_frame(state.kind)).for_each(|state| writer.frame(state));
    for [from, to] in &picture.separators {
        writer.line(format_args!("<path class=\"split\" d=\"M{} {}V{}\"/>", n(from.0), n(from.1), n(to.1)));
    }
    let (marked, plain): (Vec<&Edge>, Vec<&Edge>) =
        picture.edges.iter().partition(|edge| writer.is_marked(&edge.transitions));
    plain.into_iter().chain(marked).for_each(|edge| writer.edge(edge));
    picture.boxes.iter().filter(|state| !is_frame(state.kind)).for_each(|state| writer.state(state));
    picture.marks.iter().for_each(|mark| writer.mark(mark));
    picture.edges.iter().for_each(|edge| writer.label(edge));
    writer.out
}

pub(crate) fn is_frame(kind: BoxKind) -> bool {
    matches!(kind, BoxKind::Composite | BoxKind::Parallel | BoxKind::Region)
}

/// Formats a number with at most one digit after the point.
pub(crate) fn n(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

struct Writer<'a> {
    chart: &'a Chart,
    options: &'a Options,
    out: String,
}

impl Writer<'_> {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{line}");
    }

    fn head(&mut self, picture: &Picture, size: Size) {
        let (w, h) = (n(size.drawn.0), n(size.drawn.1));
        let (width, height) = (n(size.shown.0), n(size.shown.1));
        let chart = self.chart;
        let class = if self.options.is_part_of_page { " class=\"machine\"" } else { "" };
        let is_part = self.options.is_part_of_page;
        // A page has the title and the summary already, so its part begins below them.
        let top = if is_part { compose::top(picture) - compose::SPACE_IN_PAGE } else { 0.0 };
        let (shown_h, height) =
            if is_part { (n(size.drawn.1 - top), n(size.shown.1 - top)) } else { (h.clone(), height) };
        self.line(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 {} {w} {shown_h}\" width=\"{width}\" height=\"{height}\" role=\"img\"{class}>",
            n(top)
        ));
        self.line(format_args!("<title>{}</title>", escape(&chart.id)));
        let states = counted(chart.states.len().saturating_sub(1), "state", "states");
        let transitions = counted(chart.transitions.len(), "transition", "transitions");
        let described = format!("Statechart with {states} and {transitions}. {}", chart.summary);
        self.line(format_args!("<desc>{}</desc>", escape(described.trim())));
        if !self.options.is_part_of_page {
            self.line(format_args!("<style>\n{}</style>", style::sheet(self.options.theme)));
        }
        self.line(format_args!("<rect class=\"ground0\" width=\"{w}\" height=\"{h}\" rx=\"8\"/>"));
        if is_part {
            return;
        }
        let mut y = 24.0 + compose::TITLE - 4.0;
        self.line(format_args!("<text class=\"title\" x=\"24\" y=\"{}\">{}</text>", n(y), escape(&picture.title)));
        y += 4.0;
        for line in &picture.summary {
            y += compose::SUMMARY_LINE;
            self.line(format_args!("<text class=\"summary muted\" x=\"24\" y=\"{}\">{}</text>", n(y), escape(line)));
        }
    }

    /// Returns the class of an emphasised part, or of a part that is drawn faintly because others are emphasised.
    fn emphasis(&self, marked: bool) -> &'static str {
        match (marked, self.options.highlight.is_empty()) {
            (true, _) => " marked",
            (false, true) => "",
            (false, false) => " rest",
        }
    }

    fn is_marked(&self, transitions: &[TransitionId]) -> bool {
        transitions.iter().any(|id| self.options.highlight.transitions.contains_key(id))
    }

    fn is_marked_state(&self, state: &StateBox) -> bool {
        let highlight = &self.options.highlight;
        highlight.states.contains_key(&state.state) || highlight.here.contains(&state.state)
    }

    fn open_state(&mut self, state: &StateBox) {
        let rest = if self.is_marked_state(state) || is_frame(state.kind) { "" } else { self.emphasis(false) };
        let tooltip = words::state_tooltip(self.chart, self.chart.state(state.state));
        let name = if self.options.is_part_of_page { self.names(state) } else { String::new() };
        self.line(format_args!("<g class=\"state{rest}\"{name}><title>{}</title>", escape(&tooltip)));
    }

    /// Returns the attributes by which a page finds a state, and knows that it can be collapsed or expanded.
    fn names(&self, state: &StateBox) -> String {
        let name = &self.chart.state(state.state).name;
        let fold = match () {
            () if is_frame(state.kind) => "open",
            () if self.options.collapsed.contains(name) => "closed",
            () => return format!(" data-state=\"{}\"", escape(name)),
        };
        format!(" data-state=\"{}\" data-fold=\"{fold}\" data-depth=\"{}\"", escape(name), state.depth)
    }

    fn frame(&mut self, state: &StateBox) {
        self.open_state(state);
        let marked = if self.is_marked_state(state) { " marked" } else { "" };
        if state.kind != BoxKind::Region || !marked.is_empty() {
            let class = format!("frame {}{marked}", style::ground(state.depth + 1));
            self.rect(&class, state.rect, 10.0);
        }
        let header = state.header;
        let name = escape(&state.name);
        self.line(format_args!(
            "<text class=\"name\" x=\"{}\" y=\"{}\">{name}</text>",
            n(header.x),
            n(header.y + 14.0)
        ));
        let mut y = header.y + 18.0;
        for line in &state.lines {
            y += words::LINE;
            self.text_line(line, header.x, y - 3.5, None);
        }
        self.steps_of(state);
        self.line(format_args!("</g>"));
    }

    fn state(&mut self, state: &StateBox) {
        self.open_state(state);
        match state.kind {
            BoxKind::History => self.history(state, "H"),
            BoxKind::DeepHistory => self.history(state, "H*"),
            _ => self.plain_state(state),
        }
        self.steps_of(state);
        self.line(format_args!("</g>"));
    }

    fn history(&mut self, state: &StateBox, letter: &str) {
        let (x, y) = (state.rect.x + state.rect.w / 2.0, state.rect.y + state.rect.h / 2.0);
        let marked = if self.is_marked_state(state) { " marked" } else { "" };
        let r = n(state.rect.w / 2.0 - 1.0);
        self.line(format_args!("<circle class=\"box plain{marked}\" cx=\"{}\" cy=\"{}\" r=\"{r}\"/>", n(x), n(y)));
        self.line(format_args!("<text class=\"name mid\" x=\"{}\" y=\"{}\">{letter}</text>", n(x), n(y + 4.5)));
    }

    fn plain_state(&mut self, state: &StateBox) {
        let marked = if self.is_marked_state(state) { " marked" } else { "" };
        let class = box_class(state);
        let corner = if matches!(state.kind, BoxKind::Final(_)) { 14.0 } else { 8.0 };
        self.rect(&format!("box {class}{marked}"), state.rect, corner);
        if matches!(state.kind, BoxKind::Final(_)) {
            let rect = state.rect;
            let rim = super::Rect { x: rect.x + 3.5, y: rect.y + 3.5, w: rect.w - 7.0, h: rect.h - 7.0 };
            self.rect(&format!("rim {class}"), rim, corner - 3.0);
        }
        let middle = state.rect.x + state.rect.w / 2.0;
        let mut y = state.rect.y + 9.0 + 13.5;
        self.line(format_args!(
            "<text class=\"name mid\" x=\"{}\" y=\"{}\">{}</text>",
            n(middle),
            n(y),
            escape(&state.name)
        ));
        y += 1.0;
        for line in &state.lines {
            y += words::LINE;
            self.text_line(line, middle - line.width / 2.0, y, Some(middle));
        }
    }

    fn rect(&mut self, class: &str, rect: super::Rect, corner: f64) {
        let (x, y, w, h) = (n(rect.x), n(rect.y), n(rect.w), n(rect.h));
        self.line(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{}\"/>",
            n(corner)
        ));
    }

    /// Draws the step numbers of a marked state on its top right corner.
    fn steps_of(&mut self, state: &StateBox) {
        let steps: Vec<u32> = self.options.highlight.states.get(&state.state).into_iter().flatten().copied().collect();
        if !steps.is_empty() {
            let text = words::steps_text(&steps);
            self.badge(&text, state.rect.x + state.rect.w - words::badge_width(&text) + 6.0, state.rect.y - 6.0);
        }
    }

    fn badge(&mut self, text: &str, x: f64, y: f64) {
        let w = words::badge_width(text);
        self.line(format_args!(
            "<rect class=\"pill\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"13\" rx=\"6.5\"/>",
            n(x),
            n(y),
            n(w)
        ));
        self.line(format_args!("<text class=\"badge\" x=\"{}\" y=\"{}\">{text}</text>", n(x + w / 2.0), n(y + 10.0)));
    }

    /// Draws a line of small text. It is centred if a middle is given and no sign precedes the text.
    fn text_line(&mut self, line: &Line, left: f64, y: f64, middle: Option<f64>) {
        let mut x = left;
        if !line.badge.is_empty() {
            self.badge(&line.badge, x, y - 10.5);
            x += words::badge_width(&line.badge) + 4.0;
        }
        if let Some(glyph) = line.glyph {
            self.glyph(glyph, x + 5.5, y - 3.8);
            x += words::GLYPH;
        }
        let centred = middle.filter(|_| line.glyph.is_none() && line.badge.is_empty());
        let class = if centred.is_some() { " class=\"mid\"" } else { "" };
        let spans: String = line.parts.iter().map(|(tone, text)| span(*tone, text)).collect();
        let x = n(centred.unwrap_or(x));
        self.line(format_args!("<text{class} x=\"{x}\" y=\"{}\" xml:space=\"preserve\">{spans}</text>", n(y)));
    }

    fn glyph(&mut self, glyph: Glyph, x: f64, y: f64) {
        let shape = match glyph {
            Glyph::Gear => "<circle r=\"2.7\"/><circle r=\"4.2\" stroke-width=\"1.7\" stroke-dasharray=\"1.65 1.65\"/>",
            Glyph::Clock => "<circle r=\"4.4\"/><path d=\"M0 -2.6V0.3H2.1\"/>",
            Glyph::Inner => "<path d=\"M3.4 -1.8A3.9 3.9 0 1 0 3.8 1.2M3.9 -4.4V-1.5H1\"/>",
        };
        self.line(format_args!("<g class=\"glyph\" transform=\"translate({} {})\">{shape}</g>", n(x), n(y)));
    }

    fn mark(&mut self, mark: &Mark) {
        let rest = self.emphasis(false);
        let (x, y) = (mark.rect.x + mark.rect.w / 2.0, mark.rect.y + mark.rect.h / 2.0);
        if mark.kind == MarkKind::Initial {
            let r = n(mark.rect.w / 2.0);
            self.line(format_args!("<circle class=\"dot{rest}\" cx=\"{}\" cy=\"{}\" r=\"{r}\"/>", n(x), n(y)));
            return;
        }
        self.rect(&format!("sign{rest}"), mark.rect, mark.rect.h / 2.0);
        let text = text::shorten(&mark.text, words::SMALL, Weight::Regular, mark.rect.w - 12.0);
        self.line(format_args!(
            "<text class=\"muted mid{rest}\" x=\"{}\" y=\"{}\">{}</text>",
            n(x),
            n(y + 4.0),
            escape(&text)
        ));
    }

    fn edge(&mut self, edge: &Edge) {
        let emphasis = self.emphasis(self.is_marked(&edge.transitions));
        let faint = if emphasis.is_empty() && self.is_exceptional(&edge.transitions) { " faint" } else { "" };
        self.line(format_args!("<g{}>", self.numbers(&edge.transitions)));
        if !edge.transitions.is_empty() {
            let tooltip = words::edge_tooltip(self.chart, &edge.transitions, edge.target);
            self.line(format_args!("<title>{}</title>", escape(&tooltip)));
        }
        let path = rounded(&shortened(&edge.points));
        self.line(format_args!("<path class=\"edge{faint}{emphasis}\" d=\"{path}\"/>"));
        if let [.., before, last] = edge.points.as_slice() {
            self.line(format_args!("<path class=\"head{faint}{emphasis}\" d=\"{}\"/>", arrowhead(*before, *last)));
        }
        self.line(format_args!("</g>"));
    }

    /// Returns the attribute with the numbers of an edge's transitions, if the picture is part of a page.
    fn numbers(&self, transitions: &[TransitionId]) -> String {
        if !self.options.is_part_of_page || transitions.is_empty() {
            return String::new();
        }
        let numbers: Vec<String> = transitions.iter().map(|id| id.index().to_string()).collect();
        format!(" data-transitions=\"{}\"", numbers.join(" "))
    }

    /// Returns true if an edge is only taken on errors and timeouts. Such an edge is drawn fainter to emphasise the
    /// main flow.
    fn is_exceptional(&self, transitions: &[TransitionId]) -> bool {
        let wrong =
            |name: &str| ["error", "timeout"].iter().any(|word| name == *word || name.starts_with(&format!("{word}.")));
        !transitions.is_empty()
            && transitions.iter().all(|&id| {
                let events = &self.chart.transition(id).events;
                !events.is_empty() && events.iter().all(|event| wrong(event.prefix()))
            })
    }

    fn label(&mut self, edge: &Edge) {
        let Some(Label { rect, lines, depth }) = &edge.label else { return };
        let emphasis = self.emphasis(self.is_marked(&edge.transitions));
        let tooltip = words::edge_tooltip(self.chart, &edge.transitions, edge.target);
        let rest = emphasis.replace(" marked", "");
        self.line(format_args!("<g{}><title>{}</title>", self.numbers(&edge.transitions), escape(&tooltip)));
        self.rect(style::ground(*depth), *rect, 3.0);
        if !rest.is_empty() {
            self.line(format_args!("<g class=\"rest\">"));
        }
        let middle = rect.x + rect.w / 2.0;
        let mut y = rect.y - 2.5;
        for line in lines {
            y += words::LINE;
            self.text_line(line, middle - line.width / 2.0, y, Some(middle));
        }
        self.line(format_args!("{}", if rest.is_empty() { "</g>" } else { "</g></g>" }));
    }
}

fn span(tone: Tone, text: &str) -> String {
    match tone {
        Tone::Plain => escape(text),
        Tone::Muted => format!("<tspan class=\"muted\">{}</tspan>", escape(text)),
        Tone::Accent => format!("<tspan class=\"accent\">{}</tspan>", escape(text)),
    }
}

fn box_class(state: &StateBox) -> &'static str {
    match (state.kind, state.role) {
        (BoxKind::Final(Some(Outcome::Success)), _) => "success",
        (BoxKind::Final(Some(Outcome::Incomplete)), _) => "incomplete",
        (BoxKind::Final(Some(Outcome::Failure)), _) => "failure",
        (BoxKind::Final(Some(Outcome::Aborted)), _) => "aborted",
        (_, Role::Plain) => "plain",
        (_, Role::Work) => "work",
        (_, Role::Judgement) => "judge",
        (_, Role::Idle) => "idle",
    }
}

/// Removes the part of the course that the arrowhead covers.
fn shortened(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut points = points.to_vec();
    if let [.., before, last] = points.as_mut_slice() {
        let (dx, dy) = (last.0 - before.0, last.1 - before.1);
        let length = dx.hypot(dy).max(0.1);
        let part = ((HEAD_LENGTH - 1.0) / length).min(0.95);
        *last = (last.0 - dx * part, last.1 - dy * part);
    }
    points
}

fn arrowhead(before: (f64, f64), tip: (f64, f64)) -> String {
    let (dx, dy) = (tip.0 - before.0, tip.1 - before.1);
    let length = dx.hypot(dy).max(0.1);
    let (dx, dy) = (dx / length, dy / length);
    let back = (tip.0 - dx * HEAD_LENGTH, tip.1 - dy * HEAD_LENGTH);
    let (ax, ay) = (back.0 - dy * HEAD_HALF, back.1 + dx * HEAD_HALF);
    let (bx, by) = (back.0 + dy * HEAD_HALF, back.1 - dx * HEAD_HALF);
    format!("M{} {}L{} {}L{} {}Z", n(tip.0), n(tip.1), n(ax), n(ay), n(bx), n(by))
}

/// Returns a path through the points with rounded bends.
fn rounded(points: &[(f64, f64)]) -> String {
    let Some(first) = points.first() else { return String::new() };
    let mut path = format!("M{} {}", n(first.0), n(first.1));
    for bend in points.windows(3) {
        let (before, corner, after) = (bend[0], bend[1], bend[2]);
        let (start, end) = (towards(corner, before), towards(corner, after));
        let corner = (n(corner.0), n(corner.1));
        path.push_str(&format!("L{} {}Q{} {} {} {}", n(start.0), n(start.1), corner.0, corner.1, n(end.0), n(end.1)));
    }
    if let Some(last) = points.last().filter(|_| points.len() > 1) {
        path.push_str(&format!("L{} {}", n(last.0), n(last.1)));
    }
    path
}

/// Returns the point at which the bend at `corner` begins, in the direction of `other`.
fn towards(corner: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    let (dx, dy) = (other.0 - corner.0, other.1 - corner.1);
    let length = dx.hypot(dy).max(0.1);
    let part = RADIUS.min(length / 2.0) / length;
    (corner.0 + dx * part, corner.1 + dy * part)
}
