//! Breadth-first exploration of everything a machine can do.
//!
//! From every configuration, everything that may happen next is tried with the engine's `step`: each signal and the
//! failure of each running activity, each pending timer, each event that a person or another run may raise. If the data
//! model leaves a question open, every answer is tried. The search is breadth-first, so the first path found to a
//! configuration is a shortest one. The engine takes each step once; if it would take the same path again, `memo.rs`
//! supplies the result.

use std::{hash::Hasher, sync::Arc};

use hashbrown::HashTable;
use interlock_chart::model::{EventId, InvokeId, Outcome, Raiser};
use interlock_core::{ActivityEnd, Effect, Input, Machine, Semantics, State, StateSet, Status, step_with};
use rustc_hash::FxHasher;
use smallvec::SmallVec;

pub(crate) use crate::reach::{Allowance, Cause, Edge, Graph, Meaning};
use crate::{
    facts::{Carried, EventOrigin, Facts, Table},
    layout::{Layout, MANY},
    memo::{At, Branch, Leaf, Memo},
    reach::Control,
    watch::{Lookout, Move, Watch},
};

/// The most paths that one input may take before the exploration stops as too large.
const WAYS_MAX: u32 = 1 << 12;

/// The most engine rounds of all paths of one input together. A macrostep that never comes to rest takes a thousand
/// rounds per path.
const ROUNDS_MAX: u64 = 1 << 14;

/// An input, with the tree of its possible results.
#[derive(Clone, Copy, Debug)]
struct Tried {
    cause: Cause,
    /// For a delayed event that may be pending any number of times: true if it is still pending afterwards.
    another_stays: bool,
    tree: At,
}

/// Explores a machine and tracks these counters exactly, until everything was seen or the allowance is used up.
pub(crate) fn explore(
    machine: &Machine,
    table: &Table,
    lookout: &Lookout,
    exact: &[bool],
    allowance: Allowance,
) -> Graph {
    let mut explorer = Explorer::new(machine, table, lookout, exact);
    explorer.run(allowance, |_| {});
    explorer.graph
}

struct Explorer<'m> {
    machine: &'m Machine,
    graph: Graph,
    index: HashTable<u32>,
    meaning_index: HashTable<u32>,
    /// The edges found from the current configuration.
    leaving: hashbrown::HashSet<(u32, u32), rustc_hash::FxBuildHasher>,
    state: State<Facts<'m>>,
    watch: Watch<'m>,
    effects: Vec<Effect<Carried>>,
    packed: Vec<u64>,
    control_words: Vec<u64>,
    control_index: HashTable<u32>,
    /// Per control: everything that may happen, computed on first use.
    inputs: Vec<Option<Vec<Tried>>>,
    memo: Memo,
    /// Events that may be raised from outside, with the permitted raiser and the states that handle them.
    outside: Vec<(EventId, Raiser, Arc<str>, StateSet)>,
    signals: Vec<Vec<(EventId, Arc<str>)>>,
    session: Arc<str>,
}

impl<'m> Explorer<'m> {
    fn new(machine: &'m Machine, table: &'m Table, lookout: &'m Lookout, exact: &'m [bool]) -> Self {
        let chart = machine.chart();
        let graph = Graph {
            layout: Layout::of(machine, table, exact),
            controls: Vec::new(),
            packed: Vec::new(),
            edges: Vec::new(),
            first_edge: vec![0],
            parents: Vec::new(),
            meanings: Vec::new(),
            visited: StateSet::new(chart.states.len()),
            unhandled: Default::default(),
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
            control_words: Vec::new(),
            control_index: HashTable::new(),
            inputs: Vec::new(),
            memo: Memo::default(),
            outside: outside_events(machine),
            signals: signals.collect(),
            session: "".into(),
        }
    }

