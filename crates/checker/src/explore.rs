//! Breadth-first exploration of everything a machine can do.
//!
//! From every configuration, everything that may happen next is tried with the engine's own `step`: each signal and the failure of
//! each running activity, each pending timer, each event that a person or another run may raise. Where the data model
//! leaves a question open, every answer is tried. Breadth first, so that the first way found to anywhere is a shortest one.

use std::{hash::Hasher, sync::Arc};

use hashbrown::HashTable;
use interlock_chart::model::{EventId, InvokeId, Raiser, StateId};
use interlock_core::{Effect, Ended, Input, Machine, State, StateSet, Status, step_with};
use rustc_hash::FxHasher;
use smallvec::SmallVec;

use crate::{
    facts::{Carried, Facts, Known, Table},
    layout::{Layout, MANY},
    watch::{Bits, Lookout, Move, Watch},
};

/// How many ways one input may go before the exploration says that it is too much.
const WAYS_MAX: u32 = 1 << 12;

/// How many rounds of the engine all ways of one input may take together: a macrostep that finds no rest takes a thousand each way.
const ROUNDS_MAX: u64 = 1 << 14;

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

/// Everything a machine can do.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) layout: Layout,
    packed: Vec<u64>,
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
}

/// Explores a machine, following these counters exactly, until it has seen everything or as much as it may.
pub(crate) fn explore(
    machine: &Machine,
    table: &Table,
    lookout: &Lookout,
    exact: &[bool],
    allowance: Allowance,
) -> Graph {
    let mut explorer = Explorer::new(machine, table, lookout, exact);
    explorer.run(allowance);
    explorer.graph
}

struct Explorer<'m> {
    machine: &'m Machine,
    graph: Graph,
    index: HashTable<u32>,
    meaning_index: HashTable<u32>,
    /// The edges found from the configuration at work.
    leaving: hashbrown::HashSet<(u32, u32), rustc_hash::FxBuildHasher>,
    state: State<Facts<'m>>,
    watch: Watch<'m>,
    effects: Vec<Effect<Carried>>,
    packed: Vec<u64>,
    /// Events that somebody outside may raise, with who may, and the states that handle them.
    outside: Vec<(EventId, Raiser, Arc<str>, StateSet)>,
    signals: Vec<Vec<(EventId, Arc<str>)>>,
    session: Arc<str>,
}

impl<'m> Explorer<'m> {
    fn new(machine: &'m Machine, table: &'m Table, lookout: &'m Lookout, exact: &'m [bool]) -> Self {
        let chart = machine.chart();
        let graph = Graph {
            layout: Layout::of(machine, table, exact),
            packed: Vec::new(),
            edges: Vec::new(),
            first_edge: vec![0],
            parents: Vec::new(),
            meanings: Vec::new(),
            visited: StateSet::new(chart.states.len()),
            too_much: None,
            work: 0,
        };
        let signals = chart.invokes.iter().map(|invoke| {
            let name = |id: EventId| (id, Arc::from(machine.event_name(id)));
            invoke.signals.iter().map(|signal| name(signal.event)).collect()
        });
        Explorer {
            machine,
            graph,
            index: HashTable::new(),
            meaning_index: HashTable::new(),
            leaving: Default::default(),
            state: State::new(machine, Facts::new(table, exact)),
            watch: Watch::new(lookout),
            effects: Vec::new(),
            packed: Vec::new(),
            outside: outside_events(machine),
            signals: signals.collect(),
            session: "".into(),
        }
    }

    fn run(&mut self, allowance: Allowance) {
        self.graph.layout.pack(self.machine, &self.state, &mut self.packed);
        self.insert((0, 0));
        let mut node = 0;
        while (node as usize) < self.graph.len() {
            if self.graph.len() > allowance.configurations {
                self.graph.too_much = Some("configurations");
            } else if self.graph.work > allowance.work {
                self.graph.too_much = Some("ways");
            }
            if self.graph.too_much.is_none() {
                self.expand(node);
            }
            self.graph.first_edge.push(self.graph.edges.len() as u32);
            node += 1;
        }
        self.graph.visited = self.watch.visited.clone();
    }

    fn unpack(&mut self, node: u32) {
        let words = self.graph.layout.words;
        let packed = &self.graph.packed[node as usize * words..][..words];
        self.graph.layout.unpack(self.machine, packed, &mut self.state);
    }

