//! The composite states that each edge passes through.
//!
//! A [`Bundle`] between states of different composites is drawn in pieces: out of the source's composites, across the
//! composite that contains both, into the target's. Every piece belongs to the [`Level`] of one composite, and the
//! layered layout treats it like any other wire. The module knows no coordinates.

pub(crate) use super::bundle::{Bundle, Origin};
use super::{
    Highlight,
    bundle::{beginnings, collect},
    layered::rank,
};
use interlock_chart::{
    Chart,
    model::{Kind, StateId},
};

/// The maximum number of pieces and passed layers of all bundles together. Beyond it, an edge ends in a sign that names
/// its target.
const EFFORT_MAX: usize = 30_000;

/// A side of a composite state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Top,
    Bottom,
}

/// A point on a composite's border that all edges to one target pass through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Port {
    pub(crate) side: Side,
    pub(crate) target: StateId,
    /// True if the composite itself is the source: the piece begins at the inside of its border.
    pub(crate) border: bool,
}

/// One end of a piece.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchor {
    /// An item of the level. `through` is set if the edge continues inside the item.
    Item { item: usize, through: Option<Port> },
    /// The border of the level itself.
    Border(Port),
}

/// The part of a bundle that lies in one level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) bundle: usize,
    pub(crate) from: Anchor,
    pub(crate) to: Anchor,
    pub(crate) course: Course,
    pub(crate) labelled: bool,
}

/// The direction of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    Down,
    Up,
    /// Between two regions that are side by side.
    Around,
}

/// Something that is drawn in a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    State(StateId),
    /// The initial dot of the level.
    Dot,
    /// A sign for any state.
    Any,
    /// A sign for a target that is drawn elsewhere.
    Elsewhere(StateId),
}

/// The contents of one composite state.
#[derive(Debug, Default)]
pub(crate) struct Level {
    /// The items with their ranks.
    pub(crate) items: Vec<(Item, usize)>,
    pub(crate) pieces: Vec<Piece>,
}

/// All bundles of a chart, split into the pieces of each level.
#[derive(Debug)]
pub(crate) struct Wiring {
    pub(crate) bundles: Vec<Bundle>,
    /// The levels by state; empty for states without children.
    pub(crate) levels: Vec<Level>,
    /// The bundle from each state to itself, by state.
    pub(crate) loops: Vec<Option<usize>>,
    /// The number of ancestors of each state, by state. The root counts.
    pub(crate) depths: Vec<usize>,
}

/// The relation between the source and the target of a bundle.
#[derive(Clone, Copy, Debug)]
enum Relation {
    Loop,
    /// The source contains the target.
    Inwards,
    /// The target contains the source.
    Outwards,
    /// Source and target are in different children of a composite. The fields are the composite and both children.
    Across(StateId, StateId, StateId),
    /// The edge begins at a sign beside the target.
    Beside,
    /// The edge is too long, so it ends in a sign.
    Elsewhere,
}

/// Collects all bundles of a chart and their pieces.
pub(crate) fn wire(chart: &Chart, highlight: &Highlight) -> Wiring {
    let mut builder = Builder::new(chart, collect(chart, highlight));
    builder.relate();
    builder.rank_all();
    builder.limit_effort();
    for bundle in 0..builder.wiring.bundles.len() {
        builder.lay(bundle);
    }
    builder.settle();
    builder.wiring
}

struct Builder<'a> {
    chart: &'a Chart,
    wiring: Wiring,
    relations: Vec<Relation>,
    /// The item of each state in its parent's level, by state.
    item_of: Vec<usize>,
}

impl<'a> Builder<'a> {
    fn new(chart: &'a Chart, bundles: Vec<Bundle>) -> Self {
        let count = chart.states.len();
        let mut depths = vec![0; count];
        let mut item_of = vec![0; count];
        let mut levels: Vec<Level> = std::iter::repeat_with(Level::default).take(count).collect();
        for state in &chart.states {
            if let Some(parent) = state.parent {
                depths[state.id.index()] = depths[parent.index()] + 1;
                let items = &mut levels[parent.index()].items;
                item_of[state.id.index()] = items.len();
                items.push((Item::State(state.id), 0));
            }
        }
        let wiring = Wiring { bundles, levels, loops: vec![None; count], depths };
        Builder { chart, wiring, relations: Vec::new(), item_of }
    }

    fn depth(&self, state: StateId) -> usize {
        self.wiring.depths[state.index()]
    }

    fn parent(&self, state: StateId) -> StateId {
        self.chart.state(state).parent.unwrap_or(Chart::ROOT)
    }

    /// Returns the ancestor of a state (or the state itself) at a depth.
    fn at_depth(&self, mut state: StateId, depth: usize) -> StateId {
        while self.depth(state) > depth {
            state = self.parent(state);
        }
        state
    }

