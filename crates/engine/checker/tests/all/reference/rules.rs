//! The rules in their plainest form: every question is answered by looking at the whole chart again.

use std::collections::BTreeSet;

use interlock_chart::{
    Chart,
    model::{Kind, StateId, Transition},
};

/// The state of a machine without data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) active: BTreeSet<usize>,
    pub(crate) running: BTreeSet<usize>,
    pub(crate) timed: BTreeSet<usize>,
    pub(crate) is_done: bool,
}

/// An event that can happen to the machine.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// An activity ends with a signal.
    Signal(usize, String),
    Error(usize),
    /// A state reaches its timeout.
    Timeout(usize),
    /// An event is raised from outside.
    Event(String),
}

/// The answers of the guards that may fail, while one event is handled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Luck {
    /// The transitions whose guards fail.
    pub(crate) fails: BTreeSet<usize>,
    /// The answer of the guards that do not fail.
    pub(crate) holds: bool,
}

/// The result of a happening.
pub(crate) struct Outcome {
    /// The transitions taken for the event itself.
    pub(crate) taken: Vec<usize>,
    pub(crate) entered: BTreeSet<usize>,
    pub(crate) place: Place,
    pub(crate) is_fault: bool,
}

/// An event as the rules select transitions for it.
struct Heard<'a> {
    name: &'a str,
    origin: Option<usize>,
    luck: &'a Luck,
    /// True if the event is a fault, which only a transition that names it takes.
    is_fault: bool,
}

/// The guard that may fail.
pub(crate) const FRAIL: &str = "event.gone == 1";

pub(crate) struct Rules<'c> {
    chart: &'c Chart,
}

impl<'c> Rules<'c> {
    pub(crate) fn of(chart: &'c Chart) -> Self {
        Rules { chart }
    }

    fn name(&self, at: usize) -> &str {
        &self.chart.states[at].name
    }

    /// The state and its ancestors, innermost first.
    fn outward(&self, at: usize) -> Vec<usize> {
        let mut path = vec![at];
        while let Some(parent) = self.chart.states[path[path.len() - 1]].parent {
            path.push(parent.index());
        }
        path
    }

    fn is_inside(&self, inner: usize, outer: usize) -> bool {
        self.outward(inner).contains(&outer)
    }

    pub(crate) fn happenings(&self, place: &Place) -> Vec<Happening> {
        if place.is_done {
            return Vec::new();
        }
        let mut all = Vec::new();
        for &invoke in &place.running {
            let signals = self.chart.invokes[invoke].signals.iter();
            all.extend(signals.map(|one| Happening::Signal(invoke, self.chart.event(one.event).name.clone())));
            all.push(Happening::Error(invoke));
        }
        all.extend(place.timed.iter().map(|at| Happening::Timeout(*at)));
        all.extend(["u0", "u1"].map(|name| Happening::Event(name.to_owned())));
        all
    }

    /// The event's name, and the state that it belongs to.
    fn event(&self, happening: &Happening) -> (String, Option<usize>) {
        let of = |invoke: usize| Some(self.chart.invokes[invoke].state.index());
        match happening {
            Happening::Signal(invoke, name) => (name.clone(), of(*invoke)),
            Happening::Error(invoke) => ("error".to_owned(), of(*invoke)),
            Happening::Timeout(at) => (format!("timeout.{}", self.name(*at)), Some(*at)),
            Happening::Event(name) => (name.clone(), None),
        }
    }

    pub(crate) fn is_outcome(&self, happening: &Happening, state: usize, signal: &str) -> bool {
        matches!(happening, Happening::Signal(..)) && self.event(happening) == (signal.to_owned(), Some(state))
    }

    /// Returns true if a name in `on` takes the event for an atomic state.
    fn takes(&self, text: &str, name: &str, origin: Option<usize>, atomic: usize) -> bool {
        let Some(origin) = origin else { return is_prefix(text, name) };
        let qualified = format!("{}.{name}", self.name(origin));
        let names_fault = name == "error.execution" && text == format!("{}.error", self.name(origin));
        let names_it = text == qualified || names_fault || (name.starts_with("timeout.") && text == name);
        let is_other_timeout = text.starts_with("timeout.") && text != name;
        names_it || (self.is_inside(atomic, origin) && is_prefix(text, name) && !is_other_timeout)
    }

