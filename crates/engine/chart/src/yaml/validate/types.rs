//! Checks the types of all expressions in their scopes.

use super::{super::resolve::schema, shape::Shape};
use crate::{
    Diagnostic, Span,
    expr::{self, Expr, Scope, Type},
    model::{
        Action, Block, Chart, Descriptor, Event, Invoke, Max, OriginEvent, Part, Raiser, Schema, State, StateId,
        Template, Transition, VarId,
    },
};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the schema of a signal's data from a description of the activity; `None` if it is not described.
pub type SignalData<'a> = &'a dyn Fn(&Invoke, &str) -> Option<Schema>;

/// Reports expressions of the wrong type, and reads of unknown fields.
pub(super) fn check(shape: &Shape<'_>, problems: &mut Vec<Diagnostic>) {
    check_with(shape, &|_, _| None, problems);
}

/// Returns the reads of fields that the data of an activity's signal never has. A machine that declares the data of a
/// signal itself has been checked against its own declaration.
pub(crate) fn unknown_signal_fields(chart: &Chart, data: SignalData<'_>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    check_with(&Shape::of(chart), data, &mut problems);
    problems.retain(|problem| problem.code == "E0306");
    problems
}

fn check_with(shape: &Shape<'_>, data: SignalData<'_>, problems: &mut Vec<Diagnostic>) {
    let chart = shape.chart;
    let fields = chart.context.iter().map(|var| (var.name.clone(), var.ty.clone()));
    let context = Type::Map { fields: fields.collect(), open: false };
    let mut types =
        Types { shape, carried: Carried::of(chart, data), input: Type::of_schema(&chart.input), context, problems };
    types.initial_values();
    types.states();
    chart.transitions.iter().for_each(|transition| types.transition(transition));
}

/// The types of the data of each event and signal.
struct Carried<'c> {
    /// The types by event name. An event that is only signalled has no declared type.
    events: BTreeMap<&'c str, Option<Type>>,
    /// The types by event, then by the state whose activity signals it.
    signals: BTreeMap<&'c str, BTreeMap<usize, Type>>,
    error: Type,
    timeout: Type,
    done: Type,
}

impl<'c> Carried<'c> {
    fn of(chart: &'c Chart, data: SignalData<'_>) -> Self {
        let open = schema::anything();
        let mut signals: BTreeMap<&str, BTreeMap<usize, Type>> = BTreeMap::new();
        for invoke in &chart.invokes {
            for signal in &invoke.signals {
                let name = chart.event(signal.event).name.as_str();
                let by_state = signals.entry(name).or_default();
                let described = (signal.data == open).then(|| data(invoke, name)).flatten();
                let ty = Type::of_schema(described.as_ref().unwrap_or(&signal.data));
                let joined = by_state.get(&invoke.state.index()).map_or_else(|| ty.clone(), |other| other.join(&ty));
                by_state.insert(invoke.state.index(), joined);
            }
        }
        let raised = raised(chart);
        // A declaration without data says nothing about the data of signals.
        let says_data = |event: &Event| event.declared && (event.from != Raiser::Activity || event.data != open);
        let own = |event: &Event| match (says_data(event), signals.contains_key(event.name.as_str())) {
            (true, _) => Some(Type::of_schema(&event.data)),
            (false, true) if !raised.contains(event.name.as_str()) => None,
            (false, _) => Some(Type::open_map()),
        };
        Carried {
            events: chart.events.iter().map(|event| (event.name.as_str(), own(event))).collect(),
            error: Type::of_schema(&schema::error()),
            timeout: Type::of_schema(&schema::timeout()),
            done: done(chart),
            signals,
        }
    }

    /// Returns the type of the data of all events that a descriptor matches while the state is active.
    fn taken(&self, shape: &Shape<'_>, state: StateId, descriptor: &Descriptor) -> Type {
        let Some(origin) = descriptor.origin else { return self.by(shape, state, descriptor.prefix()) };
        match origin.event {
            OriginEvent::Signal(event) => {
                let signals = self.signals.get(shape.chart.event(event).name.as_str());
                signals.and_then(|signals| signals.get(&origin.state.index())).cloned().unwrap_or(Type::Dyn)
            }
            OriginEvent::Error | OriginEvent::Fault => self.error.clone(),
            OriginEvent::Timeout => self.timeout.clone(),
        }
    }

