//! The data that events carry, as schemas.
//!
//! The runtime checks signals and events from outside against their schemas. Events that the machine raises or sends
//! itself are not checked, so the templates of their data count.

use std::sync::LazyLock;

use interlock_chart::{
    Chart, Value,
    model::{Action, Schema, Template, Transition},
};

/// The data of all events of a chart.
#[derive(Debug)]
pub(super) struct Events<'c> {
    chart: &'c Chart,
    /// The events that the machine makes itself, with the schemas of their data. Without a name, it may be any event.
    made: Vec<(Option<String>, Schema)>,
}

impl<'c> Events<'c> {
    pub(super) fn of(chart: &'c Chart) -> Self {
        let mut made = Vec::new();
        let transitions = chart.transitions.iter().map(|transition| &transition.actions);
        let states = chart.states.iter().flat_map(|state| {
            state.entry.iter().chain(&state.exit).chain(state.initial.as_ref().map(|initial| &initial.actions))
        });
        transitions.chain(states).for_each(|block| collect(block, &mut made));
        Events { chart, made }
    }

    /// The schemas of the data of a transition's events; empty if nothing is known about one of them.
    pub(super) fn taken_by(&self, transition: &Transition) -> Vec<&Schema> {
        let chart = self.chart;
        let takes = |name: &str| transition.events.iter().any(|event| event.matches(name));
        let mut schemas = Vec::new();
        for event in chart.events.iter().filter(|event| takes(&event.name)) {
            let id = chart.find_event(&event.name);
            let before = schemas.len();
            // A signal is heard inside the state of its activity, and by the ancestors of that state.
            let invokes = chart.invokes.iter().filter(|invoke| chart.is_in_line(invoke.state, transition.source));
            let signals = invokes.flat_map(|invoke| &invoke.signals);
            schemas.extend(signals.filter(|signal| Some(signal.event) == id).map(|signal| &signal.data));
            let is_it = |name: &Option<String>| name.as_ref().is_none_or(|name| *name == event.name);
            schemas.extend(self.made.iter().filter(|(name, _)| is_it(name)).map(|(_, schema)| schema));
            if event.declared || schemas.len() == before {
                schemas.push(builtin(&event.name).unwrap_or(&event.data));
            }
        }
        for name in ["error", "error.execution", "timeout.x"] {
            if takes(name) {
                schemas.extend(builtin(name));
            }
        }
        schemas
    }
}

fn collect(block: &[Action], into: &mut Vec<(Option<String>, Schema)>) {
    for action in block {
        match action {
            Action::Raise { event, data } => into.push((Some(event.clone()), schema_of(data))),
            Action::Send { event, data, .. } => {
                let name = if let Template::Literal(Value::Str(name)) = event { Some(name.to_string()) } else { None };
                into.push((name, schema_of(data)));
            }
            Action::If { branches } => branches.iter().for_each(|(_, block)| collect(block, into)),
            Action::Assign { .. } | Action::Cancel { .. } | Action::Log { .. } => {}
        }
    }
}

/// The schema of every value that a template can produce.
fn schema_of(template: &Template) -> Schema {
    match template {
        Template::Literal(value) => schema_of_value(value),
        Template::Text(_) => serde_json::json!({ "type": "string" }),
        Template::List(_) => serde_json::json!({ "type": "array" }),
        Template::Expr(_) => serde_json::json!({}),
        Template::Map(fields) => object(fields.iter().map(|(name, value)| (name.to_string(), schema_of(value)))),
    }
}

fn schema_of_value(value: &Value) -> Schema {
    match value {
        Value::Null => serde_json::json!({}),
        Value::Bool(_) => serde_json::json!({ "type": "boolean" }),
        Value::Int(_) | Value::Float(_) => serde_json::json!({ "type": "number" }),
        Value::Str(text) => serde_json::json!({ "type": "string", "const": &**text }),
        Value::List(_) => serde_json::json!({ "type": "array" }),
        Value::Map(fields) => object(fields.iter().map(|(name, value)| (name.to_string(), schema_of_value(value)))),
    }
}

fn object(fields: impl Iterator<Item = (String, Schema)>) -> Schema {
    let fields: serde_json::Map<_, _> = fields.collect();
    let names: Vec<&String> = fields.keys().collect();
    serde_json::json!({ "type": "object", "required": names, "properties": fields })
}

/// The schemas of the built-in events.
fn builtin(name: &str) -> Option<&'static Schema> {
    static ERROR: LazyLock<Schema> = LazyLock::new(|| {
        let text = serde_json::json!({ "type": "string" });
        serde_json::json!({
            "required": ["code", "message", "state"],
            "properties": { "code": text, "message": text, "state": text, "activity": text, "expression": text },
        })
    });
    static TIMEOUT: LazyLock<Schema> =
        LazyLock::new(|| serde_json::json!({ "required": ["state"], "properties": { "state": { "type": "string" } } }));
    match name.split('.').next() {
        Some("error") => Some(&ERROR),
        Some("timeout") => Some(&TIMEOUT),
        _ => None,
    }
}
