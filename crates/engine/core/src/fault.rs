//! An evaluation that failed. It always becomes an event for the machine, never a panic.

use interlock_chart::{
    Chart, Span, Value,
    model::{InvokeId, StateId, TransitionId, VarId},
};

/// A guard, an assignment or a template that could not be evaluated.
#[derive(Clone, Debug, Default, PartialEq, thiserror::Error)]
#[error("{message}{}", in_expression(expression))]
pub struct Fault {
    /// The problem, such as `no such field: status`.
    pub message: String,
    /// The expression as written; empty if the failure was not in an expression.
    pub expression: String,
    /// The values that the expression read, by name. If a field is missing, the nearest value that exists stands for it.
    pub values: Vec<(String, Value)>,
    /// The place in words, such as ``the guard of `passed` in `testing` ``; empty if the engine has not added it yet.
    pub place: String,
    /// The place in the machine file; empty if there is none.
    pub span: Span,
}

fn in_expression(expression: &str) -> String {
    if expression.is_empty() { String::new() } else { format!(" in `{expression}`") }
}

/// The longest text of a value that a fault shows, in characters.
const VALUE_CHARS_MAX: usize = 200;

impl Fault {
    /// The code in the data of every `error.execution` event.
    pub const CODE: &str = "EXECUTION";

    /// Creates a fault without an expression; the caller that knows the expression adds it.
    pub fn new(message: impl Into<String>) -> Self {
        Fault { message: message.into(), ..Fault::default() }
    }

    /// Adds the place of the formula that failed.
    pub(crate) fn at(self, place: Place, chart: &Chart) -> Self {
        Fault { place: place.words(chart), span: place.span(chart), ..self }
    }

    /// The data of the `error.execution` event. Place and values are there if the engine has added the place.
    pub fn payload(&self, state: &str) -> Value {
        let known = [
            ("code", Value::from(Self::CODE)),
            ("message", Value::from(self.message.as_str())),
            ("expression", Value::from(self.expression.as_str())),
            ("state", Value::from(state)),
        ];
        let values = Value::map(self.values.iter().map(|(name, value)| (name.as_str(), short(value))));
        let added = [("place", Value::from(self.place.as_str())), ("values", values)];
        let added = added.into_iter().filter(|_| !self.place.is_empty());
        Value::map(known.into_iter().chain(added))
    }

    /// Returns the fault that ended a run, from the run's output. Only faults with a place end a run.
    pub fn from_payload(data: &Value) -> Option<Fault> {
        let text = |name: &str| Some(data.get(name)?.as_str()?.to_owned());
        let values = match data.get("values")? {
            Value::Map(values) => values.iter().map(|(name, value)| (name.to_string(), value.clone())).collect(),
            _ => return None,
        };
        let is_fault = text("code")? == Self::CODE;
        let (message, expression, place) = (text("message")?, text("expression")?, text("place")?);
        is_fault.then_some(Fault { message, expression, values, place, ..Fault::default() })
    }

    /// The fault in one sentence: the place, the problem, the expression and the values that it read.
    pub fn sentence(&self) -> String {
        let place = if self.place.is_empty() { "an expression" } else { &self.place };
        let values: Vec<String> =
            self.values.iter().map(|(name, value)| format!("{name} = {}", cut(&written(value)))).collect();
        let values = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
        format!("{place} could not be evaluated: {self}{values}")
    }
}

/// A value that is too long for an event is replaced by the beginning of its text.
fn short(value: &Value) -> Value {
    let text = written(value);
    if text.chars().count() <= VALUE_CHARS_MAX { value.clone() } else { cut(&text).into() }
}

fn written(value: &Value) -> String {
    serde_json::Value::from(value).to_string()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(VALUE_CHARS_MAX) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}

/// The part of a machine that has the formula.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Guard(TransitionId),
    Limit(TransitionId),
    Reason(TransitionId),
    Action(TransitionId),
    Entry(StateId),
    Exit(StateId),
    Initial(StateId),
    Data(StateId),
    With(InvokeId),
    Variable(VarId),
    Machine,
}

impl Place {
    fn words(self, chart: &Chart) -> String {
        let of = |what: &str, id: TransitionId| {
            let transition = chart.transition(id);
            let events: Vec<&str> = transition.events.iter().map(|event| event.text.as_str()).collect();
            let events = if events.is_empty() { "always".to_owned() } else { events.join(" ") };
            format!("{what} of `{events}` in `{}`", chart.state(transition.source).name)
        };
        let at = |what: &str, state: StateId| format!("{what} of `{}`", chart.state(state).name);
        match self {
            Place::Guard(id) => of("the guard", id),
            Place::Limit(id) => of("the limit", id),
            Place::Reason(id) => of("the reason", id),
            Place::Action(id) => of("an action", id),
            Place::Entry(state) => at("the entry", state),
            Place::Exit(state) => at("the exit", state),
            Place::Initial(state) => at("the initial transition", state),
            Place::Data(state) => at("the data", state),
            Place::With(id) => {
                let invoke = chart.invoke(id);
                format!("the input of `{}` in `{}`", invoke.activity, chart.state(invoke.state).name)
            }
            Place::Variable(id) => format!("the initial value of `{}`", chart.context[id.index()].name),
            Place::Machine => format!("a step of `{}`", chart.id),
        }
    }

    fn span(self, chart: &Chart) -> Span {
        match self {
            Place::Guard(id) | Place::Limit(id) | Place::Reason(id) | Place::Action(id) => chart.transition(id).span,
            Place::Entry(state) | Place::Exit(state) | Place::Initial(state) | Place::Data(state) => {
                chart.state(state).span
            }
            Place::With(id) => chart.invoke(id).span,
            Place::Variable(id) => chart.context[id.index()].span,
            Place::Machine => Span::default(),
        }
    }
}
