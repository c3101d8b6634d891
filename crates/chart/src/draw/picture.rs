//! A laid-out picture as plain data, in pixels from the top left corner.

use super::words::Line;
use crate::model::{Outcome, StateId, TransitionId};

/// Everything that is drawn, and where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// The machine's id.
    pub title: String,
    /// Its summary, broken into lines.
    pub summary: Vec<String>,
    /// States, parents before children.
    pub boxes: Vec<StateBox>,
    /// Small signs: initial dots and stand-ins.
    pub marks: Vec<Mark>,
    /// Edges; each stands for all transitions from one state to another.
    pub edges: Vec<Edge>,
    /// Dashed lines between parallel regions, from point to point.
    pub separators: Vec<[(f64, f64); 2]>,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// Whether two rectangles share any inner point, by more than a rounding error.
    pub fn overlaps(&self, other: &Rect) -> bool {
        const SLACK: f64 = 0.01;
        self.x + self.w > other.x + SLACK
            && other.x + other.w > self.x + SLACK
            && self.y + self.h > other.y + SLACK
            && other.y + other.h > self.y + SLACK
    }

    /// Whether the other rectangle lies within this one.
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

/// A state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateBox {
    /// Which.
    pub state: StateId,
    /// Its border.
    pub rect: Rect,
    /// How it is drawn.
    pub kind: BoxKind,
    /// How many frames it is inside of; 0 at the top.
    pub depth: usize,
    /// Its name as drawn.
    pub name: String,
    /// What stands below the name.
    pub lines: Vec<Line>,
    /// Where name and lines stand.
    pub header: Rect,
    /// What a run does here.
    pub role: Role,
}

/// What a run does in a state; it decides the colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing but what its transitions say.
    Plain,
    /// An activity works.
    Work,
    /// A model is asked.
    Judgement,
    /// It may rest here for ever.
    Idle,
}

/// How a state is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxKind {
    /// A rounded box with centred text.
    Atomic,
    /// A frame with its name on the top left.
    Composite,
    /// A parallel state: a frame whose regions stand side by side.
    Parallel,
    /// A region of a parallel state: a name on the top left and no frame of its own.
    Region,
    /// A double border in the outcome's colour.
    Final(Option<Outcome>),
    /// A circle with an H.
    History,
    /// A circle with an H*.
    DeepHistory,
}

/// A small sign that is no state.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// What it is.
    pub kind: MarkKind,
    /// Where it is.
    pub rect: Rect,
    /// What it says.
    pub text: String,
}

/// What a sign means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// Where a composite begins.
    Initial,
    /// Stands for any state as a source.
    AnyState,
    /// Stands for a state that is drawn elsewhere, as a target.
    Elsewhere,
}

/// An edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// From where; the root where it is from any state, nothing for an initial dot's or a history state's default.
    pub source: Option<StateId>,
    /// To where.
    pub target: StateId,
    /// The transitions it stands for; none for a default.
    pub transitions: Vec<TransitionId>,
    /// Its course from source to target, each bend a point.
    pub points: Vec<(f64, f64)>,
    /// What stands on it.
    pub label: Option<Label>,
}

/// The text on an edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The room it has.
    pub rect: Rect,
    /// What it says.
    pub lines: Vec<Line>,
    /// How many frames it is inside of.
    pub depth: usize,
}