    fn relate(&mut self) {
        let mut effort = 0;
        for index in 0..self.wiring.bundles.len() {
            let bundle = &self.wiring.bundles[index];
            let (origin, target) = (bundle.origin, bundle.target);
            let source = match origin {
                Origin::State(source) | Origin::Dot(source) => source,
                Origin::Any => target,
            };
            effort += self.depth(source) + self.depth(target);
            let relation = match origin {
                Origin::Any => Relation::Beside,
                _ if effort > EFFORT_MAX => Relation::Elsewhere,
                Origin::Dot(_) => Relation::Inwards,
                Origin::State(_) => self.relation(source, target),
            };
            if let Relation::Loop = relation {
                self.wiring.loops[source.index()] = Some(index);
            }
            self.relations.push(relation);
        }
    }

    fn relation(&self, source: StateId, target: StateId) -> Relation {
        let depth = self.depth(source).min(self.depth(target));
        let (mut a, mut b) = (self.at_depth(source, depth), self.at_depth(target, depth));
        match (a == source, b == target) {
            _ if source == target => Relation::Loop,
            (true, _) if a == b => Relation::Inwards,
            (_, true) if a == b => Relation::Outwards,
            _ => {
                while self.parent(a) != self.parent(b) {
                    (a, b) = (self.parent(a), self.parent(b));
                }
                Relation::Across(self.parent(a), a, b)
            }
        }
    }

