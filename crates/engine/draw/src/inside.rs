//! The layout of one composite state: its children, signs, labels and wires, with the border around them.

use std::collections::BTreeMap;

use super::{
    Highlight,
    compose::label_size,
    layered::{End, NodeKind, Sheet, Wire},
    picture::{Mark, MarkKind, Rect},
    text::{self, Weight},
    wiring::{Anchor, Course, Item, Level, Piece, Port, Side, Wiring},
    words::{self, Line},
};
use interlock_chart::{
    Chart,
    model::{Kind, State, StateId},
};

const PAD: f64 = 16.0;
const PAD_TOP: f64 = 9.0;
const PAD_BOTTOM: f64 = 16.0;
const BOX_SIDES: f64 = 15.0;
const BOX_WIDTH_MIN: f64 = 76.0;
const NAME_LINE: f64 = 18.0;
const HISTORY: f64 = 28.0;
const DOT: f64 = 13.0;
const SIGN_HEIGHT: f64 = 22.0;
const LOOP_OUT: f64 = 15.0;
const LOOP_HALF: f64 = 8.0;

/// A state's box: its size, its text, and the loop beside it.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) w: f64,
    pub(crate) h: f64,
    pub(crate) name: String,
    pub(crate) lines: Vec<Line>,
    /// The size of the label of the state's loop, if it has a loop.
    looped: Option<(f64, f64)>,
    /// The distance of the box from the top of its room. It is positive if the label of the loop is taller than the
    /// box.
    drop: f64,
}

impl Shape {
    fn header(&self) -> (f64, f64) {
        let lines = self.lines.iter().map(|line| line.width);
        let w = lines.fold(text::width(&self.name, words::NAME, Weight::Bold), f64::max);
        (w, NAME_LINE + self.lines.len() as f64 * words::LINE)
    }

    /// Reserves the height that the loop's label needs. Call this after the size of the box is known.
    pub(crate) fn fit_loop(&mut self) {
        let label = self.looped.map_or(0.0, |label| label.1);
        self.drop = ((label - self.h) / 2.0).max(0.0);
    }

    fn beside(&self) -> f64 {
        self.looped.map_or(0.0, |label| LOOP_OUT + 6.0 + label.0)
    }

    fn room_height(&self) -> f64 {
        self.h + 2.0 * self.drop
    }

    fn loop_middle(&self) -> f64 {
        (self.h / 2.0).min(32.0)
    }

    /// Returns the points of the loop, relative to the box's top left corner.
    pub(crate) fn loop_points(&self) -> [(f64, f64); 4] {
        let (out, middle) = (self.w + LOOP_OUT, self.loop_middle());
        let (top, bottom) = (middle - LOOP_HALF, middle + LOOP_HALF);
        [(self.w, top), (out, top), (out, bottom), (self.w, bottom)]
    }

    /// Returns the rectangle of the loop's label, relative to the box's top left corner.
    pub(crate) fn loop_label(&self) -> Rect {
        let (w, h) = self.looped.unwrap_or_default();
        Rect { x: self.w + LOOP_OUT + 3.0, y: (self.loop_middle() - h / 2.0).max(-self.drop), w, h }
    }
}

/// Creates the box of a state. The size of a composite state is set later.
pub(crate) fn shape(chart: &Chart, state: &State, wiring: &Wiring, highlight: &Highlight) -> Shape {
    let lines = if state.id == Chart::ROOT { Vec::new() } else { words::state_lines(chart, state, highlight) };
    let looped =
        wiring.loops[state.id.index()].map(|index| label_size(&wiring.bundles[index].lines).unwrap_or_default());
    let mut shape = Shape { w: 0.0, h: 0.0, name: words::name(state), lines, looped, drop: 0.0 };
    let (w, h) = shape.header();
    (shape.w, shape.h) = match state.kind.is_history() {
        true => (HISTORY, HISTORY),
        false => ((w + 2.0 * BOX_SIDES).max(BOX_WIDTH_MIN), h + 18.0),
    };
    shape.fit_loop();
    shape
}

/// The layout of a composite state. All coordinates are relative to its top left corner.
#[derive(Debug, Default)]
pub(crate) struct Inside {
    pub(crate) w: f64,
    pub(crate) h: f64,
    pub(crate) header: Rect,
    pub(crate) children: Vec<(StateId, Rect)>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) pieces: Vec<Drawn>,
    pub(crate) separators: Vec<[(f64, f64); 2]>,
    ports: BTreeMap<Port, f64>,
}