    fn expand(&mut self, node: u32) {
        self.leaving.clear();
        self.unpack(node);
        match self.state.status {
            Status::Ready => return self.follow(node, Cause::Start, false),
            Status::Done { .. } => return,
            Status::Running => {}
        }
        let running: SmallVec<[InvokeId; 4]> = self.state.running.iter().map(|running| running.invoke).collect();
        let timed: SmallVec<[StateId; 4]> = self.state.pending.iter().filter_map(|pending| pending.state).collect();
        let raised: SmallVec<[EventId; 8]> = (self.outside.iter())
            .filter(|(_, _, _, handlers)| handlers.intersects(&self.state.configuration))
            .map(|(event, ..)| *event)
            .collect();
        let delayed = self.delayed();
        for invoke in running {
            for at in 0..self.signals[invoke.index()].len() {
                self.follow(node, Cause::Signal(invoke, self.signals[invoke.index()][at].0), false);
            }
            self.follow(node, Cause::Error(invoke), false);
        }
        timed.into_iter().for_each(|state| self.follow(node, Cause::Timeout(state), false));
        for (at, is_many) in delayed {
            self.follow(node, Cause::Delayed(at), false);
            if is_many {
                self.follow(node, Cause::Delayed(at), true);
            }
        }
        raised.into_iter().for_each(|event| self.follow(node, Cause::Raised(event), false));
    }

    /// The delayed events that are pending, each once, and whether there may be any number of them.
    fn delayed(&self) -> SmallVec<[(usize, bool); 4]> {
        let mut found = SmallVec::<[(usize, bool); 4]>::new();
        let mut all: SmallVec<[usize; 8]> = (self.state.pending.iter())
            .filter(|pending| pending.state.is_none())
            .filter_map(|pending| self.graph.layout.delayed_at(self.machine, pending))
            .collect();
        all.sort_unstable();
        for group in all.chunk_by(|a, b| a == b) {
            found.push((group[0], group.len() >= MANY));
        }
        found
    }

    /// Tries everything that may come of one input.
    fn follow(&mut self, node: u32, cause: Cause, another_stays: bool) {
        self.state.data.choices.clear();
        let mut rounds = 0;
        for way in 1.. {
            self.unpack(node);
            if let (true, Cause::Delayed(at)) = (another_stays, cause) {
                let again = self.graph.layout.delayed_pending(self.machine, at, &mut self.state);
                self.state.pending.push(again);
            }
            self.take(node, cause);
            rounds += self.watch.rounds;
            let is_through = !self.state.data.choices.next();
            if !is_through && (way >= WAYS_MAX || rounds >= ROUNDS_MAX) {
                self.graph.too_much = Some("ways that one input may go");
            }
            if is_through || self.graph.too_much.is_some() {
                self.graph.work += rounds + u64::from(way);
                break;
            }
        }
    }

    fn take(&mut self, node: u32, cause: Cause) {
        self.state.data.begin_step();
        let input = self.input(cause);
        self.watch.clear();
        self.effects.clear();
        step_with(self.machine, &mut self.state, input, &mut self.watch, &mut self.effects);
        self.graph.layout.pack(self.machine, &self.state, &mut self.packed);
        if self.graph.layout.is_overflowing() {
            self.graph.too_much = Some("sets of delayed events");
            return;
        }
        if self.watch.moves.is_empty() && self.graph.packed(node) == self.packed {
            return;
        }
        let meaning = self.meaning(cause);
        let edge = self.graph.edges.len() as u32;
        let to = self.insert((node, edge));
        // Other answers may come to the same.
        if self.leaving.insert((to, meaning)) {
            self.graph.edges.push(Edge { to, meaning });
        }
    }

