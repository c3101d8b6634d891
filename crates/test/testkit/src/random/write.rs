//! Generates random machine files.

use std::fmt::Write;

use super::Rng;

const EVENTS: [&str; 5] = ["e0", "e1", "e2", "e2.sub", "e3"];
const GUARDS: [&str; 10] = [
    "context.x < 3",
    "context.y >= context.x",
    "context.x % 2 == 0",
    "has(event.n) && event.n > context.x",
    "event.n == 1",
    "In('s1')",
    "state.s1.visits < 4",
    "context.x + context.y < 6 || context.x == 0",
    "context.y in [0, 2, 4]",
    "[context.x, context.y].all(v, v < 5)",
];
const ASSIGNMENTS: [&str; 6] = [
    "{x: \"${context.x + 1}\"}",
    "{x: 0}",
    "{y: \"${context.x}\"}",
    "{x: \"${event.n}\"}",
    "{y: \"${context.y + 1}\", x: \"${context.x - 1}\"}",
    "{y: \"${state.s1.visits}\"}",
];
const STATES_MAX: usize = 16;
const DEPTH_MAX: usize = 4;

/// The freedom of a random machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Temper {
    /// Any machine: one step may loop forever.
    Wild,
    /// A small machine whose steps end: events that it raises raise no others, and eventless transitions have a limit.
    Calm,
    /// A calm machine without external events: only its activities and timers move it.
    Alone,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Atomic,
    Compound,
    Parallel,
    Final,
    History,
}

struct Sketch {
    parent: usize,
    kind: Kind,
    children: Vec<usize>,
}

struct Writer<'r> {
    rng: &'r mut Rng,
    temper: Temper,
    states: Vec<Sketch>,
    out: String,
    /// True if the current transition may raise events.
    may_raise: bool,
}

pub(super) fn machine(rng: &mut Rng, temper: Temper) -> String {
    let root = if rng.percent(20) { Kind::Parallel } else { Kind::Compound };
    let states = vec![Sketch { parent: 0, kind: root, children: Vec::new() }];
    let mut writer = Writer { rng, temper, states, out: String::new(), may_raise: true };
    writer.grow(0, 1);
    writer.head();
    for child in writer.states[0].children.clone() {
        writer.state(child, 1);
    }
    writer.out
}

