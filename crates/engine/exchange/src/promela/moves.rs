//! Transitions: the states that they leave, their actions, and the states that they enter.

use super::{Writer, body::stop, done_of};
use interlock_chart::{
    Chart,
    model::{Action, Block, Kind, State, StateId, Transition},
};

/// The actions of a history state's default transition, executed after its parent has been entered.
type Extra<'c> = (StateId, &'c Block);

impl<'c> Writer<'c> {
    /// Writes for every possible domain of a transition how the states inside it are left.
    pub(super) fn leaving(&mut self) {
        for domain in self.chart.states.iter().filter(|state| !state.children.is_empty()) {
            self.line(&format!("inline leave{}() {{", domain.id.index()));
            self.inside(|writer| {
                writer.remember(domain.id);
                for state in writer.chart.states.iter().rev() {
                    if writer.chart.is_descendant(state.id, domain.id) {
                        writer.leave(state);
                    }
                }
                writer.line("skip");
            });
            self.line("}");
        }
    }

    fn remember(&mut self, domain: StateId) {
        for history in self.histories() {
            let Some(parent) = history.parent.filter(|&parent| self.chart.is_descendant(parent, domain)) else {
                continue;
            };
            let at = history.id.index();
            if history.kind == Kind::DeepHistory {
                self.line(&format!("if :: {} -> h{at} = at :: else -> skip fi;", self.is_active(parent)));
                continue;
            }
            self.line("if");
            for child in self.memories(history) {
                self.line(&format!(":: {} -> h{at} = {}", self.is_active(child), child.index()));
            }
            self.line(":: else -> skip");
            self.line("fi;");
        }
    }

    fn leave(&mut self, state: &State) {
        if !Self::is_starting(state) && !state.exit.iter().any(is_visible) {
            return;
        }
        self.line(&format!("if :: {} ->", self.is_active(state.id)));
        self.inside(|writer| {
            state.exit.iter().for_each(|block| writer.block(block));
            if Self::is_starting(state) {
                writer.line(&stop(state));
            }
            writer.line("skip");
        });
        self.line(":: else -> skip fi;");
    }

    pub(super) fn transition(&mut self, transition: &'c Transition) {
        self.line(&format!("t{}: skip;", transition.id.index()));
        let target = transition.targets.first().map(|&target| self.chart.state(target));
        if let Some(target) = target {
            self.by_memory(target, &|writer, effective, _| {
                let domain = writer.domain(transition, effective);
                writer.line(&format!("leave{}()", domain.index()));
            });
        }
        self.counting(transition);
        self.block(&transition.actions);
        if let Some(target) = target {
            self.by_memory(target, &|writer, effective, extra| {
                let domain = writer.domain(transition, effective);
                writer.path(domain, effective, extra);
                writer.descend(effective, extra);
            });
        }
        self.line("goto settle;");
    }

    fn counting(&mut self, transition: &Transition) {
        for limit in &transition.limits {
            self.line(&format!("c{0} = c{0} + 1;", limit.counter.index()));
        }
        for counter in &transition.resets {
            self.line(&format!("c{} = 0;", counter.index()));
        }
    }

    /// Writes something for a target. For a history state, it is written once for each state that may be remembered.
    fn by_memory(&mut self, target: &'c State, write: &dyn Fn(&mut Self, StateId, &[Extra<'c>])) {
        if !target.kind.is_history() {
            write(self, target.id, &[]);
            return self.line(";");
        }
        self.line("if");
        if let (Some(initial), Some(parent)) = (&target.initial, target.parent) {
            for &default in &initial.targets {
                self.line(&format!(":: h{} == 0 ->", target.id.index()));
                self.inside(|writer| write(writer, default, &[(parent, &initial.actions)]));
            }
        }
        for memory in self.memories(target) {
            self.line(&format!(":: h{} == {} ->", target.id.index(), memory.index()));
            self.inside(|writer| write(writer, memory, &[]));
        }
        self.line("fi;");
    }

    /// Returns the domain of a transition: the innermost state that it does not leave.
    fn domain(&self, transition: &Transition, target: StateId) -> StateId {
        let source = transition.source;
        let is_inner = transition.internal && self.chart.state(source).kind == Kind::Compound;
        if is_inner && self.chart.is_descendant(target, source) {
            return source;
        }
        let mut around = self.chart.ancestors(source);
        around.find(|&outer| self.chart.is_descendant(target, outer)).unwrap_or(Chart::ROOT)
    }

    /// Enters the states between two states, outermost first.
    fn path(&mut self, from: StateId, to: StateId, extra: &[Extra<'c>]) {
        let mut between: Vec<StateId> = self.chart.ancestors(to).take_while(|&state| state != from).collect();
        between.reverse();
        between.into_iter().for_each(|state| self.enter(state, extra));
    }

    /// Enters a state and its initial states.
    pub(super) fn descend(&mut self, id: StateId, extra: &[Extra<'c>]) {
        let state = self.chart.state(id);
        self.enter(id, extra);
        match (state.kind, &state.initial) {
            (Kind::Compound, Some(initial)) => {
                self.block(&initial.actions);
                for &target in &initial.targets {
                    self.by_memory(self.chart.state(target), &|writer, effective, extra| {
                        writer.path(id, effective, extra);
                        writer.descend(effective, extra);
                    });
                }
            }
            (Kind::Final, _) => self.end(state),
            _ => self.line(&format!("at = {};", id.index())),
        }
    }

    fn enter(&mut self, id: StateId, extra: &[Extra<'c>]) {
        let state = self.chart.state(id);
        if Self::is_starting(state) {
            self.line(&format!("n{} = 1;", id.index()));
        }
        state.entry.iter().for_each(|block| self.block(block));
        extra.iter().filter(|(parent, _)| *parent == id).for_each(|(_, block)| self.block(block));
    }

    fn end(&mut self, state: &State) {
        self.line(&format!("at = {};", state.id.index()));
        match state.parent {
            Some(parent) if parent != Chart::ROOT => self.raise(&done_of(self.chart.state(parent))),
            _ => self.line("over = 1;"),
        }
    }

    fn raise(&mut self, event: &str) {
        let number = self.events.get(event).copied().unwrap_or(0);
        self.line(&format!("assert(nfull(q)); q!{number}; /* {event} */"));
    }

    /// Writes actions. Each branch of a condition may be taken.
    fn block(&mut self, block: &Block) {
        for action in block.iter() {
            match action {
                Action::Raise { event, .. } => self.raise(event),
                Action::If { branches } if branches.iter().any(|(_, block)| is_visible(block)) => {
                    self.line("if");
                    for (_, block) in branches {
                        self.line(":: true ->");
                        self.inside(|writer| {
                            writer.block(block);
                            writer.line("skip");
                        });
                    }
                    if branches.last().is_none_or(|(condition, _)| condition.is_some()) {
                        self.line(":: true -> skip");
                    }
                    self.line("fi;");
                }
                Action::If { .. }
                | Action::Assign { .. }
                | Action::Send { .. }
                | Action::Cancel { .. }
                | Action::Log { .. } => {}
            }
        }
    }
}

/// Returns true if a block changes anything that the model represents.
fn is_visible(block: &Block) -> bool {
    block.iter().any(|action| match action {
        Action::Raise { .. } => true,
        Action::If { branches } => branches.iter().any(|(_, block)| is_visible(block)),
        Action::Assign { .. } | Action::Send { .. } | Action::Cancel { .. } | Action::Log { .. } => false,
    })
}