    /// Explores until nothing is left, or up to the allowance. Calls `before` ahead of every configuration that is
    /// explored.
    fn run(&mut self, allowance: Allowance, before: impl Fn(&mut Self)) {
        let control = self.control();
        self.graph.layout.pack(control, &self.state, &mut self.packed);
        self.insert((0, 0));
        let mut node = 0;
        while (node as usize) < self.graph.len() {
            if self.graph.len() > allowance.configurations {
                self.graph.too_much = Some("configurations");
            } else if self.graph.work > allowance.work {
                self.graph.too_much = Some("ways");
            }
            if self.graph.too_much.is_none() {
                before(self);
                self.expand(node);
            }
            self.graph.first_edge.push(self.graph.edges.len() as u32);
            node += 1;
        }
        self.graph.visited = self.watch.visited.clone();
        self.graph.unhandled = std::mem::take(&mut self.watch.unhandled);
    }

    /// Returns the number of the state's control, and adds the control if it is new.
    fn control(&mut self) -> u32 {
        self.graph.layout.pack_control(self.machine, &self.state, &mut self.control_words);
        let (words, controls) = (&self.control_words, &mut self.graph.controls);
        let hash = hash_words(words);
        if let Some(&at) = self.control_index.find(hash, |&at| *controls[at as usize].words == **words) {
            return at;
        }
        let at = controls.len() as u32;
        controls.push(Control::of(words, self.machine.chart().states.len()));
        self.control_index.insert_unique(hash, at, |&at| hash_words(&controls[at as usize].words));
        self.inputs.push(None);
        at
    }

    fn unpack(&mut self, node: u32) {
        let Graph { layout, controls, packed, .. } = &self.graph;
        let packed = &packed[node as usize * layout.words..][..layout.words];
        layout.unpack(self.machine, &controls[packed[0] as usize].words, packed, &mut self.state);
    }

    fn expand(&mut self, node: u32) {
        self.leaving.clear();
        let control = self.graph.packed(node)[0] as usize;
        let inputs = match self.inputs[control].take() {
            Some(inputs) => inputs,
            None => self.inputs_of(node),
        };
        inputs.iter().for_each(|input| self.follow(node, *input));
        self.inputs[control] = Some(inputs);
    }

    /// Everything that may happen to a configuration. Its control determines the list.
    fn inputs_of(&mut self, node: u32) -> Vec<Tried> {
        self.unpack(node);
        let mut causes = Vec::new();
        match self.state.status {
            Status::Ready => causes.push((Cause::Start, false)),
            Status::Done { .. } => {}
            Status::Running => self.causes(&mut causes),
        }
        let memo = &mut self.memo;
        causes.into_iter().map(|(cause, another_stays)| Tried { cause, another_stays, tree: memo.tree() }).collect()
    }

    fn causes(&self, causes: &mut Vec<(Cause, bool)>) {
        for running in &self.state.running {
            let signals = self.signals[running.invoke.index()].iter();
            causes.extend(signals.map(|(event, _)| (Cause::Signal(running.invoke, *event), false)));
            causes.push((Cause::Error(running.invoke), false));
        }
        let timed = self.state.pending.iter().filter_map(|pending| pending.state);
        causes.extend(timed.map(|state| (Cause::Timeout(state), false)));
        for (at, is_many) in self.delayed() {
            causes.push((Cause::Delayed(at), false));
            causes.extend(is_many.then_some((Cause::Delayed(at), true)));
        }
        let raised = self.outside.iter().filter(|(_, _, _, handlers)| handlers.intersects(&self.state.configuration));
        causes.extend(raised.map(|(event, ..)| (Cause::Raised(*event), false)));
    }

    /// The delayed events that are pending, each once, with a flag that is true if any number of them may be pending.
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

    /// Tries every result of one input: every leaf of its tree that the configuration's data leads to, in order.
    fn follow(&mut self, node: u32, tried: Tried) {
        // The choices on the path to the current position, with the option taken at each.
        let mut chosen = SmallVec::<[(At, u8); 16]>::new();
        let (mut ways, mut rounds, mut at) = (0, 0, Some(tried.tree));
        while let Some(here) = at {
            let is_enough = ways >= WAYS_MAX || rounds >= ROUNDS_MAX;
            at = match self.memo.branch(here) {
                Branch::Unknown | Branch::Ends(_) if is_enough => {
                    self.graph.too_much = Some("ways that one input may go");
                    None
                }
                Branch::Unknown => self.try_out(node, tried, &chosen).then_some(here),
                Branch::Reads { field, .. } => {
                    let value = field.get(self.graph.packed(node));
                    Some(self.memo.value(here, value))
                }
                Branch::Compares { field, bound, ways } => {
                    Some(ways[usize::from(field.get(self.graph.packed(node)) < *bound)])
                }
                Branch::Chooses(ways) => {
                    chosen.push((here, 0));
                    Some(ways[0])
                }
                Branch::Ends(leaf) => {
                    let leaf = *leaf;
                    ways += 1;
                    rounds += self.memo.leaf(leaf).rounds;
                    self.arrive(node, leaf);
                    if self.graph.too_much.is_none() { self.next_way(&mut chosen) } else { None }
                }
            };
        }
        self.graph.work += rounds + u64::from(ways);
    }

