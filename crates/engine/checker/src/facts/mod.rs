//! The checker's data model: partial knowledge about values.
//!
//! A guard over unknown data is answered both ways, each in a separate branch of the exploration. The answer is
//! remembered: the same question gets the same answer until something may have changed it. Facts about `input` hold for
//! the whole run, facts about `context` until the variable is assigned, facts about `event` while the event is handled.

mod atom;
mod choose;
mod events;
mod formulas;
mod paths;
mod region;
mod schema;
mod sure;
mod table;

use std::sync::Arc;

pub(crate) use choose::{Script, StepAnswer};
use interlock_chart::{
    Value,
    expr::{Binary, Node, Root},
    model::{CounterId, InvokeId, StateId, Template, VarId},
    unresolve::template_text,
};
use interlock_core::{Data, Fault, FormulaId, Machine, Scope};
pub(crate) use table::Table;
use table::{Change, Question};

/// The purpose of a text that is not literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Event,
    Delay,
    Cancel,
}

/// The knowledge about an event's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum EventOrigin {
    Nothing,
    /// The machine computed it from this formula.
    Made(FormulaId),
    /// It comes from a timeout of this state.
    Timeout(StateId),
    /// It comes from a failure of this activity.
    Failed(InvokeId),
    /// It comes from an evaluation that failed.
    Fault,
}

/// An event's data: the knowledge about it, and a number that distinguishes this event from every other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    pub(crate) known: EventOrigin,
    serial: u32,
}

/// The knowledge about a run's data.
#[derive(Debug)]
pub(crate) struct Facts<'t> {
    table: &'t Table,
    /// Per counter: true if it is tracked exactly. Limits of the others are answered both ways.
    exact: &'t [bool],
    /// Per slot: the regions that may contain its value.
    pub(crate) masks: Vec<u32>,
    pub(crate) script: Script,
    /// Per slot: true if this step has read or changed it.
    pub(crate) is_touched: Vec<bool>,
    /// The counters before this step, each with a flag that is true if the step has changed it.
    counters: Vec<(u32, bool)>,
    serial: u32,
    /// The serial number of the event that local facts belong to.
    local: u32,
    /// The answers about open counters since they last changed.
    counts: smallvec::SmallVec<[Answered; 4]>,
}

/// An answer about an open counter.
#[derive(Clone, Copy, Debug)]
struct Answered {
    counter: CounterId,
    /// The amount that this step had added when the question was asked.
    count: u32,
    at_least: u32,
    below: u32,
}

/// The knowledge before a microstep that may have to be taken back.
#[derive(Debug)]
pub(crate) struct Saved {
    masks: Vec<u32>,
    is_touched: Vec<bool>,
    counters: Vec<(u32, bool)>,
    local: u32,
    counts: smallvec::SmallVec<[Answered; 4]>,
}

type Evaluation<T> = Result<T, Box<Fault>>;

impl<'t> Facts<'t> {
    pub(crate) fn new(table: &'t Table, exact: &'t [bool]) -> Self {
        let masks = table.slots.iter().map(|slot| slot.unknown()).collect();
        Facts {
            table,
            exact,
            masks,
            script: Script::default(),
            is_touched: vec![false; table.slots.len()],
            counters: vec![(0, false); exact.len()],
            serial: 0,
            local: 0,
            counts: Default::default(),
        }
    }

    /// Creates event data with this knowledge.
    pub(crate) fn carried(&mut self, known: EventOrigin) -> Carried {
        self.serial += 1;
        Carried { known, serial: self.serial }
    }

    /// Returns a fault if the formula may fail and the script chooses that it does.
    fn fails(&mut self, formula: FormulaId, scope: &Scope<'_, Carried>) -> Evaluation<()> {
        if self.table.may_fail[formula.index()] && self.script.choose(2) == 1 {
            let expression = match &scope.machine.formulas()[formula.index()].template {
                Template::Expr(expr) => expr.source.clone(),
                other => template_text(other),
            };
            let message = if self.table.may_only_overflow[formula.index()] { OVERFLOW } else { "may fail" };
            return Err(Box::new(Fault { expression, ..Fault::new(message) }));
        }
        Ok(())
    }