    /// The first enabled transition from an atomic state outwards, or the state of a guard that fails before it.
    fn candidate(&self, atomic: usize, heard: &Heard<'_>) -> Result<Option<&'c Transition>, usize> {
        for state in self.outward(atomic) {
            for id in &self.chart.states[state].transitions {
                let transition = self.chart.transition(*id);
                let guard = transition.guard.as_ref().map_or("true", |guard| guard.source.as_str());
                let takes = |text: &str| {
                    let is_wild = heard.is_fault && text == "*";
                    !is_wild && self.takes(text, heard.name, heard.origin, atomic)
                };
                if !transition.events.iter().any(|event| takes(&event.text)) {
                    continue;
                }
                if guard == FRAIL && heard.luck.fails.contains(&id.index()) {
                    return Err(state);
                }
                if guard == "true" || (guard == FRAIL && heard.luck.holds) {
                    return Ok(Some(transition));
                }
            }
        }
        Ok(None)
    }

    /// The transitions of this machine whose guards may fail.
    pub(crate) fn frail(&self) -> Vec<usize> {
        let is_frail = |one: &&Transition| one.guard.as_ref().is_some_and(|guard| guard.source == FRAIL);
        self.chart.transitions.iter().filter(is_frail).map(|one| one.id.index()).collect()
    }

    /// The transitions taken, by number, or the state of the guard that fails.
    fn selected(&self, place: &Place, heard: &Heard<'_>) -> Result<Vec<usize>, usize> {
        let atomic = place.active.iter().filter(|at| self.chart.states[**at].children.is_empty());
        let mut enabled: Vec<&Transition> = Vec::new();
        for at in atomic {
            let one = self.candidate(*at, heard)?;
            enabled.extend(one.filter(|one| !enabled.iter().any(|other| other.id == one.id)));
        }
        let mut kept: Vec<&Transition> = Vec::new();
        for one in enabled {
            let clashes = |other: &&&Transition| !self.exits(place, one).is_disjoint(&self.exits(place, other));
            let clashing: Vec<&Transition> = kept.iter().filter(clashes).copied().collect();
            let is_deeper = |other: &&Transition| {
                one.source != other.source && self.is_inside(one.source.index(), other.source.index())
            };
            if clashing.iter().all(is_deeper) {
                kept.retain(|other| !clashing.iter().any(|gone| gone.id == other.id));
                kept.push(one);
            }
        }
        Ok(kept.into_iter().map(|one| one.id.index()).collect())
    }

    /// The innermost compound ancestor of the source that contains all targets.
    fn domain(&self, transition: &Transition) -> usize {
        let holds = |at: &usize| {
            let has = |target: &StateId| target.index() != *at && self.is_inside(target.index(), *at);
            self.chart.states[*at].kind == Kind::Compound && transition.targets.iter().all(has)
        };
        self.outward(transition.source.index()).into_iter().skip(1).find(holds).unwrap_or(0)
    }

    fn exits(&self, place: &Place, transition: &Transition) -> BTreeSet<usize> {
        if transition.targets.is_empty() {
            return BTreeSet::new();
        }
        let domain = self.domain(transition);
        place.active.iter().copied().filter(|at| *at != domain && self.is_inside(*at, domain)).collect()
    }

    /// Adds a state with everything that is entered with it.
    fn descend(&self, at: usize, entered: &mut BTreeSet<usize>) {
        entered.insert(at);
        let state = &self.chart.states[at];
        match state.kind {
            Kind::Parallel => self.fill(at, entered),
            Kind::Compound => {
                state.initial.iter().flat_map(|one| &one.targets).for_each(|to| self.descend(to.index(), entered))
            }
            _ => {}
        }
    }

    /// Enters the regions that contain no target.
    fn fill(&self, at: usize, entered: &mut BTreeSet<usize>) {
        for child in &self.chart.states[at].children {
            if !entered.iter().any(|one| self.is_inside(*one, child.index())) {
                self.descend(child.index(), entered);
            }
        }
    }

    pub(crate) fn start(&self) -> Place {
        let mut entered = BTreeSet::new();
        self.descend(0, &mut entered);
        let nothing =
            Place { active: BTreeSet::new(), running: BTreeSet::new(), timed: BTreeSet::new(), is_done: false };
        self.settle(nothing, entered)
    }

    fn entered(&self, selected: &[usize]) -> BTreeSet<usize> {
        let mut all = BTreeSet::new();
        for at in selected {
            let transition = &self.chart.transitions[*at];
            for target in &transition.targets {
                let mut entered = BTreeSet::new();
                self.descend(target.index(), &mut entered);
                let domain = self.domain(transition);
                for around in self.outward(target.index()).into_iter().skip(1).take_while(|around| *around != domain) {
                    entered.insert(around);
                    if self.chart.states[around].kind == Kind::Parallel {
                        self.fill(around, &mut entered);
                    }
                }
                all.extend(entered);
            }
        }
        all
    }

    /// Handles an event, and the fault if a guard fails for it. A fault that no transition takes by name, and one whose
    /// handling fails, ends the run where it is.
    pub(crate) fn step(&self, place: &Place, happening: &Happening, first: &Luck, second: &Luck) -> Outcome {
        let (name, origin) = self.event(happening);
        let mut next = place.clone();
        match happening {
            Happening::Signal(invoke, _) | Happening::Error(invoke) => _ = next.running.remove(invoke),
            Happening::Timeout(at) => _ = next.timed.remove(at),
            Happening::Event(_) => {}
        }
        let heard = Heard { name: &name, origin, luck: first, is_fault: false };
        let (taken, handled, is_fault) = match self.selected(&next, &heard) {
            Ok(taken) => (taken.clone(), Some(taken), false),
            Err(state) => {
                let heard = Heard { name: "error.execution", origin: Some(state), luck: second, is_fault: true };
                (Vec::new(), self.selected(&next, &heard).ok().filter(|taken| !taken.is_empty()), true)
            }
        };
        let Some(selected) = handled else {
            next = Place { running: BTreeSet::new(), timed: BTreeSet::new(), is_done: true, ..next };
            return Outcome { taken, entered: BTreeSet::new(), place: next, is_fault };
        };
        let exited: BTreeSet<usize> =
            selected.iter().flat_map(|at| self.exits(place, &self.chart.transitions[*at])).collect();
        next.active.retain(|at| !exited.contains(at));
        next.running.retain(|invoke| !exited.contains(&self.chart.invokes[*invoke].state.index()));
        next.timed.retain(|at| !exited.contains(at));
        let entered = self.entered(&selected);
        Outcome { taken, entered: entered.clone(), place: self.settle(next, entered), is_fault }
    }

    /// Enters states and starts their activities and timers; a run that has ended has nothing running.
    fn settle(&self, mut place: Place, entered: BTreeSet<usize>) -> Place {
        for at in &entered {
            let state = &self.chart.states[*at];
            place.active.insert(*at);
            place.running.extend(state.invokes.iter().map(|invoke| invoke.index()));
            place.timed.extend(state.timeout_ms.map(|_| *at));
        }
        place.is_done = place.active.iter().any(|at| self.chart.states[*at].kind == Kind::Final);
        if place.is_done {
            place.running.clear();
            place.timed.clear();
        }
        place
    }

    /// Returns true if a transition of another region was taken for an event of a state.
    pub(crate) fn crosses(&self, taken: &[usize], happening: &Happening) -> bool {
        let Some(origin) = self.event(happening).1 else { return false };
        let source = |at: &usize| self.chart.transitions[*at].source.index();
        taken.iter().map(source).any(|at| !self.is_inside(at, origin) && !self.is_inside(origin, at))
    }
}

/// W3C SCXML's rule: the tokens of the descriptor are a prefix of the tokens of the name; `*` takes everything.
fn is_prefix(text: &str, name: &str) -> bool {
    let wanted: Vec<&str> = text.split('.').collect();
    let tokens: Vec<&str> = name.split('.').collect();
    text == "*" || (wanted.len() <= tokens.len() && wanted[..] == tokens[..wanted.len()])
}
