//! Composes the picture from the innermost composite state outwards. Each composite is laid out as a box of known size
//! and then placed in its parent.
//!
//! Children come after their parents in a chart, so one backward pass computes sizes and one forward pass computes
//! positions. There is no recursion at any nesting depth.

use std::collections::BTreeMap;

use super::{
    Highlight,
    inside::{self, Inside, Shape},
    picture::{BoxKind, Edge, Label, Mark, Picture, Rect, Role, StateBox},
    text::{self, Weight},
    wiring::{self, Origin, Wiring},
    words,
};
use interlock_chart::{
    Chart,
    model::{Kind, State, StateId},
};

const MARGIN: f64 = 24.0;
/// Font size of the picture's title.
pub(crate) const TITLE: f64 = 18.0;
/// Font size of the summary.
pub(crate) const SUMMARY: f64 = 12.5;
/// The distance between two lines of the summary.
pub(crate) const SUMMARY_LINE: f64 = 17.0;
const SUMMARY_WIDTH_MIN: f64 = 420.0;
const SUMMARY_WIDTH_MAX: f64 = 900.0;
const SUMMARY_LINES_MAX: usize = 4;

/// The room above the chart in a picture without title and summary.
pub(crate) const SPACE_IN_PAGE: f64 = 14.0;

/// Returns the position at which the chart begins, below the title and the summary.
pub(crate) fn top(picture: &Picture) -> f64 {
    MARGIN + TITLE + 6.0 + picture.summary.len() as f64 * SUMMARY_LINE + 10.0
}

/// Computes the layout of a whole chart.
pub(crate) fn picture(chart: &Chart, highlight: &Highlight) -> Picture {
    let wiring = wiring::wire(chart, highlight);
    let mut shapes: Vec<Shape> =
        chart.states.iter().map(|state| inside::shape(chart, state, &wiring, highlight)).collect();
    let mut insides: BTreeMap<StateId, Inside> = BTreeMap::new();
    for state in chart.states.iter().rev().filter(|state| !state.children.is_empty()) {
        let inside = inside::lay_out(chart, state, &wiring, &shapes, &insides);
        let shape = &mut shapes[state.id.index()];
        (shape.w, shape.h) = (inside.w, inside.h);
        shape.fit_loop();
        insides.insert(state.id, inside);
    }
    Assembly { chart, wiring: &wiring, shapes: &shapes, insides: &insides, corners: Vec::new(), grounds: Vec::new() }
        .assemble()
}

/// The points of an edge, and the rectangle of its label with the number of enclosing frames.
type Course = (Vec<(f64, f64)>, Option<(Rect, usize)>);

struct Assembly<'a> {
    chart: &'a Chart,
    wiring: &'a Wiring,
    shapes: &'a [Shape],
    insides: &'a BTreeMap<StateId, Inside>,
    /// The top left corner of each state in the picture, by state.
    corners: Vec<(f64, f64)>,
    /// The number of frames around the contents of each state, by state.
    grounds: Vec<usize>,
}

