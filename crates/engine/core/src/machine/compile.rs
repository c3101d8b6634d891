//! Compiles a chart into a machine.

mod named;

use interlock_chart::expr::{Node as Expression, Root};

use super::*;
use crate::interpret::{EntrySet, compute_entry_set};

pub(super) fn machine(chart: Arc<Chart>) -> Machine {
    let mut names = Names::of(&chart);
    let mut formulas = Formulas { list: Vec::new(), chart: &chart };
    let histories: Vec<StateId> =
        chart.states.iter().filter(|state| state.kind.is_history()).map(|state| state.id).collect();
    let mut nodes: Vec<Node> =
        chart.states.iter().map(|state| node(&chart, state, &histories, &mut names, &mut formulas)).collect();
    add_descendants(&chart, &mut nodes);
    let plans =
        chart.transitions.iter().map(|transition| plan(&chart, transition, &mut names, &mut formulas)).collect();
    let with = chart.invokes.iter().map(|invoke| formulas.template(&invoke.with)).collect();
    let initial_context = chart.context.iter().map(|variable| formulas.template(&variable.initial)).collect();
    let formulas = formulas.list;
    let (error, error_execution) = (names.id("error"), names.id("error.execution"));
    let (atomic, eventless) = (states_where(&chart, |state| state.kind.is_atomic()), eventless(&chart));
    let mut machine = Machine {
        nodes,
        plans,
        formulas,
        events: names.events,
        numbers: names.by_name.iter().map(|(name, id)| (name.clone(), *id)).collect(),
        by_name: names.by_name,
        histories,
        atomic,
        eventless,
        listeners: StateSet::new(chart.states.len()),
        eventless_reads_event: eventless_reads_event(&chart),
        states_may_fault: chart.states.iter().any(may_fault),
        with,
        initial_context,
        error,
        error_execution,
        name: chart.id.as_str().into(),
        nothing: Value::empty(),
        chart,
    };
    fill_handlers(&mut machine);
    named::fill(&mut machine);
    fill_entries(&mut machine);
    machine
}

/// Event names and their numbers. The chart's events come first, so that the ids agree.
struct Names {
    events: Vec<Arc<str>>,
    by_name: BTreeMap<Arc<str>, EventId>,
}

impl Names {
    fn of(chart: &Chart) -> Self {
        let mut names = Names { events: Vec::new(), by_name: BTreeMap::new() };
        for event in &chart.events {
            names.events.push(event.name.as_str().into());
            let id = EventId::at(names.events.len() - 1);
            names.by_name.entry(event.name.as_str().into()).or_insert(id);
        }
        for descriptor in chart.transitions.iter().flat_map(|transition| &transition.events) {
            if descriptor.is_plain() && !descriptor.prefix().is_empty() {
                names.id(descriptor.prefix());
            }
        }
        names
    }

    fn id(&mut self, name: &str) -> EventId {
        if let Some(&id) = self.by_name.get(name) {
            return id;
        }
        let (id, name): (_, Arc<str>) = (EventId::at(self.events.len()), name.into());
        self.events.push(name.clone());
        self.by_name.insert(name, id);
        id
    }
}

struct Formulas<'c> {
    list: Vec<Formula>,
    chart: &'c Chart,
}

impl Formulas<'_> {
    fn template(&mut self, template: &Template) -> FormulaId {
        let code = Code::lower(template, self.chart);
        self.list.push(Formula { template: template.clone(), code });
        FormulaId(u32::try_from(self.list.len() - 1).unwrap_or(u32::MAX))
    }

    fn expr(&mut self, expr: &interlock_chart::expr::Expr) -> FormulaId {
        self.template(&Template::Expr(expr.clone()))
    }

    fn block(&mut self, block: &[Action], names: &mut Names) -> Vec<Operation> {
        block.iter().map(|action| self.operation(action, names)).collect()
    }

    fn operation(&mut self, action: &Action, names: &mut Names) -> Operation {
        match action {
            Action::Assign { var, value } => Operation::Assign { var: *var, value: self.template(value) },
            Action::Raise { event, data } => Operation::Raise { event: names.id(event), data: self.template(data) },
            Action::Send { event, data, delay, id } => Operation::Send {
                event: self.template(event),
                data: self.template(data),
                delay: delay.as_ref().map(|delay| self.template(delay)),
                id: id.as_deref().map(Arc::from),
            },
            Action::Cancel { id } => Operation::Cancel { id: self.template(id) },
            Action::Log { text } => Operation::Log { text: self.template(text) },
            Action::If { branches } => Operation::If {
                branches: (branches.iter())
                    .map(|(cond, block)| (cond.as_ref().map(|cond| self.expr(cond)), self.block(block, names)))
                    .collect(),
            },
        }
    }
}

fn node(
    chart: &Chart,
    state: &interlock_chart::model::State,
    histories: &[StateId],
    names: &mut Names,
    formulas: &mut Formulas<'_>,
) -> Node {
    Node {
        parent: state.parent,
        descendants: StateSet::new(chart.states.len()),
        entry: state.entry.iter().map(|block| formulas.block(block, names)).collect(),
        exit: state.exit.iter().map(|block| formulas.block(block, names)).collect(),
        initial: state.initial.as_ref().map(|initial| formulas.block(&initial.actions, names)).unwrap_or_default(),
        data: state.data.as_ref().map(|data| formulas.template(data)),
        shows: state.shows.iter().map(|(_, data)| formulas.template(data)).collect(),
        scopes: state.grants.as_ref().map(|request| formulas.template(&request.scopes)),
        on: Vec::new(),
        named: Vec::new(),
        open: Vec::new(),
        always: (state.transitions.iter().copied()).filter(|&id| chart.transition(id).events.is_empty()).collect(),
        done: names.id(&format!("done.state.{}", state.name)),
        timeout: names.id(&format!("timeout.{}", state.name)),
        histories: (histories.iter().copied().enumerate())
            .filter(|&(_, history)| chart.state(history).parent == Some(state.id))
            .map(|(at, history)| (history, at))
            .collect(),
        is_active: !state.invokes.is_empty() || state.timeout_ms.is_some(),
    }
}