    fn input(&mut self, cause: Cause) -> Input<Carried> {
        match cause {
            Cause::Start => {
                Input::Started { session: self.session.clone(), input: self.state.data.carried(Known::Nothing) }
            }
            Cause::Signal(invoke, event) => {
                let signals = &self.signals[invoke.index()];
                let name = signals.iter().find(|(id, _)| *id == event).map_or(&self.session, |(_, name)| name).clone();
                let data = self.state.data.carried(Known::Nothing);
                self.finished(invoke, Ended::Signal { name, data })
            }
            Cause::Error(invoke) => {
                let data = self.state.data.carried(Known::Failed(invoke));
                self.finished(invoke, Ended::Error { data })
            }
            Cause::Timeout(state) => {
                let timer = self.state.pending.iter().find(|pending| pending.state == Some(state));
                Input::TimerFired { timer: timer.map_or(interlock_core::TimerId(0), |pending| pending.id) }
            }
            Cause::Delayed(at) => {
                let layout = &self.graph.layout;
                let is_it = |pending: &&interlock_core::Pending<Carried>| {
                    pending.state.is_none() && layout.delayed_at(self.machine, pending) == Some(at)
                };
                let timer = self.state.pending.iter().find(is_it);
                Input::TimerFired { timer: timer.map_or(interlock_core::TimerId(0), |pending| pending.id) }
            }
            Cause::Raised(event) => {
                let data = self.state.data.carried(Known::Nothing);
                let found = self.outside.iter().find(|(id, ..)| *id == event);
                let (by, event) = found.map_or((Raiser::Any, &self.session), |(_, by, name, _)| (*by, name));
                Input::EventRaised { event: event.clone(), data, by }
            }
        }
    }

    fn finished(&self, invoke: InvokeId, ended: Ended<Carried>) -> Input<Carried> {
        Input::ActivityFinished { activity: interlock_core::ActivityId(u64::from(invoke.0)), ended }
    }

    /// The number of the packed configuration, found or made.
    fn insert(&mut self, parent: (u32, u32)) -> u32 {
        let (words, graph) = (self.graph.layout.words, &mut self.graph);
        let hash = hash_words(&self.packed);
        let at = |node: u32| &graph.packed[node as usize * words..][..words];
        if let Some(&node) = self.index.find(hash, |&node| at(node) == self.packed) {
            return node;
        }
        let node = graph.parents.len() as u32;
        self.index.insert_unique(hash, node, |&node| hash_words(at(node)));
        graph.packed.extend_from_slice(&self.packed);
        graph.parents.push(parent);
        node
    }

    fn meaning(&mut self, cause: Cause) -> u32 {
        let hash = hash_meaning(cause, &self.watch.moves);
        let meanings = &mut self.graph.meanings;
        let is_it = |meaning: &Meaning| {
            meaning.cause == cause
                && meaning.seen == self.watch.seen
                && meaning.moves == self.watch.moves
                && meaning.started == self.watch.started
        };
        if let Some(&at) = self.meaning_index.find(hash, |&at| is_it(&meanings[at as usize])) {
            return at;
        }
        let at = meanings.len() as u32;
        let Watch { moves, started, seen, .. } = &self.watch;
        meanings.push(Meaning { cause, moves: moves.clone(), started: started.clone(), seen: seen.clone() });
        let rehash = |&at: &u32| {
            let meaning = &meanings[at as usize];
            hash_meaning(meaning.cause, &meaning.moves)
        };
        self.meaning_index.insert_unique(hash, at, rehash);
        at
    }
}

/// Packed configurations differ in a few bits only, and the table wants all bits of a hash to be good: each word is multiplied out to
/// 128 bits and folded.
fn hash_words(words: &[u64]) -> u64 {
    const FACTOR: u128 = 0x9e37_79b9_7f4a_7c15;
    words.iter().fold(0x243f_6a88_85a3_08d3, |hash: u64, &word| {
        let product = u128::from(hash ^ word) * FACTOR;
        // Unrotated: the low bits, which choose the place in the table, must come from the middle of the product.
        (product as u64) ^ ((product >> 64) as u64)
    })
}

fn hash_meaning(cause: Cause, moves: &[Move]) -> u64 {
    use std::hash::Hash;
    let mut hasher = FxHasher::default();
    cause.hash(&mut hasher);
    moves.hash(&mut hasher);
    hasher.finish()
}

/// Events that somebody outside the machine may raise.
fn outside_events(machine: &Machine) -> Vec<(EventId, Raiser, Arc<str>, StateSet)> {
    let chart = machine.chart();
    let may = |from: Raiser| matches!(from, Raiser::User | Raiser::Run | Raiser::Timer | Raiser::Any);
    let declared = chart.events.iter().enumerate().filter(|(_, event)| event.declared && may(event.from));
    declared
        .map(|(at, event)| {
            let mut handlers = StateSet::new(chart.states.len());
            for transition in &chart.transitions {
                if transition.events.iter().any(|descriptor| descriptor.matches(&event.name)) {
                    handlers.insert(transition.source);
                }
            }
            (EventId::at(at), event.from, Arc::from(event.name.as_str()), handlers)
        })
        .collect()
}
