//! Packs configurations into bits.
//!
//! A packed configuration holds everything that decides what a run can do next. It has two parts. *Control* is the part
//! that every step depends on: the active states, the history records, running activities, pending timers. There are
//! few controls, so they are numbered, and the first word of a packed configuration is that number. *Data* is the part
//! that a step depends on only if it reads it: the counters that are tracked exactly and the known facts, packed into
//! the words that follow. Ids of activities and timers are left out: they only have to differ.

use std::collections::BTreeMap;

use interlock_chart::model::{InvokeId, StateId};
use interlock_core::{ActivityId, Event, EventKey, Machine, Pending, Running, State, StateSet, Status, TimerId};

use crate::facts::{Carried, EventOrigin, Facts, Table};

/// Copies of the same delayed event are counted up to this number; beyond it, there may be any number.
pub(crate) const MANY: usize = 2;

/// The most sets of delayed events that are numbered.
const DELAYED_SETS_MAX: usize = 1 << 16;

const WORD: u32 = u64::BITS;

/// A delayed event: its name, the name it can be cancelled by, and the knowledge about its data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Delayed {
    pub(crate) event: String,
    pub(crate) name: Option<std::sync::Arc<str>>,
    known: EventOrigin,
}

/// The position of a number in a packed configuration; it never crosses a word boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    word: u32,
    shift: u32,
    mask: u64,
}

impl Field {
    #[inline]
    pub(crate) fn get(self, packed: &[u64]) -> u32 {
        ((packed[self.word as usize] >> self.shift) & self.mask) as u32
    }

    #[inline]
    pub(crate) fn set(self, packed: &mut [u64], value: u32) {
        let word = &mut packed[self.word as usize];
        *word = *word & !(self.mask << self.shift) | (u64::from(value) & self.mask) << self.shift;
    }
}

/// The positions of all parts of a packed configuration.
#[derive(Debug)]
pub(crate) struct Layout {
    states: usize,
    invokes: usize,
    timed: Vec<StateId>,
    /// The positions of the counters that are tracked.
    counters: Vec<Option<Field>>,
    /// The positions of the facts that outlive an event.
    slots: Vec<Option<Field>>,
    /// Sets of delayed events, numbered as they are found.
    delayed_sets: Vec<Vec<usize>>,
    delayed: Vec<Delayed>,
    set_numbers: BTreeMap<Vec<usize>, usize>,
    pub(crate) words: usize,
}

impl Layout {
    pub(crate) fn of(machine: &Machine, table: &Table, exact: &[bool]) -> Self {
        let chart = machine.chart();
        let mut room = Room { word: 1, bit: 0 };
        let mut field = |is_kept: bool, bits: u32| is_kept.then(|| room.take(bits));
        let bits = |max: u32| u32::BITS - max.leading_zeros();
        let counters = chart.counters.iter().zip(exact).map(|(counter, exact)| field(*exact, bits(counter.max)));
        let counters = counters.collect();
        let slots = table.slots.iter().map(|slot| field(!slot.is_local, slot.regions.len() as u32)).collect();
        Layout {
            states: chart.states.len(),
            invokes: chart.invokes.len(),
            timed: chart.states.iter().filter(|state| state.timeout_ms.is_some()).map(|state| state.id).collect(),
            counters,
            slots,
            delayed_sets: vec![Vec::new()],
            delayed: Vec::new(),
            set_numbers: [(Vec::new(), 0)].into(),
            words: room.words(),
        }
    }

    /// The position of a counter, if it is tracked.
    pub(crate) fn counter(&self, at: usize) -> Option<Field> {
        self.counters[at]
    }

    /// The position of a fact, if it outlives an event.
    pub(crate) fn slot(&self, at: usize) -> Option<Field> {
        self.slots[at]
    }

