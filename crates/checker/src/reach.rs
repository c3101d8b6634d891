//! Everything a machine can do, as a graph: configurations, and the ways from one to another.

use interlock_chart::model::{EventId, InvokeId, StateId};
use interlock_core::{StateSet, Status};
use smallvec::SmallVec;

use crate::{
    layout::{self, Layout},
    watch::{Bits, Move},
};

/// Who moves the machine along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cause {
    Start,
    Signal(InvokeId, EventId),
    Error(InvokeId),
    Timeout(StateId),
    /// A delayed event of the machine's own, by its number in the layout.
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

/// What an edge means. Many edges mean the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub(crate) cause: Cause,
    pub(crate) moves: SmallVec<[Move; 8]>,
    pub(crate) started: SmallVec<[InvokeId; 4]>,
    /// What was seen, in order; several at once where they happened at once.
    pub(crate) seen: SmallVec<[Bits; 2]>,
}

/// One way from a configuration to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) to: u32,
    pub(crate) meaning: u32,
}

/// What many configurations have in common: everything but counters and facts.
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
    /// Where each configuration's edges begin; one more than there are configurations.
    pub(crate) first_edge: Vec<u32>,
    /// The edge by which each configuration was first reached.
    pub(crate) parents: Vec<(u32, u32)>,
    pub(crate) meanings: Vec<Meaning>,
    /// States that were entered on some way, if only to be left again at once.
    pub(crate) visited: StateSet,
    /// Whether all of it was explored; if not, what there was too much of.
    pub(crate) too_much: Option<&'static str>,
    /// How much work it was.
    pub(crate) work: u64,
}

/// How far an exploration may go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    pub(crate) configurations: usize,
    /// Ways tried, and rounds of the engine on them.
    pub(crate) work: u64,
}

impl Graph {
    /// How many configurations were found; the first is the one before the start.
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

    /// Whether a configuration is one of a run that has ended.
    pub(crate) fn is_done(&self, node: u32) -> bool {
        self.control(node).is_done
    }

    /// The active states of a configuration.
    pub(crate) fn configuration(&self, node: u32) -> &StateSet {
        &self.control(node).configuration
    }
}