/// The part of an edge that lies in one composite state.
#[derive(Debug)]
pub(crate) struct Drawn {
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) label: Option<Rect>,
}

/// Computes the layout of a composite state. The layouts of its children must exist already.
pub(crate) fn lay_out(
    chart: &Chart,
    state: &State,
    wiring: &Wiring,
    shapes: &[Shape],
    insides: &BTreeMap<StateId, Inside>,
) -> Inside {
    let level = &wiring.levels[state.id.index()];
    let mut desk = LevelLayout {
        state,
        level,
        wiring,
        shapes,
        insides,
        sheet: Sheet::default(),
        items: Vec::new(),
        ports: BTreeMap::new(),
        header: None,
    };
    desk.put_items(chart);
    let wires: Vec<Wire> = level.pieces.iter().map(|piece| desk.put_wire(piece)).collect();
    let size = desk.sheet.arrange();
    desk.take(chart, &wires, size)
}

struct LevelLayout<'a> {
    state: &'a State,
    level: &'a Level,
    wiring: &'a Wiring,
    shapes: &'a [Shape],
    insides: &'a BTreeMap<StateId, Inside>,
    sheet: Sheet,
    /// The node of each item of the level, by item.
    items: Vec<usize>,
    ports: BTreeMap<Port, usize>,
    header: Option<usize>,
}

fn layer(rank: usize) -> usize {
    2 * rank + 2
}

fn sign_text(chart: &Chart, item: Item) -> String {
    match item {
        Item::State(_) | Item::Dot => String::new(),
        Item::Any => "any state".to_owned(),
        Item::Elsewhere(target) => format!("→ {}", words::name(chart.state(target))),
    }
}

