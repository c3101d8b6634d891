//! Resolves a draft to a chart: every name becomes an index, every default is filled in, every expression is parsed.
//!
//! Unknown names are reported and omitted, so that the rest can still be checked.

mod counters;
mod events;
mod origin;
mod outline;
mod plain_schema;
mod property;
pub(crate) mod schema;
mod state;
mod transition;

use super::{code, draft, fields::Decoder, limits, node::Scalar, template::Words};
use crate::{
    Diagnostic, Span,
    expr::{Names, Type},
    model::{Chart, EventId, Origin, StateId, Template, Variable},
};
use counters::Counters;
use interlock_suggest::did_you_mean;
use outline::Outline;
use std::collections::BTreeMap;

/// The positions of parts that have no position in the chart.
#[derive(Default)]
pub(crate) struct Places {
    /// The positions of each activity's signals.
    pub signals: Vec<Vec<Span>>,
    /// The positions of each transition's events.
    pub descriptors: Vec<Vec<Span>>,
    /// The positions of each transition's targets.
    pub targets: Vec<Vec<Span>>,
}

/// Resolves a draft. The chart is complete only if no problem is an error.
pub(crate) fn resolve(machine: &draft::Machine<'_>, problems: &mut Vec<Diagnostic>) -> Option<(Chart, Places)> {
    let outline = Outline::of(&machine.root, problems);
    if !outline.fits(problems) {
        return None;
    }
    let counters = Counters::of(&outline);
    let mut resolver = Resolver {
        machine,
        words: Words { names: Names { states: &outline.names, counters: &counters.names }, problems },
        outline: &outline,
        counters: &counters,
        variables: BTreeMap::new(),
        events: BTreeMap::new(),
        qualified: BTreeMap::new(),
        chart: empty_chart(machine),
        places: Places::default(),
    };
    resolver.input();
    resolver.context();
    resolver.events();
    resolver.states();
    resolver.transitions();
    resolver.chart.counters = counters.resolved(&resolver.chart.transitions);
    resolver.properties();
    let (chart, places) = (resolver.chart, resolver.places);
    if !fits(&chart, problems) {
        return None;
    }
    Some((chart, places))
}

fn empty_chart(machine: &draft::Machine<'_>) -> Chart {
    Chart {
        id: machine.root.name.clone(),
        version: machine.version,
        summary: machine.root.summary.clone(),
        dialect: machine.dialect,
        input: schema::anything(),
        context: Vec::new(),
        events: Vec::new(),
        counters: Vec::new(),
        states: Vec::new(),
        transitions: Vec::new(),
        invokes: Vec::new(),
        properties: Vec::new(),
        hash: String::new(),
    }
}

fn fits(chart: &Chart, problems: &mut Vec<Diagnostic>) -> bool {
    let lists = [
        ("events", chart.events.len()),
        ("activities", chart.invokes.len()),
        ("variables", chart.context.len()),
        ("counters", chart.counters.len()),
    ];
    let over = lists.into_iter().find(|(_, count)| *count > limits::ITEMS_MAX);
    if let Some((what, count)) = over {
        let message = format!("{count} {what} are more than {}", limits::ITEMS_MAX);
        problems.push(Diagnostic::error(code::TOO_MANY, Span::default(), message));
    }
    over.is_none()
}

/// The tables that resolve names to indices, and the chart under construction.
struct Resolver<'a, 'n, 'p> {
    machine: &'a draft::Machine<'n>,
    words: Words<'a, 'p>,
    outline: &'a Outline<'a, 'n>,
    counters: &'a Counters,
    variables: BTreeMap<&'n str, crate::model::VarId>,
    events: BTreeMap<String, EventId>,
    /// The qualified names that transitions match, by their text.
    qualified: BTreeMap<String, Origin>,
    chart: Chart,
    places: Places,
}

impl Resolver<'_, '_, '_> {
    fn report(&mut self, problem: Diagnostic) {
        self.words.problems.push(problem);
    }

    fn decoder(&mut self) -> Decoder<'_> {
        Decoder { problems: self.words.problems }
    }

    fn input(&mut self) {
        if let Some(node) = self.machine.input {
            self.chart.input = self.schema(node);
        }
    }

    fn context(&mut self) {
        for entry in self.machine.context {
            let initial = self.words.template(&entry.value);
            let ty = match &initial {
                Template::Literal(value) => Type::of_value(value),
                Template::Text(_) => Type::Str(None),
                Template::List(_) => Type::List(Box::new(Type::Dyn)),
                Template::Map(_) => Type::open_map(),
                Template::Expr(_) => Type::Dyn,
            };
            self.variables.insert(&entry.key.text, crate::model::VarId::at(self.chart.context.len()));
            self.chart.context.push(Variable { name: entry.key.text.clone(), initial, ty, span: entry.key.span });
        }
    }

    /// Returns the state that a name refers to, and reports an unknown name.
    fn state_named(&mut self, name: &Scalar) -> Option<StateId> {
        let found = self.outline.find(&name.text);
        if found.is_none() {
            let problem =
                Diagnostic::error(code::UNKNOWN_STATE, name.span, format!("there is no state `{}`", name.text));
            let hint = if name.text == self.chart.id {
                Some("this is the machine itself; name one of its states".to_owned())
            } else {
                did_you_mean(&name.text, self.outline.names.iter().skip(1).map(String::as_str))
            };
            self.report(problem.maybe_hint(hint));
        }
        found
    }

    /// Returns the states that names refer to, with the positions of the known names.
    fn states_named(&mut self, names: &[&Scalar]) -> (Vec<StateId>, Vec<Span>) {
        if let Some(extra) = names.get(limits::TARGETS_MAX) {
            let message = format!("more than {} targets", limits::TARGETS_MAX);
            self.report(Diagnostic::error(code::TOO_MANY, extra.span, message));
        }
        let found =
            names.iter().take(limits::TARGETS_MAX).filter_map(|name| Some((self.state_named(name)?, name.span)));
        found.unzip()
    }
}