    /// Returns the next path after the current one: another answer to the last choice that has one.
    fn next_way(&self, chosen: &mut SmallVec<[(At, u8); 16]>) -> Option<At> {
        while let Some((at, way)) = chosen.pop() {
            if let Branch::Chooses(ways) = self.memo.branch(at)
                && let Some(next) = ways.get(usize::from(way) + 1)
            {
                chosen.push((at, way + 1));
                return Some(*next);
            }
        }
        None
    }

    /// Lets the engine take a step that is not known yet, and stores it. Returns true if it could be stored.
    fn try_out(&mut self, node: u32, tried: Tried, chosen: &[(At, u8)]) -> bool {
        self.unpack(node);
        if let (true, Cause::Delayed(at)) = (tried.another_stays, tried.cause) {
            let again = self.graph.layout.delayed_pending(self.machine, at, &mut self.state);
            self.state.pending.push(again);
        }
        self.state.data.script.begin(chosen.iter().map(|(_, way)| *way));
        self.state.data.begin_step(&self.state.counters);
        let input = self.input(tried.cause);
        self.watch.clear();
        self.effects.clear();
        step_with(self.machine, &mut self.state, input, &mut self.watch, &mut self.effects);
        let control = self.control();
        if self.graph.layout.is_overflowing() {
            self.graph.too_much = Some("sets of delayed events");
            return false;
        }
        let leaf = self.leaf(control, tried.cause);
        debug_assert!(self.is_true_to(node, control, &leaf), "a step changed what it did not look at");
        self.memo.keep(tried.tree, &self.graph.layout, &self.state.data.script.answers, leaf);
        true
    }

    /// Describes the step just taken as a change that applies to every configuration in which it is taken.
    fn leaf(&mut self, control: u32, cause: Cause) -> Leaf {
        let (data, layout) = (&self.state.data, &self.graph.layout);
        let slots = (0..data.masks.len()).filter(|at| data.is_touched[*at]);
        let mut sets: SmallVec<[_; 4]> = slots.filter_map(|at| Some((layout.slot(at)?, data.masks[at]))).collect();
        let mut adds = SmallVec::new();
        for (at, field) in layout.counters() {
            match counting(self.machine, &self.watch.moves, at) {
                (false, 0) => {}
                (false, more) => adds.push((field, more)),
                (true, count) => sets.push((field, count)),
            }
        }
        let (is_still, rounds) = (self.watch.moves.is_empty(), self.watch.rounds);
        Leaf { control, sets, adds, meaning: self.meaning(cause), is_still, rounds }
    }

    /// Returns true if the leaf turns this configuration into the one that the engine produced.
    fn is_true_to(&mut self, node: u32, control: u32, leaf: &Leaf) -> bool {
        self.graph.layout.pack(control, &self.state, &mut self.packed);
        let mut after = self.graph.packed(node).to_vec();
        leaf.apply(&mut after);
        after == self.packed
    }

    /// Adds the edge of this path that leaves the configuration.
    fn arrive(&mut self, node: u32, leaf: u32) {
        let words = self.graph.layout.words;
        let from = &self.graph.packed[node as usize * words..][..words];
        let leaf = self.memo.leaf(leaf);
        self.packed.clear();
        self.packed.extend_from_slice(from);
        leaf.apply(&mut self.packed);
        if leaf.is_still && self.packed == from {
            return;
        }
        let meaning = leaf.meaning;
        let edge = self.graph.edges.len() as u32;
        let to = self.insert((node, edge));
        // Other answers may lead to the same edge.
        if self.leaving.insert((to, meaning)) {
            self.graph.edges.push(Edge { to, meaning });
        }
    }