    /// Returns the type of the data of all events with a plain name that can come while the state is active.
    fn by(&self, shape: &Shape<'_>, state: StateId, descriptor: &str) -> Type {
        let first = descriptor.split('.').next().unwrap_or_default();
        let mut found: Option<Type> = match first {
            "" => return Type::Dyn,
            "error" => Some(self.error.clone()),
            "timeout" => Some(self.timeout.clone()),
            "done" => Some(self.done.clone()),
            _ => None,
        };
        let mut join = |ty: &Type| found = Some(found.as_ref().map_or_else(|| ty.clone(), |found| found.join(ty)));
        let built_in = matches!(first, "error" | "timeout" | "done");
        let below = self.events.range(descriptor..).take_while(|(event, _)| event.starts_with(descriptor));
        for (event, own) in below {
            let rest = &event[descriptor.len()..];
            if !(rest.is_empty() || rest.starts_with('.')) {
                continue;
            }
            if let Some(own) = own
                && !built_in
            {
                join(own);
            }
            if let Some(signals) = self.signals.get(event) {
                let ranges = shape.line(state).into_iter();
                ranges.flat_map(|range| signals.range(range)).for_each(|(_, ty)| join(ty));
            }
        }
        found.unwrap_or(Type::Dyn)
    }
}

/// Returns the type of a `done` event's data: a map, unless a final state gives it an expression.
fn done(chart: &Chart) -> Type {
    let is_open = |data: &Template| matches!(data, Template::Expr(_));
    match chart.states.iter().filter_map(|state| state.data.as_ref()).any(is_open) {
        true => Type::Dyn,
        false => Type::open_map(),
    }
}

/// Returns the events that the machine raises itself. The types of their data are not declared.
fn raised(chart: &Chart) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let states = chart.states.iter().flat_map(|state| {
        state.entry.iter().chain(&state.exit).chain(state.initial.iter().map(|initial| &initial.actions))
    });
    states
        .chain(chart.transitions.iter().map(|transition| &transition.actions))
        .for_each(|block| raised_in(block, &mut names));
    names
}

fn raised_in<'c>(block: &'c Block, names: &mut BTreeSet<&'c str>) {
    for action in block {
        match action {
            Action::Raise { event, .. } => {
                names.insert(event);
            }
            Action::Send { event: Template::Literal(event), .. } => names.extend(event.as_str()),
            Action::If { branches } => branches.iter().for_each(|(_, block)| raised_in(block, names)),
            _ => {}
        }
    }
}

struct Types<'a, 'c> {
    shape: &'a Shape<'c>,
    carried: Carried<'c>,
    input: Type,
    context: Type,
    problems: &'a mut Vec<Diagnostic>,
}