    /// The counters that are tracked, by their numbers.
    pub(crate) fn counters(&self) -> impl Iterator<Item = (usize, Field)> + '_ {
        self.counters.iter().enumerate().filter_map(|(at, field)| Some((at, (*field)?)))
    }

    /// Packs the data of a state, with the number of its control.
    pub(crate) fn pack(&self, control: u32, state: &State<Facts<'_>>, into: &mut Vec<u64>) {
        into.clear();
        into.resize(self.words, 0);
        into[0] = u64::from(control);
        self.counters().for_each(|(at, field)| field.set(into, state.counters[at]));
        let slots = self.slots.iter().enumerate().filter_map(|(at, field)| Some((at, (*field)?)));
        slots.for_each(|(at, field)| field.set(into, state.data.masks[at]));
    }

    /// Packs the control of a state into words; equal controls have equal words.
    pub(crate) fn pack_control(&mut self, machine: &Machine, state: &State<Facts<'_>>, into: &mut Vec<u64>) {
        let status = match state.status {
            Status::Ready => 0,
            Status::Running => 1,
            Status::Done { .. } => 2,
        };
        into.clear();
        into.push(status | (self.delayed_number(machine, state) as u64) << 2);
        into.extend_from_slice(state.configuration.words());
        state.history.iter().for_each(|set| into.extend_from_slice(set.words()));
        let (running_at, timed_at) = (into.len() * 64, into.len() * 64 + self.invokes);
        into.resize(into.len() + (self.invokes + self.timed.len()).div_ceil(64), 0);
        let mut set = |bit: usize| into[bit / 64] |= 1 << (bit % 64);
        state.running.iter().for_each(|running| set(running_at + running.invoke.index()));
        let timed = state.pending.iter().filter_map(|pending| pending.state);
        timed.filter_map(|state| self.timed.binary_search(&state).ok()).for_each(|at| set(timed_at + at));
    }

    /// Rebuilds a state from its control and its packed data. Counters that are not tracked begin every step at 0.
    pub(crate) fn unpack(&self, machine: &Machine, control: &[u64], packed: &[u64], state: &mut State<Facts<'_>>) {
        state.status = status(control);
        let words = self.states.div_ceil(64).max(1);
        let (sets, bits) = control[1..].split_at(words * (1 + state.history.len()));
        let mut sets = sets.chunks_exact(words);
        for set in std::iter::once(&mut state.configuration).chain(&mut state.history) {
            sets.next().into_iter().for_each(|from| set.words_mut().copy_from_slice(from));
        }
        for (at, count) in state.counters.iter_mut().enumerate() {
            *count = self.counters[at].map_or(0, |field| field.get(packed));
        }
        for (at, mask) in state.data.masks.iter_mut().enumerate() {
            if let Some(field) = self.slots[at] {
                *mask = field.get(packed);
            }
        }
        let has = |bit: usize| bits[bit / 64] & 1 << (bit % 64) != 0;
        let running = (0..self.invokes).filter(|at| has(*at));
        state.running.clear();
        state.running.extend(running.map(|at| Running { id: ActivityId(at as u64), invoke: InvokeId::at(at) }));
        state.pending.clear();
        for (_, &timed) in self.timed.iter().enumerate().filter(|(at, _)| has(self.invokes + at)) {
            let key = EventKey::Known(machine.timeout_event(timed));
            let data = state.data.carried(EventOrigin::Timeout(timed));
            let id = TimerId(state.pending.len() as u64);
            state.pending.push(Pending { id, state: Some(timed), name: None, event: Event { key, data } });
        }
        for &at in &self.delayed_sets[(control[0] >> 2) as usize] {
            let pending = self.delayed_pending(machine, at, state);
            state.pending.push(pending);
        }
        state.held = None;
        state.next_id = 1 << 32;
    }

    /// Creates a pending timer for a delayed event.
    pub(crate) fn delayed_pending(
        &self,
        machine: &Machine,
        at: usize,
        state: &mut State<Facts<'_>>,
    ) -> Pending<Carried> {
        let delayed = &self.delayed[at];
        let key = machine.event(&delayed.event);
        let key = key.map_or_else(|| EventKey::Other(delayed.event.as_str().into()), EventKey::Known);
        let data = state.data.carried(delayed.known);
        let id = TimerId(state.pending.len() as u64);
        Pending { id, state: None, name: delayed.name.clone(), event: Event { key, data } }
    }

    /// The number of a delayed event that is pending.
    pub(crate) fn delayed_at(&self, machine: &Machine, pending: &Pending<Carried>) -> Option<usize> {
        let wanted = describe(machine, pending);
        self.delayed.iter().position(|delayed| *delayed == wanted)
    }

    fn delayed_number(&mut self, machine: &Machine, state: &State<Facts<'_>>) -> usize {
        let mut set = Vec::new();
        for pending in state.pending.iter().filter(|pending| pending.state.is_none()) {
            let at = self.delayed_at(machine, pending).unwrap_or_else(|| {
                self.delayed.push(describe(machine, pending));
                self.delayed.len() - 1
            });
            if set.iter().filter(|other| **other == at).count() < MANY {
                set.push(at);
            }
        }
        set.sort_unstable();
        if let Some(number) = self.set_numbers.get(&set) {
            return *number;
        }
        self.delayed_sets.push(set.clone());
        self.set_numbers.insert(set, self.delayed_sets.len() - 1);
        self.delayed_sets.len() - 1
    }

    /// The name of a delayed event.
    pub(crate) fn delayed_name(&self, at: usize) -> &str {
        &self.delayed[at].event
    }

    /// Returns true if more sets of delayed events were found than can be numbered.
    pub(crate) fn is_overflowing(&self) -> bool {
        self.delayed_sets.len() > DELAYED_SETS_MAX
    }
}