    fn input(&mut self, cause: Cause) -> Input<Carried> {
        match cause {
            Cause::Start => {
                let (session, semantics) = (self.session.clone(), Semantics::CURRENT);
                Input::Started { session, input: self.state.data.carried(EventOrigin::Nothing), semantics }
            }
            Cause::Signal(invoke, event) => {
                let signals = &self.signals[invoke.index()];
                let name = signals.iter().find(|(id, _)| *id == event).map_or(&self.session, |(_, name)| name).clone();
                let data = self.state.data.carried(EventOrigin::Nothing);
                self.finished(invoke, ActivityEnd::Signal { name, data })
            }
            Cause::Error(invoke) => {
                let data = self.state.data.carried(EventOrigin::Failed(invoke));
                self.finished(invoke, ActivityEnd::Error { data })
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
                let data = self.state.data.carried(EventOrigin::Nothing);
                let found = self.outside.iter().find(|(id, ..)| *id == event);
                let (by, event) = found.map_or((Raiser::Any, &self.session), |(_, by, name, _)| (*by, name));
                Input::EventRaised { event: event.clone(), data, by }
            }
        }
    }

    fn finished(&self, invoke: InvokeId, ended: ActivityEnd<Carried>) -> Input<Carried> {
        Input::ActivityFinished { activity: interlock_core::ActivityId(u64::from(invoke.0)), ended }
    }

    /// Returns the number of the packed configuration, and adds it if it is new.
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
        let is_failure = self.state.status == Status::Done { outcome: Some(Outcome::Failure) };
        let is_false_end = self.watch.has_open_fault && self.state.is_done() && !is_failure;
        let hash = hash_meaning(cause, &self.watch.moves);
        let meanings = &mut self.graph.meanings;
        let is_it = |meaning: &Meaning| {
            meaning.cause == cause
                && meaning.seen == self.watch.seen
                && meaning.moves == self.watch.moves
                && meaning.started == self.watch.started
                && meaning.is_false_end == is_false_end
        };
        if let Some(&at) = self.meaning_index.find(hash, |&at| is_it(&meanings[at as usize])) {
            return at;
        }
        let at = meanings.len() as u32;
        let Watch { moves, started, seen, .. } = &self.watch;
        let (moves, started, seen) = (moves.clone(), started.clone(), seen.clone());
        meanings.push(Meaning { cause, moves, started, seen, is_false_end });
        let rehash = |&at: &u32| {
            let meaning = &meanings[at as usize];
            hash_meaning(meaning.cause, &meaning.moves)
        };
        self.meaning_index.insert_unique(hash, at, rehash);
        at
    }
}

/// Returns the effect of transitions on a counter: true if they reset it, and the amount they add (after the reset).
fn counting(machine: &Machine, moves: &[Move], counter: usize) -> (bool, u32) {
    let taken = moves.iter().filter_map(|one| match one {
        Move::Taken(transition) => Some(machine.plan(*transition)),
        Move::Refused(_) => None,
    });
    taken.fold((false, 0), |(is_reset, count), plan| {
        let counted = plan.limits.iter().filter(|(id, ..)| id.index() == counter).count() as u32;
        match plan.resets.iter().any(|id| id.index() == counter) {
            true => (true, 0),
            false => (is_reset, count + counted),
        }
    })
}

/// Hashes a packed configuration. Packed configurations differ in a few bits only, and the table needs all bits of the
/// hash to be good: each word is multiplied out to 128 bits and folded.
fn hash_words(words: &[u64]) -> u64 {
    const FACTOR: u128 = 0x9e37_79b9_7f4a_7c15;
    words.iter().fold(0x243f_6a88_85a3_08d3, |hash: u64, &word| {
        let product = u128::from(hash ^ word) * FACTOR;
        // Not rotated: the low bits, which select the slot in the table, must come from the middle of the product.
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

/// Events that may be raised from outside the machine.
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

#[cfg(test)]
mod tests;