    fn ask(&mut self, question: &Question, scope: &Scope<'_, Carried>) -> bool {
        match question {
            Question::Const(value) => *value,
            Question::Not(operand) => !self.ask(operand, scope),
            Question::And(left, right) => self.ask(left, scope) && self.ask(right, scope),
            Question::Or(left, right) => self.ask(left, scope) || self.ask(right, scope),
            Question::If(cond, then, otherwise) => {
                if self.ask(cond, scope) {
                    self.ask(then, scope)
                } else {
                    self.ask(otherwise, scope)
                }
            }
            Question::Known(slot, mask) => self.is_in(*slot, *mask, scope),
            Question::Active(state) => scope.configuration.contains(*state),
            Question::Count(counter, operator, value) if self.exact[counter.index()] => {
                self.note_count(*counter);
                let count = i64::from(scope.counters[counter.index()]);
                compare(count, *operator, *value)
            }
            Question::EventName(is_equal, name) => {
                let is = scope.event.is_some_and(|event| event.key.name(scope.machine) == name);
                is == *is_equal
            }
            Question::Count(..) | Question::Free => self.script.choose(2) == 1,
        }
    }

    /// Returns true if a slot's value is in one of the regions. If that was open, it is decided now and remembered.
    fn is_in(&mut self, slot: usize, mask: u32, scope: &Scope<'_, Carried>) -> bool {
        let possible = self.possible(slot, scope);
        let (inside, outside) = (possible & mask, possible & !mask);
        let is_inside = match (inside, outside) {
            (_, 0) => true,
            (0, _) => false,
            _ => self.script.choose(2) == 1,
        };
        self.masks[slot] = if is_inside { inside } else { outside };
        is_inside
    }

    /// The regions that may contain a slot's value. Facts about an event start again with every event.
    fn possible(&mut self, slot: usize, scope: &Scope<'_, Carried>) -> u32 {
        if !self.table.slots[slot].is_local {
            if !std::mem::replace(&mut self.is_touched[slot], true) {
                self.script.note(StepAnswer::Mask { slot, mask: self.masks[slot] });
            }
            return self.masks[slot];
        }
        let serial = scope.event.map_or(0, |event| event.data.serial);
        if self.local != serial {
            self.local = serial;
            for (at, slot) in self.table.slots.iter().enumerate().filter(|(_, slot)| slot.is_local) {
                self.masks[at] = match (&slot.path, scope.event) {
                    (Some((_, path)), Some(event)) => made(slot, path, event.data.known, scope),
                    _ => slot.unknown(),
                };
            }
        }
        self.masks[slot]
    }

    /// The regions of a slot after an assignment.
    fn changed(&mut self, change: &Change, scope: &Scope<'_, Carried>) -> u32 {
        match change {
            Change::Becomes(mask) => *mask,
            Change::Copies(from) => self.possible(*from, scope),
            Change::Either(one, other) => {
                let change = if self.script.choose(2) == 0 { one } else { other };
                self.changed(change, scope)
            }
        }
    }
}

/// The message of a fault that only an overflow explains.
pub(crate) const OVERFLOW: &str = "may overflow";

/// The fields in the data of `error.execution`.
const FAULT_FIELDS: [&str; 6] = ["code", "message", "expression", "state", "place", "values"];

/// The regions of a field in the data of an event that the machine made.
fn made(slot: &table::Slot, path: &[String], known: EventOrigin, scope: &Scope<'_, Carried>) -> u32 {
    let chart = scope.machine.chart();
    match known {
        EventOrigin::Nothing => slot.unknown(),
        EventOrigin::Timeout(state) if path == ["state"] => slot.mask_of(&chart.state(state).name.as_str().into()),
        EventOrigin::Failed(invoke) if path == ["state"] => {
            slot.mask_of(&chart.state(chart.invoke(invoke).state).name.as_str().into())
        }
        EventOrigin::Failed(invoke) if path == ["activity"] => {
            slot.mask_of(&chart.invoke(invoke).activity.as_str().into())
        }
        EventOrigin::Fault if path == ["code"] => slot.mask_of(&Fault::CODE.into()),
        // A fault has no other fields than these.
        EventOrigin::Fault if path.first().is_some_and(|name| !FAULT_FIELDS.contains(&name.as_str())) => slot.absent(),
        EventOrigin::Timeout(_) | EventOrigin::Failed(_) | EventOrigin::Fault => slot.unknown(),
        EventOrigin::Made(formula) => match inside(&scope.machine.formulas()[formula.index()].template, path) {
            Some(Piece::Value(value)) => slot.mask_of(&value),
            _ => slot.unknown(),
        },
    }
}