/// The status of a run with this control.
pub(crate) fn status(control: &[u64]) -> Status {
    match control[0] & 3 {
        0 => Status::Ready,
        1 => Status::Running,
        _ => Status::Done { outcome: None },
    }
}

/// The active states of this control, out of `states` states.
pub(crate) fn configuration(control: &[u64], states: usize) -> StateSet {
    let mut set = StateSet::new(states);
    let words = set.words_mut();
    words.copy_from_slice(&control[1..=words.len()]);
    set
}

fn describe(machine: &Machine, pending: &Pending<Carried>) -> Delayed {
    Delayed {
        event: pending.event.key.name(machine).to_owned(),
        name: pending.name.clone(),
        known: pending.event.data.known,
    }
}

/// The next free bit.
struct Room {
    word: u32,
    bit: u32,
}

impl Room {
    fn take(&mut self, bits: u32) -> Field {
        if self.bit + bits > WORD {
            (self.word, self.bit) = (self.word + 1, 0);
        }
        // A field without bits refers to word 0, which always exists.
        let field = match bits {
            0 => Field { word: 0, shift: 0, mask: 0 },
            bits => Field { word: self.word, shift: self.bit, mask: u64::MAX >> (WORD - bits) },
        };
        self.bit += bits;
        field
    }

    fn words(&self) -> usize {
        self.word as usize + usize::from(self.bit > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_read_back_and_do_not_overlap() {
        let mut room = Room { word: 1, bit: 0 };
        let fields: Vec<Field> = [3, 32, 0, 31, 1, 7, 32, 30].iter().map(|&bits| room.take(bits)).collect();
        let values = [5, u32::MAX, 0, 1 << 30, 1, 77, 12_345, (1 << 30) - 1];
        let mut packed = vec![0; room.words()];
        for round in [u32::MAX, 0, u32::MAX] {
            fields.iter().for_each(|field| field.set(&mut packed, round));
        }
        fields.iter().zip(values).for_each(|(field, value)| field.set(&mut packed, value));
        for (field, value) in fields.iter().zip(values) {
            assert_eq!(field.get(&packed), value, "{field:?}");
        }
        assert_eq!(packed[0], 0, "the control's word is no field's");
    }
}
