//! Configurations packed into bits.
//!
//! A packed configuration holds everything that decides what a run can do next: the active states, what history remembers, the
//! counters that are followed exactly, running activities, pending timers and the known facts. Ids of activities and timers are left out: they only have to differ.

use std::collections::BTreeMap;

use interlock_chart::model::{InvokeId, StateId};
use interlock_core::{ActivityId, Event, EventKey, Machine, Pending, Running, State, StateSet, Status, TimerId};

use crate::facts::{Carried, Facts, Known, Table};

/// The same delayed event is told apart up to this many times; beyond, there may be any number.
pub(crate) const MANY: usize = 2;

/// A delayed event: its name, what it can be cancelled by, what is known of its data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Delayed {
    pub(crate) event: String,
    pub(crate) name: Option<std::sync::Arc<str>>,
    known: Known,
}

/// Where everything stands in a packed configuration.
#[derive(Debug)]
pub(crate) struct Layout {
    states: usize,
    histories: usize,
    /// Counters that are followed, with their bits.
    counters: Vec<(usize, u32)>,
    invokes: usize,
    timed: Vec<StateId>,
    /// Facts that outlive an event, with their bits.
    slots: Vec<(usize, u32)>,
    /// Sets of delayed events, numbered as they turn up.
    delayed_sets: Vec<Vec<usize>>,
    delayed: Vec<Delayed>,
    set_numbers: BTreeMap<Vec<usize>, usize>,
    pub(crate) words: usize,
}

const STATUS_BITS: u32 = 2;
const DELAYED_BITS: u32 = 16;

impl Layout {
    pub(crate) fn of(machine: &Machine, table: &Table, exact: &[bool]) -> Self {
        let chart = machine.chart();
        let bits = |max: u32| u32::BITS - max.leading_zeros();
        let counters = chart.counters.iter().enumerate().filter(|(at, _)| exact[*at]);
        let slots = table.slots.iter().enumerate().filter(|(_, slot)| !slot.is_local);
        let mut layout = Layout {
            states: chart.states.len(),
            histories: machine.histories().len(),
            counters: counters.map(|(at, counter)| (at, bits(counter.max))).collect(),
            invokes: chart.invokes.len(),
            timed: chart.states.iter().filter(|state| state.timeout_ms.is_some()).map(|state| state.id).collect(),
            slots: slots.map(|(at, slot)| (at, slot.regions.len() as u32)).collect(),
            delayed_sets: vec![Vec::new()],
            delayed: Vec::new(),
            set_numbers: [(Vec::new(), 0)].into(),
            words: 0,
        };
        let sum = |bits: &[(usize, u32)]| bits.iter().map(|(_, bits)| *bits as usize).sum::<usize>();
        let bits = (STATUS_BITS + DELAYED_BITS) as usize
            + layout.states * (1 + layout.histories)
            + sum(&layout.counters)
            + sum(&layout.slots)
            + layout.invokes
            + layout.timed.len();
        layout.words = bits.div_ceil(64);
        layout
    }

    pub(crate) fn pack(&mut self, machine: &Machine, state: &State<Facts<'_>>, into: &mut Vec<u64>) {
        let delayed = self.delayed_number(machine, state);
        let mut bits = Writer { words: into, bit: 64 };
        bits.words.clear();
        let status = match state.status {
            Status::Ready => 0,
            Status::Running => 1,
            Status::Done { .. } => 2,
        };
        bits.put(status, STATUS_BITS);
        bits.put(delayed as u64, DELAYED_BITS);
        bits.put_words(state.configuration.words(), self.states);
        state.history.iter().for_each(|set| bits.put_words(set.words(), self.states));
        self.counters.iter().for_each(|&(at, width)| bits.put(u64::from(state.counters[at]), width));
        self.slots.iter().for_each(|&(at, width)| bits.put(u64::from(state.data.masks[at]), width));
        // Running activities and pending timers are few: their bits are set one by one in room that is zero already.
        let (running_at, timed_at) = (bits.position(), bits.position() + self.invokes);
        into.resize(self.words, 0);
        let mut set = |bit: usize| into[bit / 64] |= 1 << (bit % 64);
        state.running.iter().for_each(|running| set(running_at + running.invoke.index()));
        let timed = state.pending.iter().filter_map(|pending| pending.state);
        timed.filter_map(|state| self.timed.binary_search(&state).ok()).for_each(|at| set(timed_at + at));
    }