/// The part of a template at a path.
pub(crate) enum Piece<'t> {
    /// A literal value at the path.
    Value(Value),
    /// The path leads to nothing.
    Absent,
    /// An expression, and the path still to be followed inside its value.
    Node(&'t Node, Vec<String>),
}

/// Returns the part of a template at a path, or `None` if that is unknown.
pub(crate) fn inside<'t>(template: &'t Template, path: &[String]) -> Option<Piece<'t>> {
    match (template, path.split_first()) {
        (Template::Literal(value), _) => Some(literal_inside(value, path)),
        (Template::Expr(expr), _) => match (&expr.node, path) {
            (Node::Literal(value), _) => Some(literal_inside(value, path)),
            (node, rest) => Some(Piece::Node(node, rest.to_vec())),
        },
        (Template::Map(fields), Some((first, rest))) => match fields.iter().find(|(name, _)| name == first) {
            Some((_, template)) => inside(template, rest),
            None => Some(Piece::Absent),
        },
        (Template::Text(_) | Template::List(_) | Template::Map(_), _) => None,
    }
}

fn literal_inside<'t>(value: &Value, path: &[String]) -> Piece<'t> {
    let found = path.iter().try_fold(value, |value, name| value.get(name));
    found.map_or(Piece::Absent, |value| Piece::Value(value.clone()))
}

/// The smallest value that a formula over `input` can have by the input's schema; 0 if the formula is not a plain
/// field.
pub(crate) fn least(machine: &Machine, formula: FormulaId) -> u32 {
    let Template::Expr(expr) = &machine.formulas()[formula.index()].template else { return 0 };
    let Node::Path(Root::Input, path) = &expr.node else { return 0 };
    let minimum = schema::at(&machine.chart().input, path).and_then(|schema| schema.get("minimum")?.as_u64());
    minimum.and_then(|minimum| u32::try_from(minimum).ok()).unwrap_or(0)
}

fn compare(count: i64, operator: Binary, value: i64) -> bool {
    match operator {
        Binary::Equal => count == value,
        Binary::NotEqual => count != value,
        Binary::Less => count < value,
        Binary::LessEqual => count <= value,
        Binary::Greater => count > value,
        _ => count >= value,
    }
}

impl Data for Facts<'_> {
    type Payload = Carried;
    type Saved = Saved;

    fn save(&self) -> Saved {
        Saved {
            masks: self.masks.clone(),
            is_touched: self.is_touched.clone(),
            counters: self.counters.clone(),
            local: self.local,
            counts: self.counts.clone(),
        }
    }

    /// Takes back what a step has learned and changed. Its answers stay: the step depends on them all the same.
    fn restore(&mut self, saved: Saved) {
        let Saved { masks, is_touched, counters, local, counts } = saved;
        (self.masks, self.is_touched, self.counters) = (masks, is_touched, counters);
        (self.local, self.counts) = (local, counts);
    }

    fn begin(&mut self, _: Arc<str>, _: Carried) {}

    fn holds(&mut self, guard: FormulaId, scope: &Scope<'_, Carried>) -> Evaluation<bool> {
        self.fails(guard, scope)?;
        let table = self.table;
        Ok(match &table.questions[guard.index()] {
            Some(question) => self.ask(question, scope),
            None => self.script.choose(2) == 1,
        })
    }

    fn is_within(&mut self, counter: CounterId, count: u32, max: u32) -> bool {
        if self.exact[counter.index()] {
            self.is_exact_below(counter, count, max)
        } else {
            self.is_open_below(counter, count, max)
        }
    }

    fn counted(&mut self, counter: CounterId) {
        self.counters[counter.index()].1 = true;
        self.counts.retain(|known| known.counter != counter);
    }

    fn is_below(
        &mut self,
        counter: CounterId,
        count: u32,
        max: FormulaId,
        at_most: u32,
        scope: &Scope<'_, Carried>,
    ) -> Evaluation<bool> {
        self.fails(max, scope)?;
        let least = self.table.least[max.index()];
        if self.exact[counter.index()] && self.is_exact_below(counter, count, least) {
            return Ok(true);
        }
        let may_be = self.is_within(counter, count, at_most);
        // The input may set a lower limit.
        Ok(may_be && self.script.choose(2) == 0)
    }

    fn assign(&mut self, _: VarId, value: FormulaId, scope: &Scope<'_, Carried>) -> Evaluation<()> {
        self.fails(value, scope)?;
        let table = self.table;
        let changes: smallvec::SmallVec<[(usize, u32); 8]> =
            (table.changes[value.index()].iter()).map(|(slot, change)| (*slot, self.changed(change, scope))).collect();
        for (slot, mask) in changes {
            self.masks[slot] = mask;
            self.is_touched[slot] = true;
        }
        Ok(())
    }

    fn payload(&mut self, data: FormulaId, scope: &Scope<'_, Carried>) -> Evaluation<Carried> {
        self.fails(data, scope)?;
        Ok(self.carried(EventOrigin::Made(data)))
    }

    fn text(&mut self, text: FormulaId, scope: &Scope<'_, Carried>) -> Evaluation<String> {
        self.fails(text, scope)?;
        let template = &scope.machine.formulas()[text.index()].template;
        if let Some(Piece::Value(value)) = inside(template, &[]) {
            return Ok(value.to_string());
        }
        Ok(match self.table.purposes.get(&text) {
            Some(Purpose::Event) => {
                let at = self.choose_many(scope.machine.event_count());
                scope.machine.event_name(interlock_chart::model::EventId::at(at)).to_owned()
            }
            Some(Purpose::Delay) => if self.script.choose(2) == 0 { "1s" } else { "0s" }.to_owned(),
            Some(Purpose::Cancel) => {
                let at = self.choose_many(self.table.send_names.len() + 1);
                self.table.send_names.get(at).cloned().unwrap_or_default()
            }
            None => String::new(),
        })
    }

    fn fault(&mut self, _: &Fault, _: &str) -> Carried {
        self.carried(EventOrigin::Fault)
    }

    fn failed(&mut self, data: Carried, _: &str, _: &str) -> Carried {
        data
    }

    fn timeout(&mut self, _: &str) -> Carried {
        self.carried(EventOrigin::Nothing)
    }

    fn nothing(&mut self) -> Carried {
        self.carried(EventOrigin::Nothing)
    }

    fn entered(&mut self, _: StateId) {}
}