impl Writer<'_> {
    /// Adds children to a composite state.
    fn grow(&mut self, parent: usize, depth: usize) {
        let (states_max, depth_max) = if self.is_wild() { (STATES_MAX, DEPTH_MAX) } else { (6, 2) };
        let is_parallel = self.states[parent].kind == Kind::Parallel;
        let count = 2 + self.rng.below(2);
        for at in 0..count {
            let kind = match self.rng.below(10) {
                0..=2 if depth < depth_max && self.states.len() < states_max => Kind::Compound,
                3 if depth < depth_max && self.states.len() < states_max => Kind::Parallel,
                4 if at > 0 && !is_parallel => Kind::Final,
                _ if is_parallel && self.rng.percent(60) && depth < depth_max => Kind::Compound,
                _ => Kind::Atomic,
            };
            let child = self.add(parent, kind);
            if matches!(kind, Kind::Compound | Kind::Parallel) {
                self.grow(child, depth + 1);
            }
        }
        if parent != 0 && self.rng.percent(35) {
            self.add(parent, Kind::History);
        }
    }

    fn is_wild(&self) -> bool {
        self.temper == Temper::Wild
    }

    fn add(&mut self, parent: usize, kind: Kind) -> usize {
        self.states.push(Sketch { parent, kind, children: Vec::new() });
        let child = self.states.len() - 1;
        self.states[parent].children.push(child);
        child
    }

    fn head(&mut self) {
        self.out += "machine: random\nversion: 1\n";
        if self.rng.percent(20) {
            self.out += "semantics: scxml\n";
        }
        self.out += "context: {x: 0, y: 2}\nevents:\n";
        for event in EVENTS {
            let from = if self.temper == Temper::Alone { "machine" } else { "any" };
            let _ = writeln!(self.out, "  {event}: {{from: {from}}}");
        }
        if self.states[0].kind == Kind::Parallel {
            self.out += "type: parallel\n";
        } else {
            let first = self.states[0].children[0];
            let _ = writeln!(self.out, "initial: s{first}");
        }
        if self.rng.percent(30) || !self.is_wild() {
            self.out += "timeout: 1m\n";
        }
        self.out += "on:\n";
        self.handlers(0, 1, &[]);
        let timeout = if self.is_wild() { "{assign: {y: 1}}" } else { "{actions: [{raise: i0}, {raise: i1}]}" };
        // A fault is handled and the machine stays, moves, or has no handler and ends.
        let fault = match self.rng.below(3) {
            0 => String::new(),
            1 => "  error.execution: {assign: {x: 1}}\n".to_owned(),
            _ => format!("  error.execution: {{{}}}\n", self.target()),
        };
        let _ = writeln!(self.out, "{fault}  timeout: {timeout}\nstates:");
    }

    fn state(&mut self, at: usize, depth: usize) {
        let pad = "  ".repeat(depth);
        let _ = writeln!(self.out, "{pad}s{at}:");
        let pad = "  ".repeat(depth + 1);
        let kind = self.states[at].kind;
        let children = self.states[at].children.clone();
        match kind {
            Kind::Final => return self.final_state(at, &pad),
            Kind::History => return self.history(at, &pad),
            Kind::Parallel => _ = writeln!(self.out, "{pad}type: parallel"),
            Kind::Compound => self.initial(&children, &pad),
            Kind::Atomic => {}
        }
        let _ = writeln!(self.out, "{pad}tags: [t{}]", at % 3);
        self.content("entry", &pad, 25);
        self.content("exit", &pad, 15);
        let signals = self.activity(at, &pad);
        if self.rng.percent(15) {
            let _ = writeln!(self.out, "{pad}timeout: {}s", 1 + self.rng.below(9));
        }
        let _ = writeln!(self.out, "{pad}on:");
        self.handlers(at, depth + 2, &signals);
        self.always(at, &pad);
        if !children.is_empty() {
            let _ = writeln!(self.out, "{pad}states:");
            children.iter().for_each(|&child| self.state(child, depth + 2));
        }
    }

    fn final_state(&mut self, at: usize, pad: &str) {
        let _ = writeln!(self.out, "{pad}type: final");
        if self.states[at].parent == 0 {
            let outcome = *self.rng.pick(&["success", "incomplete", "failure", "aborted"]);
            let _ = writeln!(self.out, "{pad}outcome: {outcome}");
        } else if self.rng.percent(50) {
            let _ = writeln!(self.out, "{pad}data: {{n: \"${{context.x}}\"}}");
        }
    }

    fn history(&mut self, at: usize, pad: &str) {
        let parent = self.states[at].parent;
        let depth = if self.rng.percent(50) { "deep" } else { "shallow" };
        let children = self.plain_children(parent);
        // The default of a parallel state's history enters one region explicitly and the others by default.
        let target = *self.rng.pick(&children);
        let _ = writeln!(self.out, "{pad}type: history\n{pad}history: {depth}\n{pad}target: s{target}");
    }

    fn plain_children(&self, of: usize) -> Vec<usize> {
        self.states[of].children.iter().copied().filter(|&child| self.states[child].kind != Kind::History).collect()
    }

    fn initial(&mut self, children: &[usize], pad: &str) {
        let target = *self.rng.pick(children);
        let _ = match self.rng.percent(25) {
            true => {
                writeln!(self.out, "{pad}initial: {{target: s{target}, actions: [{{assign: {{y: 3}}}}]}}")
            }
            false => writeln!(self.out, "{pad}initial: s{target}"),
        };
    }

    fn content(&mut self, key: &str, pad: &str, chance: usize) {
        if self.rng.percent(chance) {
            let action = self.action();
            let _ = writeln!(self.out, "{pad}{key}: [{action}]");
        }
    }

    fn action(&mut self) -> String {
        match self.rng.below(8) {
            3 | 6 if !self.is_wild() => "{log: \"y is ${context.y}\"}".to_owned(),
            0..=2 => format!("{{assign: {}}}", self.rng.pick(&ASSIGNMENTS)),
            3 => format!("{{raise: {{event: i{}, data: {{n: \"${{context.x}}\"}}}}}}", self.rng.below(2)),
            4 => format!("{{send: {{event: {}, delay: {}s, id: d0}}}}", self.rng.pick(&EVENTS), 1 + self.rng.below(5)),
            5 => "{cancel: d0}".to_owned(),
            6 => format!("{{if: \"{}\", then: [{{raise: i0}}], else: [{{assign: {{x: 2}}}}]}}", self.rng.pick(&GUARDS)),
            _ => "{log: \"x is ${context.x}\"}".to_owned(),
        }
    }

    fn activity(&mut self, at: usize, pad: &str) -> Vec<String> {
        if !self.rng.percent(if self.is_wild() { 30 } else { 60 }) {
            return Vec::new();
        }
        let signals: Vec<String> = (0..1 + self.rng.below(2)).map(|signal| format!("done{signal}")).collect();
        let name = *self.rng.pick(&["work", "judge", "judge.plan"]);
        let list = signals.join(", ");
        let _ = writeln!(
            self.out,
            "{pad}invoke: {{activity: {name}, with: {{at: s{at}, x: \"${{context.x}}\"}}, signals: [{list}]}}"
        );
        signals
    }

    /// Writes transitions for some events, for all signals and for the events that the machine raises.
    fn handlers(&mut self, at: usize, depth: usize, signals: &[String]) {
        let pad = "  ".repeat(depth);
        let mut events: Vec<String> = signals.to_vec();
        let share = match self.temper {
            Temper::Wild => 35,
            Temper::Calm => 20,
            Temper::Alone => 0,
        };
        events.extend(EVENTS.iter().filter(|_| self.rng.percent(share)).map(|event| (*event).to_owned()));
        events.extend(["i0", "i1"].iter().filter(|_| at == 0).map(|event| (*event).to_owned()));
        events.extend(
            ["*"]
                .iter()
                .filter(|_| self.rng.percent(4) && self.temper == Temper::Wild)
                .map(|event| format!("\"{event}\"")),
        );
        if events.is_empty() {
            events.push(if self.temper == Temper::Alone { "i0" } else { "e0" }.to_owned());
        }
        for event in events {
            self.may_raise = self.is_wild() || !event.starts_with('i');
            // Transitions on activities and timers mostly have a limit. Otherwise there would be no bound to compare a
            // run with.
            let is_limited = !self.is_wild() && !event.starts_with('e');
            let mut list: Vec<String> = (0..self.rng.below(3)).map(|_| self.held_back(at, is_limited)).collect();
            list.push(if is_limited { self.last_resort(at) } else { self.transition(at, "") });
            let _ = writeln!(self.out, "{pad}{event}: [{}]", list.join(", "));
        }
    }

    /// Returns a transition that mostly has a limit, followed by one that does not move the machine.
    fn last_resort(&mut self, at: usize) -> String {
        if self.rng.percent(5) {
            return self.transition(at, "");
        }
        let condition = format!("limit: {}", 1 + self.rng.below(3));
        format!("{}, {{assign: {{y: 4}}}}", self.transition(at, &condition))
    }

    /// Returns a transition that is not always enabled.
    fn held_back(&mut self, at: usize, is_limited: bool) -> String {
        let condition = match self.rng.below(4) {
            0 => format!("limit: {}", 1 + self.rng.below(3)),
            1 => format!("limit: {{counter: c{}, max: {}}}", self.rng.below(2), 1 + self.rng.below(4)),
            _ if is_limited => format!("guard: \"{}\", limit: {}", self.rng.pick(&GUARDS), 1 + self.rng.below(2)),
            _ => format!("guard: \"{}\"", self.rng.pick(&GUARDS)),
        };
        self.transition(at, &condition)
    }

    fn transition(&mut self, at: usize, condition: &str) -> String {
        let mut keys: Vec<String> = if condition.is_empty() { Vec::new() } else { vec![condition.to_owned()] };
        if self.rng.percent(75) {
            keys.push(self.target());
            if self.rng.percent(15) && at != 0 {
                keys.push("internal: true".to_owned());
            }
        }
        if self.rng.percent(30) {
            keys.push(format!("assign: {}", self.rng.pick(&ASSIGNMENTS)));
        }
        if self.rng.percent(12) && self.may_raise {
            keys.push(format!("raise: i{}", self.rng.below(2)));
        }
        if self.rng.percent(15) {
            let action = self.action();
            keys.push(format!("actions: [{action}]"));
        }
        if self.rng.percent(30) || keys.is_empty() {
            let read = if self.rng.percent(25) { "n ${event.n}" } else { "y ${context.y}" };
            keys.push(format!("reason: \"x ${{context.x}}, {read}\""));
        }
        format!("{{{}}}", keys.join(", "))
    }

    fn target(&mut self) -> String {
        let at = 1 + self.rng.below(self.states.len() - 1);
        let parallel = self.states[at].kind == Kind::Parallel;
        let regions = self.plain_children(at);
        match parallel && regions.len() > 1 && self.rng.percent(60) {
            true => format!("target: [s{}, s{}]", regions[0], regions[1]),
            false => format!("target: s{at}"),
        }
    }

    fn always(&mut self, at: usize, pad: &str) {
        if self.rng.percent(12) {
            self.may_raise = self.is_wild();
            let limit = if self.is_wild() { "" } else { ", limit: 2" };
            let condition = format!("guard: \"context.x > {}\"{limit}", 2 + self.rng.below(3));
            let transition = self.transition(at, &condition);
            let _ = writeln!(self.out, "{pad}always: [{transition}]");
        }
    }
}