impl Assembly<'_> {
    fn assemble(mut self) -> Picture {
        let mut picture = self.frame();
        self.place_corners(picture.height);
        for state in self.chart.states.iter().skip(1) {
            picture.boxes.push(self.state_box(state));
        }
        for (&state, inside) in self.insides {
            let (x, y) = self.corners[state.index()];
            picture.marks.extend(inside.marks.iter().map(|mark| Mark { rect: mark.rect.moved(x, y), ..mark.clone() }));
            let line = |ends: &[(f64, f64); 2]| ends.map(|point| (point.0 + x, point.1 + y));
            picture.separators.extend(inside.separators.iter().map(line));
        }
        picture.edges = (0..self.wiring.bundles.len()).filter_map(|bundle| self.edge(bundle)).collect();
        let root = self.shapes.first().map_or((0.0, 0.0), |root| (root.w, root.h));
        picture.width = picture.width.max(root.0 + 2.0 * MARGIN);
        picture.height += root.1 + MARGIN;
        picture
    }

    /// Creates the picture with its title and summary. The initial height is the position at which the chart begins.
    fn frame(&self) -> Picture {
        let room = self.shapes.first().map_or(0.0, |root| root.w).clamp(SUMMARY_WIDTH_MIN, SUMMARY_WIDTH_MAX);
        let title = text::shorten(&self.chart.id, TITLE, Weight::Bold, room);
        let summary = text::wrap(&self.chart.summary, SUMMARY, room, SUMMARY_LINES_MAX);
        let widths = summary.iter().map(|line| text::width(line, SUMMARY, Weight::Regular));
        let width = widths.fold(text::width(&title, TITLE, Weight::Bold), f64::max) + 2.0 * MARGIN;
        let mut picture = Picture { width, title, summary, ..Picture::default() };
        picture.height = top(&picture);
        picture
    }

    fn place_corners(&mut self, top: f64) {
        self.corners = vec![(MARGIN, top); self.chart.states.len()];
        self.grounds = vec![0; self.chart.states.len()];
        for state in &self.chart.states {
            if let Some(parent) = state.parent {
                let framed = usize::from(self.box_kind(state) != BoxKind::Region);
                self.grounds[state.id.index()] = self.grounds[parent.index()] + framed;
            }
        }
        for state in &self.chart.states {
            let Some(inside) = self.insides.get(&state.id) else { continue };
            let (x, y) = self.corners[state.id.index()];
            for &(child, rect) in &inside.children {
                self.corners[child.index()] = (x + rect.x, y + rect.y);
            }
        }
    }

    fn state_box(&self, state: &State) -> StateBox {
        let shape = &self.shapes[state.id.index()];
        let (x, y) = self.corners[state.id.index()];
        let rect = Rect { x, y, w: shape.w, h: shape.h };
        let header = self.insides.get(&state.id).map_or(rect, |inside| inside.header.moved(x, y));
        StateBox {
            state: state.id,
            rect,
            kind: self.box_kind(state),
            depth: state.parent.map_or(0, |parent| self.grounds[parent.index()]),
            name: shape.name.clone(),
            lines: shape.lines.clone(),
            header,
            role: self.role(state),
        }
    }

    fn box_kind(&self, state: &State) -> BoxKind {
        let in_parallel = state.parent.is_some_and(|parent| self.chart.state(parent).kind == Kind::Parallel);
        match state.kind {
            Kind::ShallowHistory => BoxKind::History,
            Kind::DeepHistory => BoxKind::DeepHistory,
            _ if in_parallel && !state.children.is_empty() => BoxKind::Region,
            Kind::Parallel if !state.children.is_empty() => BoxKind::Parallel,
            _ if !state.children.is_empty() => BoxKind::Composite,
            Kind::Final => BoxKind::Final(state.outcome),
            _ => BoxKind::Atomic,
        }
    }

    fn role(&self, state: &State) -> Role {
        let mut invokes = state.invokes.iter().map(|&invoke| self.chart.invoke(invoke));
        match () {
            () if state.tags.iter().any(|tag| tag == "idle") => Role::Idle,
            () if invokes.clone().any(|invoke| invoke.is_judgement()) => Role::Judgement,
            () if invokes.next().is_some() => Role::Work,
            () => Role::Plain,
        }
    }

    fn edge(&self, index: usize) -> Option<Edge> {
        let bundle = &self.wiring.bundles[index];
        let source = match bundle.origin {
            Origin::State(source) => Some(source),
            Origin::Any => Some(Chart::ROOT),
            Origin::Dot(_) => None,
        };
        let (points, label) = match source.filter(|&source| source == bundle.target) {
            Some(state) => self.self_loop(state, index),
            None => self.path(index),
        };
        let (rect, depth) = label.unzip();
        let label = rect.zip(depth).map(|(rect, depth)| Label { rect, lines: bundle.lines.clone(), depth });
        let label = label.filter(|label| !label.lines.is_empty());
        let transitions = bundle.transitions.clone();
        (points.len() > 1).then_some(Edge { source, target: bundle.target, transitions, points, label })
    }

    fn path(&self, index: usize) -> Course {
        let mut points = Vec::new();
        let mut label = None;
        for &(level, piece) in &self.wiring.bundles[index].path {
            let Some(inside) = self.insides.get(&level) else { continue };
            let (x, y) = self.corners[level.index()];
            let Some(piece) = inside.pieces.get(piece) else { continue };
            points.extend(piece.points.iter().map(|point| (point.0 + x, point.1 + y)));
            let depth = self.grounds[level.index()];
            label = label.or(piece.label.map(|rect| (rect.moved(x, y), depth)));
        }
        (simplified(&points), label)
    }

    fn self_loop(&self, state: StateId, index: usize) -> Course {
        let shape = &self.shapes[state.index()];
        let (x, y) = self.corners[state.index()];
        let depth = self.chart.state(state).parent.map_or(0, |parent| self.grounds[parent.index()]);
        let points = shape.loop_points().map(|point| (point.0 + x, point.1 + y)).to_vec();
        let labelled = !self.wiring.bundles[index].lines.is_empty();
        (points, labelled.then(|| (shape.loop_label().moved(x, y), depth)))
    }
}

/// Removes the points that are not bends.
fn simplified(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    const NEAR: f64 = 0.3;
    let mut out: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    for &point in points {
        let same = |a: f64, b: f64| (a - b).abs() < NEAR;
        while let [.., before, last] = out.as_slice() {
            let on_one_line =
                (same(before.0, last.0) && same(last.0, point.0)) || (same(before.1, last.1) && same(last.1, point.1));
            if !on_one_line {
                break;
            }
            out.pop();
        }
        match out.last() {
            Some(last) if same(last.0, point.0) && same(last.1, point.1) => {}
            _ => out.push(point),
        }
    }
    out
}

/// Returns the size of a label with these lines, or `None` if there are no lines.
pub(crate) fn label_size(lines: &[words::Line]) -> Option<(f64, f64)> {
    const SIDES: f64 = 8.0;
    let width = lines.iter().map(|line| line.width).reduce(f64::max)?;
    Some((width + SIDES, lines.len() as f64 * words::LINE + 2.0))
}
