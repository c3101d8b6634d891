//! The frame of a model: its variables, the possible inputs, and the macrostep.

use super::{QUEUE_MAX, Writer, kind_for, qualified, timeout_of};
use interlock_chart::model::{Descriptor, Raiser, State, StateId, Transition};

impl Writer<'_> {
    /// Writes the whole model.
    pub(super) fn model(mut self) -> String {
        self.variables();
        self.leaving();
        self.line("init {");
        self.inside(|writer| {
            writer.line("do");
            writer.line(":: atomic {");
            writer.inside(Self::macrostep);
            writer.line("}");
            writer.line("od");
        });
        self.line("}");
        self.out
    }

    fn variables(&mut self) {
        let chart = self.chart;
        self.line(&format!("/* {} version {}: control only, every guard goes either way */", chart.id, chart.version));
        for state in &chart.states {
            self.line(&format!("/* state {} is {} */", state.id.index(), state.name));
        }
        for (name, number) in self.events.clone() {
            self.line(&format!("/* event {number} is {name} */"));
        }
        self.line(&format!("{} at;", kind_for(chart.states.len().max(2))));
        self.line("bit over;");
        self.line(&format!("{} ev;", kind_for(self.events.len().max(2))));
        self.line(&format!("chan q = [{QUEUE_MAX}] of {{ {} }};", kind_for(self.events.len().max(2))));
        for history in self.histories() {
            self.line(&format!("{} h{};", kind_for(chart.states.len().max(2)), history.id.index()));
        }
        for (at, counter) in chart.counters.iter().enumerate() {
            self.line(&format!("{} c{at}; /* {} */", kind_for(counter.max as usize), counter.name));
        }
        for invoke in &chart.invokes {
            self.line(&format!("bit r{}; /* {} */", invoke.id.index(), invoke.activity));
        }
        for state in chart.states.iter().filter(|state| Self::is_starting(state)) {
            self.line(&format!("bit n{}; /* entered, nothing started yet */", state.id.index()));
        }
        for state in chart.states.iter().filter(|state| state.timeout_ms.is_some()) {
            self.line(&format!("bit w{}; /* its time runs */", state.id.index()));
        }
    }

    fn macrostep(&mut self) {
        self.inputs();
        self.line("take:");
        self.selections();
        self.line("goto queue;");
        for transition in &self.chart.transitions {
            self.transition(transition);
        }
        self.line("settle:");
        self.line("if :: over -> goto finish :: else -> skip fi;");
        self.choose_at(None, &|transition: &Transition| transition.events.is_empty());
        self.line("queue:");
        self.line("if :: nempty(q) -> q?ev; goto take :: else -> skip fi;");
        self.start_activities();
        self.line("goto rest;");
        self.finish();
        self.line("rest: ev = 0");
    }

    /// Writes the inputs that can happen next.
    fn inputs(&mut self) {
        let chart = self.chart;
        self.line("if");
        self.line(":: at == 0 ->");
        self.inside(|writer| {
            writer.descend(interlock_chart::Chart::ROOT, &[]);
            writer.line("goto settle");
        });
        for invoke in &chart.invokes {
            let signals = invoke.signals.iter().map(|signal| chart.event(signal.event).name.as_str());
            for name in signals.chain(["error"]) {
                let full = format!("{}.{name}", chart.state(invoke.state).name);
                let is_named = qualified(chart).any(|event| event.text == full);
                let name = if is_named { full.as_str() } else { name };
                let (at, event) = (invoke.id.index(), self.events[name]);
                self.line(&format!(":: r{at} -> r{at} = 0; ev = {event} /* {name} */"));
            }
        }
        for state in chart.states.iter().filter(|state| state.timeout_ms.is_some()) {
            let (at, event) = (state.id.index(), self.events[&timeout_of(state)]);
            self.line(&format!(":: w{at} -> w{at} = 0; ev = {event} /* {} */", timeout_of(state)));
        }
        let may = |from| matches!(from, Raiser::User | Raiser::Run | Raiser::Timer | Raiser::Any);
        for event in chart.events.iter().filter(|event| event.declared && may(event.from)) {
            let number = self.events[&event.name];
            self.line(&format!(":: at != 0 && !over -> ev = {number} /* {} */", event.name));
        }
        self.line("fi;");
    }

    /// Writes the choice of the transition that each event takes.
    fn selections(&mut self) {
        self.line("if");
        for (name, number) in self.events.clone() {
            let named = qualified(self.chart).find(|event| event.text == name);
            let plain = named.map_or(name.as_str(), |event| self.chart.plain_name(event));
            let is_meant = |event: &Descriptor| (event.origin.is_some() && event.text == name) || event.matches(plain);
            let takes = |transition: &Transition| transition.events.iter().any(is_meant);
            if self.chart.transitions.iter().any(takes) {
                self.line(&format!(":: ev == {number} -> /* {name} */"));
                let within = self.timed_by(&name);
                self.inside(|writer| writer.choose_at(within, &takes));
            }
        }
        self.line(":: else -> skip");
        self.line("fi;");
    }

    /// Returns the state whose timeout the event is, if it is only that. The state is active when its timeout fires.
    fn timed_by(&self, name: &str) -> Option<StateId> {
        let timed = self.chart.states.iter().filter(|state| state.timeout_ms.is_some());
        timed
            .filter(|_| self.chart.find_event(name).is_none())
            .find(|state| timeout_of(state) == name)
            .map(|state| state.id)
    }

    /// Writes the choice of the first enabled transition for which `counts` is true, from the active state outwards. If
    /// none is enabled, execution continues below.
    fn choose_at(&mut self, within: Option<StateId>, counts: &dyn Fn(&Transition) -> bool) {
        let chart = self.chart;
        let mut is_open = false;
        let may_be = |state: &&State| {
            let is_inside = |outer| state.id == outer || chart.is_descendant(state.id, outer);
            state.kind.is_atomic() && within.is_none_or(is_inside)
        };
        for state in chart.states.iter().filter(may_be) {
            let around = [state.id].into_iter().chain(chart.ancestors(state.id));
            let own = around.flat_map(|id| &chart.state(id).transitions).map(|id| chart.transition(*id));
            let candidates: Vec<&Transition> = own.filter(|transition| counts(transition)).collect();
            if candidates.is_empty() {
                continue;
            }
            if !std::mem::replace(&mut is_open, true) {
                self.line("if");
            }
            self.line(&format!(":: at == {} ->", state.id.index()));
            self.inside(|writer| writer.candidates(&candidates));
        }
        if is_open {
            self.line(":: else -> skip");
            self.line("fi;");
        } else {
            self.line("skip;");
        }
    }

    fn candidates(&mut self, candidates: &[&Transition]) {
        for transition in candidates {
            let goto = format!("goto t{}", transition.id.index());
            let Some(condition) = enabled(transition) else { return self.line(&goto) };
            // A guard may be true or false, and so may a limit that the input can lower.
            let stays = if is_free(transition) { ":: true -> skip" } else { ":: else -> skip" };
            self.line(&format!("if :: {condition} -> {goto} {stays} fi;"));
        }
        self.line("skip");
    }

    fn start_activities(&mut self) {
        for state in self.chart.states.iter().filter(|state| Self::is_starting(state)) {
            let at = state.id.index();
            let timer = state.timeout_ms.map(|_| format!(" w{at} = 1;")).unwrap_or_default();
            let started: String = state.invokes.iter().map(|invoke| format!(" r{} = 1;", invoke.index())).collect();
            self.line(&format!("if :: n{at} -> n{at} = 0;{timer}{started} skip :: else -> skip fi;"));
        }
    }

    /// Writes the end of a run: all started activities are stopped and the queue is cleared.
    fn finish(&mut self) {
        let chart = self.chart;
        self.line("finish:");
        self.line("do :: nempty(q) -> q?ev :: else -> break od;");
        for state in chart.states.iter().filter(|state| Self::is_starting(state)) {
            let stop = stop(state);
            self.line(&stop);
        }
    }
}

/// Returns the statements that reset a state's variables when the state is left.
pub(super) fn stop(state: &State) -> String {
    let at = state.id.index();
    let timer = state.timeout_ms.map(|_| format!(" w{at} = 0;")).unwrap_or_default();
    let stopped: String = state.invokes.iter().map(|invoke| format!(" r{} = 0;", invoke.index())).collect();
    format!("n{at} = 0;{timer}{stopped}")
}

/// Returns the condition for taking a transition, apart from its guard, or `None` if there is none.
fn enabled(transition: &Transition) -> Option<String> {
    let limits = transition.limits.iter().map(|limit| format!("c{} < {}", limit.counter.index(), limit.max.at_most()));
    let limits: Vec<String> = limits.collect();
    match (limits.is_empty(), is_free(transition)) {
        (true, false) => None,
        (true, true) => Some("true".to_owned()),
        (false, _) => Some(limits.join(" && ")),
    }
}

fn is_free(transition: &Transition) -> bool {
    let is_input =
        |limit: &interlock_chart::model::Limit| matches!(limit.max, interlock_chart::model::Max::Input { .. });
    transition.guard.is_some() || transition.limits.iter().any(is_input)
}