    pub(crate) fn unpack(&self, machine: &Machine, packed: &[u64], state: &mut State<Facts<'_>>) {
        let mut bits = Reader { words: packed, bit: 0 };
        state.status = match bits.get(STATUS_BITS) {
            0 => Status::Ready,
            1 => Status::Running,
            _ => Status::Done { outcome: None },
        };
        let delayed = bits.get(DELAYED_BITS) as usize;
        bits.get_words(state.configuration.words_mut(), self.states);
        state.history.iter_mut().for_each(|set| bits.get_words(set.words_mut(), self.states));
        self.counters.iter().for_each(|&(at, width)| state.counters[at] = bits.get(width) as u32);
        self.slots.iter().for_each(|&(at, width)| state.data.masks[at] = bits.get(width) as u32);
        state.running.clear();
        for at in 0..self.invokes {
            if bits.get(1) == 1 {
                state.running.push(Running { id: ActivityId(at as u64), invoke: InvokeId::at(at) });
            }
        }
        state.pending.clear();
        for &timed in &self.timed {
            if bits.get(1) == 1 {
                let key = EventKey::Known(machine.timeout_event(timed));
                let data = state.data.carried(Known::Timeout(timed));
                let id = TimerId(state.pending.len() as u64);
                state.pending.push(Pending { id, state: Some(timed), name: None, event: Event { key, data } });
            }
        }
        for &at in &self.delayed_sets[delayed] {
            let pending = self.delayed_pending(machine, at, state);
            state.pending.push(pending);
        }
        state.held = None;
        state.next_id = 1 << 32;
    }

    /// Whether a packed configuration is one of a run that has ended.
    pub(crate) fn is_done(&self, packed: &[u64]) -> bool {
        Reader { words: packed, bit: 0 }.get(STATUS_BITS) == 2
    }

    /// The active states of a packed configuration.
    pub(crate) fn configuration(&self, packed: &[u64]) -> StateSet {
        let mut set = StateSet::new(self.states);
        Reader { words: packed, bit: (STATUS_BITS + DELAYED_BITS) as usize }.get_words(set.words_mut(), self.states);
        set
    }

    /// A pending timer for a delayed event.
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

    /// The number of a delayed event that is pending, and how often it is.
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

    /// Whether more sets of delayed events turned up than can be numbered.
    pub(crate) fn is_overflowing(&self) -> bool {
        self.delayed_sets.len() > 1 << DELAYED_BITS
    }
}

fn describe(machine: &Machine, pending: &Pending<Carried>) -> Delayed {
    Delayed {
        event: pending.event.key.name(machine).to_owned(),
        name: pending.name.clone(),
        known: pending.event.data.known,
    }
}

struct Writer<'a> {
    words: &'a mut Vec<u64>,
    /// The next free bit of the last word; 64 where it is full.
    bit: u32,
}

impl Writer<'_> {
    /// How many bits have been written.
    fn position(&self) -> usize {
        (self.words.len() * 64 + self.bit as usize).saturating_sub(64)
    }

    fn put(&mut self, value: u64, width: u32) {
        if width == 0 {
            return;
        }
        if self.bit == 64 {
            self.words.push(0);
            self.bit = 0;
        }
        let last = self.words.len() - 1;
        self.words[last] |= value << self.bit;
        let room = 64 - self.bit;
        if width > room {
            self.words.push(value >> room);
            self.bit = width - room;
        } else {
            self.bit += width;
        }
    }

    fn put_words(&mut self, words: &[u64], bits: usize) {
        for (at, &word) in words.iter().enumerate() {
            self.put(word, (bits - (at * 64).min(bits)).min(64) as u32);
        }
    }
}

struct Reader<'a> {
    words: &'a [u64],
    bit: usize,
}

impl Reader<'_> {
    fn get(&mut self, width: u32) -> u64 {
        if width == 0 {
            return 0;
        }
        let (word, bit) = (self.bit / 64, self.bit % 64);
        self.bit += width as usize;
        let mut value = self.words[word] >> bit;
        if bit + width as usize > 64 {
            value |= self.words[word + 1] << (64 - bit);
        }
        if width == 64 { value } else { value & ((1 << width) - 1) }
    }

    fn get_words(&mut self, words: &mut [u64], bits: usize) {
        for (at, word) in words.iter_mut().enumerate() {
            *word = self.get((bits - (at * 64).min(bits)).min(64) as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_across_words_is_read_back() {
        let mut words = Vec::new();
        let mut writer = Writer { words: &mut words, bit: 64 };
        let fields = [(5, 3), (u64::MAX, 64), (0, 1), (1 << 40, 41), (77, 7), (1, 1), (u64::MAX >> 1, 63)];
        fields.iter().for_each(|&(value, width)| writer.put(value, width));
        let mut reader = Reader { words: &words, bit: 0 };
        for (value, width) in fields {
            assert_eq!(reader.get(width), value, "{width} bits");
        }
    }
}
