//! A builder of charts for tests. Transitions may be added in any order.

use interlock_chart::{
    Chart, Span,
    expr::{Expr, Node},
    model::{
        Counter, CounterId, Descriptor, Initial, Invoke, InvokeId, Kind, Limit, Max, Outcome, State, StateId, Template,
        Transition, TransitionId,
    },
};

/// A chart under construction. States must be added parents first and subtree by subtree.
pub(super) struct Build {
    pub(super) chart: Chart,
    edges: Vec<Transition>,
}

impl Build {
    pub(super) fn new(id: &str) -> Self {
        let chart = Chart {
            id: id.to_owned(),
            version: 1,
            summary: String::new(),
            dialect: Default::default(),
            input: true.into(),
            context: Vec::new(),
            events: Vec::new(),
            counters: Vec::new(),
            states: Vec::new(),
            transitions: Vec::new(),
            invokes: Vec::new(),
            properties: Vec::new(),
            hash: String::new(),
        };
        let mut build = Build { chart, edges: Vec::new() };
        build.state(None, id, Kind::Compound);
        build
    }

    pub(super) fn state(&mut self, parent: Option<StateId>, name: &str, kind: Kind) -> StateId {
        let id = StateId::at(self.chart.states.len());
        self.chart.states.push(State {
            id,
            name: name.to_owned(),
            summary: String::new(),
            parent,
            kind,
            children: Vec::new(),
            initial: None,
            entry: Vec::new(),
            exit: Vec::new(),
            invokes: Vec::new(),
            timeout_ms: None,
            timeout_inherited: false,
            transitions: Vec::new(),
            outcome: None,
            tags: Vec::new(),
            data: None,
            shows: Vec::new(),
            grants: None,
            span: Span::default(),
        });
        if let Some(parent) = parent {
            let parent = &mut self.chart.states[parent.index()];
            parent.children.push(id);
            if parent.kind == Kind::Atomic {
                parent.kind = Kind::Compound;
            }
        }
        id
    }

    pub(super) fn top(&mut self, name: &str) -> StateId {
        self.state(Some(Chart::ROOT), name, Kind::Atomic)
    }

    pub(super) fn end(&mut self, name: &str, outcome: Outcome) -> StateId {
        let id = self.state(Some(Chart::ROOT), name, Kind::Final);
        self.chart.states[id.index()].outcome = Some(outcome);
        id
    }

    pub(super) fn initial(&mut self, state: StateId, targets: &[StateId]) {
        self.chart.states[state.index()].initial = Some(Initial { targets: targets.to_vec(), actions: Vec::new() });
    }

    pub(super) fn invoke(&mut self, state: StateId, activity: &str) {
        let id = InvokeId::at(self.chart.invokes.len());
        self.chart.invokes.push(Invoke {
            id,
            state,
            activity: activity.to_owned(),
            with: Template::empty(),
            signals: Vec::new(),
            effect: None,
            manual: false,
            keys: Vec::new(),
            span: Span::default(),
        });
        self.chart.states[state.index()].invokes.push(id);
    }

    pub(super) fn edge(&mut self, source: StateId, event: &str, targets: &[StateId]) -> &mut Transition {
        self.edges.push(Transition {
            id: TransitionId::default(),
            source,
            events: event.split_whitespace().map(Descriptor::plain).collect(),
            targets: targets.to_vec(),
            internal: false,
            guard: None,
            limits: Vec::new(),
            resets: Vec::new(),
            actions: Vec::new(),
            reason: None,
            span: Span::default(),
        });
        self.edges.last_mut().expect("just added")
    }

    pub(super) fn limited(&mut self, source: StateId, event: &str, target: StateId, max: u32) {
        let counter = CounterId::at(self.chart.counters.len());
        self.chart.counters.push(Counter { name: format!("c{}", counter.0), max, named: false, span: Span::default() });
        self.edge(source, event, &[target]).limits.push(Limit { counter, max: Max::Fixed(max) });
    }

    pub(super) fn finish(mut self) -> Chart {
        self.edges.sort_by_key(|edge| edge.source);
        for (index, mut edge) in self.edges.into_iter().enumerate() {
            edge.id = TransitionId::at(index);
            self.chart.states[edge.source.index()].transitions.push(edge.id);
            self.chart.transitions.push(edge);
        }
        self.chart
    }
}

pub(super) fn guard(source: &str) -> Option<Expr> {
    Some(Expr { source: source.to_owned(), span: Span::default(), node: Node::Literal(true.into()) })
}
