//! Everything a machine can do, as a graph: configurations and the edges between them.

use std::collections::BTreeSet;

use interlock_chart::model::{EventId, InvokeId, StateId};
use interlock_core::{StateSet, Status};
use smallvec::SmallVec;

use crate::{
    layout::{self, Layout},
    watch::{Bits, Move, Unhandled},
};

/// The cause that moves the machine along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cause {
    Start,
    Signal(InvokeId, EventId),
    Error(InvokeId),
    Timeout(StateId),
    /// A delayed event that the machine sent itself, by its number in the layout.
    Delayed(usize),
    Raised(EventId),
}

impl Cause {
    pub(crate) fn is_outside(self) -> bool {
        matches!(self, Cause::Raised(_))
    }

    pub(crate) fn is_timer(self) -> bool {
        matches!(self, Cause::Timeout(_) | Cause::Delayed(_))
    }
}

/// The meaning of an edge. Many edges share one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub(crate) cause: Cause,
    pub(crate) moves: SmallVec<[Move; 8]>,
    pub(crate) started: SmallVec<[InvokeId; 4]>,
    /// The observations in order; simultaneous ones are combined.
    pub(crate) seen: SmallVec<[Bits; 2]>,
    /// True if the step ends the run otherwise than in failure although an expression failed and no transition handled
    /// that.
    pub(crate) is_false_end: bool,
}

/// One edge from a configuration to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) to: u32,
    pub(crate) meaning: u32,
}

/// The part that many configurations share: everything except counters and facts.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) words: Box<[u64]>,
    configuration: StateSet,
    is_done: bool,
}

impl Control {
    pub(crate) fn of(words: &[u64], states: usize) -> Self {
        let is_done = matches!(layout::status(words), Status::Done { .. });
        Control { words: words.into(), configuration: layout::configuration(words, states), is_done }
    }
}

/// Everything a machine can do.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) layout: Layout,
    pub(crate) controls: Vec<Control>,
    pub(crate) packed: Vec<u64>,
    pub(crate) edges: Vec<Edge>,
    /// The index of each configuration's first edge, with one extra entry at the end.
    pub(crate) first_edge: Vec<u32>,
    /// The edge by which each configuration was first reached.
    pub(crate) parents: Vec<(u32, u32)>,
    pub(crate) meanings: Vec<Meaning>,
    /// States that were entered on some path, even if they were left again at once.
    pub(crate) visited: StateSet,
    /// Expressions that may fail where no transition handles that.
    pub(crate) unhandled: BTreeSet<Unhandled>,
    /// `None` if everything was explored; otherwise the name of the limit that was exceeded.
    pub(crate) too_much: Option<&'static str>,
    /// The work that the exploration took.
    pub(crate) work: u64,
}

/// The limits of an exploration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    pub(crate) configurations: usize,
    /// Paths tried, plus rounds of the engine on them.
    pub(crate) work: u64,
}

impl Graph {
    /// The number of configurations found; the first is the one before the start.
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    pub(crate) fn edges_of(&self, node: u32) -> &[Edge] {
        let (from, to) = (self.first_edge[node as usize], self.first_edge[node as usize + 1]);
        &self.edges[from as usize..to as usize]
    }

    pub(crate) fn packed(&self, node: u32) -> &[u64] {
        let words = self.layout.words;
        &self.packed[node as usize * words..][..words]
    }

    fn control(&self, node: u32) -> &Control {
        &self.controls[self.packed(node)[0] as usize]
    }

    /// Returns true if the configuration belongs to a run that has ended.
    pub(crate) fn is_done(&self, node: u32) -> bool {
        self.control(node).is_done
    }

    /// The active states of a configuration.
    pub(crate) fn configuration(&self, node: u32) -> &StateSet {
        &self.control(node).configuration
    }
}