fn plan(
    chart: &Chart,
    transition: &interlock_chart::model::Transition,
    names: &mut Names,
    formulas: &mut Formulas<'_>,
) -> Plan {
    let limits = transition.limits.iter().map(|limit| match &limit.max {
        Max::Fixed(max) => (limit.counter, *max, None),
        Max::Input { expr, at_most } => (limit.counter, *at_most, Some(formulas.expr(expr))),
    });
    let limits = limits.collect();
    let is_plain = |target: &StateId| !chart.state(*target).kind.is_history();
    let has_plain_targets = !transition.targets.is_empty() && transition.targets.iter().all(is_plain);
    Plan {
        source: transition.source,
        targets: transition.targets.clone(),
        guard: transition.guard.as_ref().map(|guard| formulas.expr(guard)),
        limits,
        resets: transition.resets.clone(),
        operations: formulas.block(&transition.actions, names),
        reason: transition.reason.as_ref().map(|reason| formulas.template(reason)),
        may_fault: !transition.actions.is_empty() || transition.reason.as_ref().is_some_and(is_computed),
        domain: has_plain_targets.then(|| {
            crate::interpret::transition_domain(chart, transition.source, transition.internal, &transition.targets)
        }),
        entry: None,
    }
}

/// Computes the transitions by which each state takes each event that the machine knows.
fn fill_handlers(machine: &mut Machine) {
    let chart = machine.chart.clone();
    for state in &chart.states {
        let mut on = BTreeMap::<EventId, Vec<TransitionId>>::new();
        let mut open = Vec::new();
        for transition in state.transitions.iter().map(|&id| chart.transition(id)) {
            let mut events: Vec<EventId> = transition.events.iter().flat_map(|event| machine.matched(event)).collect();
            events.sort_unstable();
            events.dedup();
            events.into_iter().for_each(|event| on.entry(event).or_default().push(transition.id));
            if !transition.events.is_empty() {
                open.push(transition.id);
            }
        }
        let node = &mut machine.nodes[state.id.index()];
        node.on = on.into_iter().collect();
        node.open = open;
    }
}

/// Precomputes the states to enter, if they are always the same.
fn fill_entries(machine: &mut Machine) {
    let histories = vec![StateSet::new(machine.chart.states.len()); machine.histories.len()];
    for at in 0..machine.plans.len() {
        let id = TransitionId::at(at);
        if machine.plans[at].domain.is_none() {
            continue;
        }
        let mut entry = EntrySet::new(machine);
        compute_entry_set(machine, &[id], &histories, &mut entry);
        if entry.is_fixed() {
            machine.plans[at].entry = Some(entry.states.iter().collect());
        }
    }
}

/// Enters every state at its ancestors: looking for the descendants of each state would take the square of their number.
fn add_descendants(chart: &Chart, nodes: &mut [Node]) {
    for state in &chart.states {
        for ancestor in chart.ancestors(state.id) {
            nodes[ancestor.index()].descendants.insert(state.id);
        }
    }
}

fn states_where(chart: &Chart, wanted: impl Fn(&interlock_chart::model::State) -> bool) -> StateSet {
    let mut set = StateSet::new(chart.states.len());
    chart.states.iter().filter(|state| wanted(state)).for_each(|state| set.insert(state.id));
    set
}

/// Atomic states that have, or whose ancestors have, an eventless transition.
fn eventless(chart: &Chart) -> StateSet {
    let has = |id: StateId| chart.state(id).transitions.iter().any(|&id| chart.transition(id).events.is_empty());
    states_where(chart, |state| {
        matches!(state.kind, Kind::Atomic | Kind::Final) && (has(state.id) || chart.ancestors(state.id).any(has))
    })
}

/// Returns true if entering or leaving the state may fail.
fn may_fault(state: &interlock_chart::model::State) -> bool {
    let initial = state.initial.as_ref().is_some_and(|initial| !initial.actions.is_empty());
    initial || !state.entry.is_empty() || !state.exit.is_empty() || state.data.as_ref().is_some_and(is_computed)
}

fn is_computed(template: &Template) -> bool {
    !matches!(template, Template::Literal(_))
}

fn eventless_reads_event(chart: &Chart) -> bool {
    (chart.transitions.iter().filter(|transition| transition.events.is_empty()))
        .filter_map(|transition| transition.guard.as_ref())
        .any(|guard| reads_event(&guard.node))
}

fn reads_event(node: &Expression) -> bool {
    let is_event = |root: &Root| matches!(root, Root::Event | Root::EventName);
    match node {
        Expression::Path(root, _) | Expression::Has(root, _) => is_event(root),
        Expression::Opaque(paths) => paths.iter().any(|(root, _)| is_event(root)),
        Expression::Literal(_) | Expression::Visits(_) | Expression::Active(_) | Expression::Count(_) => false,
        Expression::Unary(_, operand) | Expression::Field(operand, _) | Expression::Size(operand) => {
            reads_event(operand)
        }
        Expression::Binary(_, left, right) | Expression::Index(left, right) => reads_event(left) || reads_event(right),
        Expression::If(cond, then, otherwise) => [cond, then, otherwise].into_iter().any(|part| reads_event(part)),
        Expression::List(items) => items.iter().any(reads_event),
        Expression::Map(entries) => entries.iter().any(|(key, value)| reads_event(key) || reads_event(value)),
    }
}