    fn rank_all(&mut self) {
        let mut edges: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.wiring.levels.len()];
        for relation in &self.relations {
            if let &Relation::Across(level, a, b) = relation {
                edges[level.index()].push((self.item_of[a.index()], self.item_of[b.index()]));
            }
        }
        for (index, edges) in edges.iter().enumerate() {
            let state = &self.chart.states[index];
            if state.children.is_empty() || state.kind == Kind::Parallel {
                continue;
            }
            let first = beginnings(self.chart, state.id).first().copied();
            let first = first.filter(|&first| self.depth(first) > self.depth(state.id));
            let first = first.map(|first| self.item_of[self.at_depth(first, self.depth(state.id) + 1).index()]);
            let ranks = rank::ranks(state.children.len(), edges, first);
            // The rank above the first state is left free for dots and other signs.
            for (item, rank) in self.wiring.levels[index].items.iter_mut().zip(ranks) {
                item.1 = rank + 1;
            }
        }
        self.sink_finals(&edges);
    }

    /// Moves final states that only the root's transitions reach to the bottom.
    fn sink_finals(&mut self, edges: &[Vec<(usize, usize)>]) {
        for (level, edges) in self.wiring.levels.iter_mut().zip(edges) {
            let lowest = level.items.iter().map(|item| item.1).max().unwrap_or(0);
            let mut tied = vec![false; level.items.len()];
            edges.iter().for_each(|&(from, to)| (tied[from], tied[to]) = (true, true));
            for ((item, rank), tied) in level.items.iter_mut().zip(tied) {
                if let Item::State(state) = item
                    && self.chart.state(*state).kind == Kind::Final
                    && !tied
                {
                    *rank = lowest;
                }
            }
        }
    }

    /// Ends the longest wires in signs if all wires together would exceed the picture's budget.
    fn limit_effort(&mut self) {
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for (index, relation) in self.relations.iter().enumerate() {
            if let &Relation::Across(_, a, b) = relation {
                let (from, to) = (self.rank(a), self.rank(b));
                let bundle = &self.wiring.bundles[index];
                let depth = self.depth(bundle.target);
                spans.push((2 * from.abs_diff(to) + depth, index));
            }
        }
        spans.sort_unstable();
        let mut effort = 0;
        for (span, index) in spans {
            effort += span;
            if effort > EFFORT_MAX {
                self.relations[index] = Relation::Elsewhere;
            }
        }
    }

    fn rank(&self, state: StateId) -> usize {
        self.wiring.levels[self.parent(state).index()].items[self.item_of[state.index()]].1
    }

    fn lay(&mut self, bundle: usize) {
        let Bundle { origin, target, .. } = self.wiring.bundles[bundle];
        match (self.relations[bundle], origin) {
            (Relation::Loop, _) => {}
            (Relation::Across(level, a, b), Origin::State(source)) => {
                self.lay_across(bundle, source, target, level, a, b)
            }
            (Relation::Beside, _) => self.lay_beside(bundle, target),
            (Relation::Inwards, Origin::Dot(level) | Origin::State(level)) => self.lay_inwards(bundle, level, target),
            (Relation::Outwards, Origin::State(source)) => {
                let port = Port { side: Side::Bottom, target, border: false };
                self.lay_out(bundle, source, target, port);
            }
            (Relation::Elsewhere, Origin::State(source)) => self.lay_elsewhere(bundle, source, target),
            _ => {}
        }
    }

    fn push(&mut self, level: StateId, piece: Piece) {
        let pieces = &mut self.wiring.levels[level.index()].pieces;
        pieces.push(piece);
        self.wiring.bundles[piece.bundle].path.push((level, pieces.len() - 1));
    }

    fn anchor(&self, state: StateId, end: StateId, port: Port) -> Anchor {
        Anchor::Item { item: self.item_of[state.index()], through: (state != end).then_some(port) }
    }

    fn lay_across(&mut self, bundle: usize, source: StateId, target: StateId, level: StateId, a: StateId, b: StateId) {
        let (from, to) = (self.rank(a), self.rank(b));
        let course = match () {
            () if self.chart.state(level).kind == Kind::Parallel => Course::Around,
            () if from < to => Course::Down,
            () => Course::Up,
        };
        let out = if course == Course::Up { Side::Top } else { Side::Bottom };
        let into = if course == Course::Down { Side::Top } else { Side::Bottom };
        let (out, into) = (Port { side: out, target, border: false }, Port { side: into, target, border: false });
        self.lay_out(bundle, source, level, out);
        let piece = Piece {
            bundle,
            from: self.anchor(a, source, out),
            to: self.anchor(b, target, into),
            course,
            labelled: a == source,
        };
        self.push(level, piece);
        self.lay_in(bundle, target, level, into);
    }

    /// Lays the pieces from a state to the border of every composite inside `level`. If `level` is the target, a piece
    /// to its border is included.
    fn lay_out(&mut self, bundle: usize, source: StateId, level: StateId, port: Port) {
        let course = if port.side == Side::Top { Course::Up } else { Course::Down };
        let onto_border = self.wiring.bundles[bundle].target == level;
        let mut state = source;
        while self.depth(state) > self.depth(level) + usize::from(!onto_border) {
            let piece = Piece {
                bundle,
                from: self.anchor(state, source, port),
                to: Anchor::Border(port),
                course,
                labelled: state == source,
            };
            self.push(self.parent(state), piece);
            state = self.parent(state);
        }
    }

    /// Lays the pieces from the border of every composite inside `level` to the target, outermost first.
    fn lay_in(&mut self, bundle: usize, target: StateId, level: StateId, port: Port) {
        let course = if port.side == Side::Top { Course::Down } else { Course::Up };
        let mut pieces = Vec::new();
        let mut state = target;
        while self.depth(state) > self.depth(level) + 1 {
            let to = self.anchor(state, target, port);
            pieces
                .push((self.parent(state), Piece { bundle, from: Anchor::Border(port), to, course, labelled: false }));
            state = self.parent(state);
        }
        for (level, piece) in pieces.into_iter().rev() {
            self.push(level, piece);
        }
    }

    fn lay_inwards(&mut self, bundle: usize, level: StateId, target: StateId) {
        if self.depth(target) <= self.depth(level) {
            return;
        }
        let child = self.at_depth(target, self.depth(level) + 1);
        let port = Port { side: Side::Top, target, border: false };
        let from = match self.wiring.bundles[bundle].origin {
            Origin::Dot(_) => {
                let rank = self.rank(child).saturating_sub(1);
                Anchor::Item { item: self.sign(level, Item::Dot, rank), through: None }
            }
            _ => Anchor::Border(Port { border: true, ..port }),
        };
        let piece = Piece { bundle, from, to: self.anchor(child, target, port), course: Course::Down, labelled: true };
        self.push(level, piece);
        self.lay_in(bundle, target, level, port);
    }

    /// Returns the item of a sign in a level, and adds it if needed. A dot with several targets is one dot.
    fn sign(&mut self, level: StateId, item: Item, rank: usize) -> usize {
        let items = &mut self.wiring.levels[level.index()].items;
        let known = (item == Item::Dot).then(|| items.iter().position(|known| known.0 == item)).flatten();
        known.unwrap_or_else(|| {
            items.push((item, rank));
            items.len() - 1
        })
    }

    fn lay_beside(&mut self, bundle: usize, target: StateId) {
        let level = self.parent(target);
        let rank = self.rank(target).saturating_sub(1);
        let from = Anchor::Item { item: self.sign(level, Item::Any, rank), through: None };
        let to = Anchor::Item { item: self.item_of[target.index()], through: None };
        self.push(level, Piece { bundle, from, to, course: Course::Down, labelled: true });
    }

    fn lay_elsewhere(&mut self, bundle: usize, source: StateId, target: StateId) {
        let level = self.parent(source);
        let rank = self.rank(source) + 1;
        let from = Anchor::Item { item: self.item_of[source.index()], through: None };
        let to = Anchor::Item { item: self.sign(level, Item::Elsewhere(target), rank), through: None };
        self.push(level, Piece { bundle, from, to, course: Course::Down, labelled: true });
    }

    /// Puts regions in one row below their signs and lets the ranks of every level begin at 0.
    fn settle(&mut self) {
        for (state, level) in self.chart.states.iter().zip(&mut self.wiring.levels) {
            if state.kind == Kind::Parallel {
                for (item, rank) in &mut level.items {
                    *rank = match item {
                        Item::State(_) => 1,
                        Item::Dot | Item::Any => 0,
                        Item::Elsewhere(_) => 2,
                    };
                }
            }
            let least = level.items.iter().map(|item| item.1).min().unwrap_or(0);
            level.items.iter_mut().for_each(|item| item.1 -= least);
        }
    }
}