impl Facts<'_> {
    /// Begins a step with these counters: earlier answers about open counters and about the absence of an event do not
    /// apply to it.
    pub(crate) fn begin_step(&mut self, counters: &[u32]) {
        self.counts.clear();
        self.local = u32::MAX;
        self.is_touched.fill(false);
        self.counters.iter_mut().zip(counters).for_each(|(before, count)| *before = (*count, false));
    }

    /// Records that this step depends on a counter.
    fn note_count(&mut self, counter: CounterId) {
        let (count, _) = self.counters[counter.index()];
        self.script.note(StepAnswer::Count { counter: counter.index(), count });
    }

    /// Returns true if a tracked counter is below a limit. `count` includes the increments of other regions in this
    /// microstep.
    fn is_exact_below(&mut self, counter: CounterId, count: u32, max: u32) -> bool {
        let at = counter.index();
        match (self.counters[at], max) {
            // The step has changed the counter, so the answer alone does not tell the value before it; the value is
            // recorded.
            ((_, true), _) => self.note_count(counter),
            ((before, false), max) => {
                // With this increment, no counter can be below a smaller limit.
                let added = count.saturating_sub(before);
                if let Some(bound) = max.checked_sub(added) {
                    self.script.note(StepAnswer::Below { counter: at, bound, is_below: before < bound });
                }
            }
        }
        count < max
    }

    /// Returns true if an open counter is below a limit. The answer is chosen once and kept until the counter changes.
    fn is_open_below(&mut self, counter: CounterId, count: u32, max: u32) -> bool {
        let known = self.counts.iter().position(|known| known.counter == counter && known.count == count);
        let at = known.unwrap_or_else(|| {
            self.counts.push(Answered { counter, count, at_least: 0, below: u32::MAX });
            self.counts.len() - 1
        });
        let is_below = match self.counts[at] {
            Answered { below, .. } if below <= max => true,
            Answered { at_least, .. } if at_least >= max => false,
            _ => self.script.choose(2) == 0,
        };
        let known = &mut self.counts[at];
        if is_below {
            known.below = known.below.min(max)
        } else {
            known.at_least = known.at_least.max(max)
        }
        is_below
    }

    fn choose_many(&mut self, options: usize) -> usize {
        let high = self.script.choose(u8::try_from(options.div_ceil(128)).unwrap_or(u8::MAX));
        let low = self.script.choose(u8::try_from(options.min(128)).unwrap_or(128));
        (usize::from(high) * 128 + usize::from(low)).min(options.saturating_sub(1))
    }
}