impl LevelLayout<'_> {
    fn put_items(&mut self, chart: &Chart) {
        if self.state.id != Chart::ROOT {
            let (w, h) = self.shapes[self.state.id.index()].header();
            self.header = Some(self.sheet.node(NodeKind::Header, 0, w + 4.0, 0.0, h));
        }
        for &(item, rank) in &self.level.items {
            let (w, beside, h) = match item {
                Item::State(state) => {
                    let shape = &self.shapes[state.index()];
                    (shape.w, shape.beside(), shape.room_height())
                }
                Item::Dot => (DOT, 0.0, DOT),
                _ => (text::width(&sign_text(chart, item), words::SMALL, Weight::Regular) + 20.0, 0.0, SIGN_HEIGHT),
            };
            let node = self.sheet.node(NodeKind::Solid, layer(rank), w, beside, h);
            self.sheet.nodes[node].low = matches!(item, Item::Dot | Item::Any);
            self.items.push(node);
        }
        self.sheet.kept = (self.state.kind == Kind::Parallel).then(|| {
            let regions = self.level.items.iter().filter(|item| matches!(item.0, Item::State(_)));
            regions.map(|item| layer(item.1)).max().unwrap_or(0)
        });
    }

    fn end(&mut self, anchor: Anchor, last: usize) -> End {
        match anchor {
            Anchor::Item { item, through } => {
                let inner = through.and_then(|port| Some((port, self.level.items.get(item)?.0)));
                let offset = inner.and_then(|(port, item)| self.port_offset(item, port));
                End { node: self.items[item], offset }
            }
            Anchor::Border(port) => {
                let layer = if port.side == Side::Top { 0 } else { last };
                let sheet = &mut self.sheet;
                let node = *self.ports.entry(port).or_insert_with(|| sheet.node(NodeKind::Port, layer, 0.0, 0.0, 0.0));
                End { node, offset: None }
            }
        }
    }

    fn port_offset(&self, item: Item, port: Port) -> Option<f64> {
        let Item::State(state) = item else { return None };
        let inside = self.insides.get(&state)?;
        inside.ports.get(&port).map(|x| x - inside.w / 2.0)
    }

    fn put_wire(&mut self, piece: &Piece) -> Wire {
        let last = layer(self.level.items.iter().map(|item| item.1).max().unwrap_or(0)) + 2;
        let (from, to) = (self.end(piece.from, last), self.end(piece.to, last));
        let bundle = &self.wiring.bundles[piece.bundle];
        let label = label_size(&bundle.lines).filter(|_| piece.labelled);
        let net = (u32::from(bundle.target.0), piece.course == Course::Up);
        match piece.course {
            Course::Down => self.sheet.wire(from, to, label, net),
            Course::Up => self.sheet.wire(to, from, label, net),
            Course::Around => self.sheet.turn(from, to, label, net),
        }
    }

    /// Reads the finished layout from the sheet.
    fn take(&self, chart: &Chart, wires: &[Wire], (w, h): (f64, f64)) -> Inside {
        let root = self.state.id == Chart::ROOT;
        let (side, top, bottom) = if root { (0.0, 0.0, 0.0) } else { (PAD, PAD_TOP, PAD_BOTTOM) };
        let mut inside = Inside { w: w + 2.0 * side, h: h + top + bottom, ..Inside::default() };
        if let Some(header) = self.header {
            inside.header = self.rect(header).moved(side, top);
        }
        for (&(item, _), &node) in self.level.items.iter().zip(&self.items) {
            let rect = self.rect(node).moved(side, top);
            match (item, mark_kind(item)) {
                (Item::State(state), _) => {
                    let shape = &self.shapes[state.index()];
                    inside.children.push((state, Rect { y: rect.y + shape.drop, h: shape.h, ..rect }));
                }
                (_, Some(kind)) => inside.marks.push(Mark { kind, rect, text: sign_text(chart, item) }),
                _ => {}
            }
        }
        inside.ports = self.ports.iter().map(|(&port, &node)| (port, self.sheet.nodes[node].x + side)).collect();
        inside.pieces = self
            .level
            .pieces
            .iter()
            .zip(wires)
            .map(|(piece, wire)| self.drawn(piece, wire, side, top, inside.h))
            .collect();
        if self.state.kind == Kind::Parallel {
            inside.separators = separators(&inside.children, inside.h - bottom);
        }
        inside
    }

    fn rect(&self, node: usize) -> Rect {
        let node = &self.sheet.nodes[node];
        Rect { x: node.x - node.half, y: node.y, w: 2.0 * node.half, h: node.h }
    }

    fn drawn(&self, piece: &Piece, wire: &Wire, side: f64, top: f64, height: f64) -> Drawn {
        let mut points: Vec<(f64, f64)> =
            self.sheet.course(wire).into_iter().map(|point| (point.0 + side, point.1 + top)).collect();
        let edge = |port: Port| if port.side == Side::Top { 0.0 } else { height };
        if let (Anchor::Border(port), Some(&(x, _))) = (piece.from, points.first()) {
            points.insert(0, (x, edge(port)));
        }
        if let (Anchor::Border(port), Some(&(x, _))) = (piece.to, points.last()) {
            points.push((x, edge(port)));
        }
        // A box whose loop has a taller label does not fill its room, so the wire is extended to the box.
        for (anchor, last) in [(piece.from, false), (piece.to, true)] {
            self.reach_box(anchor, &mut points, last);
        }
        Drawn { points, label: wire.label.map(|node| self.rect(node).moved(side, top)) }
    }

    fn reach_box(&self, anchor: Anchor, points: &mut [(f64, f64)], last: bool) {
        let Anchor::Item { item, .. } = anchor else { return };
        let Some(&(Item::State(state), _)) = self.level.items.get(item) else { return };
        let drop = self.shapes[state.index()].drop;
        let ends = if last { (points.len().checked_sub(1), points.len().checked_sub(2)) } else { (Some(0), Some(1)) };
        let (Some(end), Some(next)) = ends else { return };
        if drop > 0.0 && next < points.len() {
            let below = points[next].1 > points[end].1;
            points[end].1 += if below { -drop } else { drop };
        }
    }
}

fn mark_kind(item: Item) -> Option<MarkKind> {
    match item {
        Item::State(_) => None,
        Item::Dot => Some(MarkKind::Initial),
        Item::Any => Some(MarkKind::AnyState),
        Item::Elsewhere(_) => Some(MarkKind::Elsewhere),
    }
}

/// Returns lines halfway between neighbouring regions. Each line is as long as the tallest region.
fn separators(children: &[(StateId, Rect)], bottom: f64) -> Vec<[(f64, f64); 2]> {
    let lowest = children.iter().map(|(_, rect)| rect.y + rect.h).fold(0.0, f64::max).min(bottom);
    let pairs = children.windows(2).map(|pair| (pair[0].1, pair[1].1));
    pairs
        .map(|(left, right)| {
            let x = (left.x + left.w + right.x) / 2.0;
            [(x, left.y.min(right.y)), (x, lowest)]
        })
        .collect()
}