impl<'c> Types<'_, 'c> {
    fn chart(&self) -> &'c Chart {
        self.shape.chart
    }

    fn expr(&mut self, expr: &Expr, event: &Type, expect: Option<&Type>) -> Type {
        let scope = Scope { input: &self.input, context: &self.context, event };
        let (found, problems) = expr::check(expr, &scope, expect);
        // If the file does not contain the text verbatim, the problem gets the position of the whole text.
        let exact = expr.span.range().len() == expr.source.len();
        let place = |problem: Diagnostic| Diagnostic { span: if exact { problem.span } else { expr.span }, ..problem };
        self.problems.extend(problems.into_iter().map(place));
        found
    }

    fn template(&mut self, template: &Template, event: &Type) -> Type {
        match template {
            Template::Literal(value) => Type::of_value(value),
            Template::Expr(expr) => self.expr(expr, event, None),
            Template::Text(parts) => {
                for part in parts {
                    if let Part::Expr(expr) = part {
                        self.expr(expr, event, None);
                    }
                }
                Type::Str(None)
            }
            Template::List(items) => {
                let types: Vec<Type> = items.iter().map(|item| self.template(item, event)).collect();
                let joined = types.into_iter().reduce(|left, right| left.join(&right));
                Type::List(Box::new(joined.unwrap_or(Type::Dyn)))
            }
            Template::Map(fields) => {
                let fields = fields.iter().map(|(name, value)| (name.clone(), self.template(value, event)));
                Type::Map { fields: fields.collect(), open: false }
            }
        }
    }

    /// Checks initial values, which may refer only to `input`.
    fn initial_values(&mut self) {
        let context = std::mem::replace(&mut self.context, Type::Map { fields: BTreeMap::new(), open: false });
        let nothing = Type::Map { fields: BTreeMap::new(), open: false };
        for variable in &self.chart().context {
            self.template(&variable.initial, &nothing);
        }
        self.context = context;
    }

    fn states(&mut self) {
        for state in &self.chart().states {
            let initial = state.initial.iter().map(|initial| &initial.actions);
            for block in state.entry.iter().chain(&state.exit).chain(initial) {
                self.block(block, &Type::Dyn, state.span);
            }
            if let Some(data) = &state.data {
                self.template(data, &Type::Dyn);
            }
            self.shown(state);
        }
        for invoke in &self.chart().invokes {
            self.template(&invoke.with, &Type::Dyn);
        }
    }

    /// Data for a person is evaluated while the state waits: no event is being handled then.
    fn shown(&mut self, state: &State) {
        let nothing = Type::Map { fields: BTreeMap::new(), open: false };
        state.shows.iter().for_each(|(_, data)| drop(self.template(data, &nothing)));
        let Some(request) = &state.grants else { return };
        let scopes = Type::List(Box::new(Type::Str(None)));
        match &request.scopes {
            Template::Expr(expr) => drop(self.expr(expr, &nothing, Some(&scopes))),
            other => {
                let found = self.template(other, &nothing);
                if !scopes.accepts(&found) {
                    let message = format!("`scopes` is a list of texts, this is {found}");
                    self.problems.push(Diagnostic::error("E0309", request.span, message));
                }
            }
        }
    }

    fn transition(&mut self, transition: &Transition) {
        let source = transition.source;
        let types = transition.events.iter().map(|event| self.carried.taken(self.shape, source, event));
        let event = types.reduce(|left, right| left.join(&right)).unwrap_or(Type::Dyn);
        if let Some(guard) = &transition.guard {
            self.expr(guard, &event, Some(&Type::Bool));
        }
        for limit in &transition.limits {
            if let Max::Input { expr, .. } = &limit.max {
                self.expr(expr, &event, Some(&Type::Int));
            }
        }
        if let Some(reason) = &transition.reason {
            self.template(reason, &event);
        }
        self.block(&transition.actions, &event, transition.span);
    }

    fn block(&mut self, block: &Block, event: &Type, place: Span) {
        for action in block {
            match action {
                Action::Assign { var, value } => self.assign(*var, value, event, place),
                Action::Raise { data, .. } => drop(self.template(data, event)),
                Action::Send { event: name, data, delay, .. } => {
                    [Some(name), Some(data), delay.as_ref()]
                        .into_iter()
                        .flatten()
                        .for_each(|part| drop(self.template(part, event)));
                }
                Action::Cancel { id: text } | Action::Log { text } => drop(self.template(text, event)),
                Action::If { branches } => {
                    for (guard, block) in branches {
                        if let Some(guard) = guard {
                            self.expr(guard, event, Some(&Type::Bool));
                        }
                        self.block(block, event, place);
                    }
                }
            }
        }
    }

    fn assign(&mut self, var: VarId, value: &Template, event: &Type, place: Span) {
        let Some(variable) = self.chart().context.get(var.index()) else { return };
        if let Template::Expr(expr) = value {
            self.expr(expr, event, Some(&variable.ty));
            return;
        }
        let found = self.template(value, event);
        if !variable.ty.accepts(&found) {
            let message = format!("`{}` is {}, this assigns {found}", variable.name, variable.ty);
            let problem = Diagnostic::error("E0309", place, message);
            self.problems.push(problem.related(variable.span, "its type is that of its first value"));
        }
    }
}
