//! A laid-out picture as plain data, in pixels from the top left corner.

use super::words::Line;
use interlock_chart::model::{Outcome, StateId, TransitionId};

/// Everything that is drawn, with positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// The width of the whole picture in pixels.
    pub width: f64,
    /// The height of the whole picture in pixels.
    pub height: f64,
    /// The machine's id, shown as the title.
    pub title: String,
    /// The machine's summary, broken into lines.
    pub summary: Vec<String>,
    /// The states, parents before children.
    pub boxes: Vec<StateBox>,
    /// Small signs: initial dots, and signs that represent states.
    pub marks: Vec<Mark>,
    /// The edges. Each combines all transitions from one state to another.
    pub edges: Vec<Edge>,
    /// Dashed lines between parallel regions, from point to point.
    pub separators: Vec<[(f64, f64); 2]>,
}

/// An axis-parallel rectangle in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// The horizontal position of the left edge.
    pub x: f64,
    /// The vertical position of the top edge.
    pub y: f64,
    /// The width in pixels.
    pub w: f64,
    /// The height in pixels.
    pub h: f64,
}

impl Rect {
    /// Returns true if two rectangles share an inner point, by more than a rounding error.
    pub fn overlaps(&self, other: &Rect) -> bool {
        const SLACK: f64 = 0.01;
        self.x + self.w > other.x + SLACK
            && other.x + other.w > self.x + SLACK
            && self.y + self.h > other.y + SLACK
            && other.y + other.h > self.y + SLACK
    }

    /// Returns true if the other rectangle lies within this one.
    pub fn contains(&self, other: &Rect) -> bool {
        const SLACK: f64 = 0.01;
        other.x >= self.x - SLACK
            && other.y >= self.y - SLACK
            && other.x + other.w <= self.x + self.w + SLACK
            && other.y + other.h <= self.y + self.h + SLACK
    }

    pub(crate) fn moved(self, x: f64, y: f64) -> Rect {
        Rect { x: self.x + x, y: self.y + y, ..self }
    }
}

/// A state as it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct StateBox {
    /// The state that the box shows.
    pub state: StateId,
    /// The rectangle of the border.
    pub rect: Rect,
    /// The shape of the box.
    pub kind: BoxKind,
    /// The number of enclosing frames; 0 at the top level.
    pub depth: usize,
    /// The name as drawn, possibly shortened.
    pub name: String,
    /// The lines below the name.
    pub lines: Vec<Line>,
    /// The rectangle of the name and the lines.
    pub header: Rect,
    /// The role of the state in a run; it decides the colour.
    pub role: Role,
}

/// The role of a state in a run; it decides the colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The state only waits for its transitions.
    Plain,
    /// The state runs an activity.
    Work,
    /// The state asks a model.
    Judgement,
    /// A run may stay in the state for ever.
    Idle,
}

/// The shape of a state's box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxKind {
    /// A rounded box with centred text.
    Atomic,
    /// A frame with its name on the top left.
    Composite,
    /// A parallel state: a frame with its regions side by side.
    Parallel,
    /// A region of a parallel state: a name on the top left, without a frame.
    Region,
    /// A double border in the outcome's colour.
    Final(Option<Outcome>),
    /// A circle with an H.
    History,
    /// A circle with an H*.
    DeepHistory,
}

/// A small sign that is not a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The meaning of the sign.
    pub kind: MarkKind,
    /// The rectangle that the sign fills.
    pub rect: Rect,
    /// The text of the sign.
    pub text: String,
}

/// The meaning of a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// The initial dot of a composite state.
    Initial,
    /// Any state, as the source of an edge.
    AnyState,
    /// A state that is drawn elsewhere, as the target of an edge.
    Elsewhere,
}

/// An edge as it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The source state. It is the root for an edge from any state, and `None` for the default edge of an initial dot
    /// or a history state.
    pub source: Option<StateId>,
    /// The state that the edge leads to.
    pub target: StateId,
    /// The transitions that the edge combines; empty for a default edge.
    pub transitions: Vec<TransitionId>,
    /// The points of the edge from source to target. Each inner point is a bend.
    pub points: Vec<(f64, f64)>,
    /// The text on the edge, if any.
    pub label: Option<Label>,
}

/// The text on an edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The rectangle that the text fills.
    pub rect: Rect,
    /// The lines of the text.
    pub lines: Vec<Line>,
    /// The number of enclosing frames.
    pub depth: usize,
}
