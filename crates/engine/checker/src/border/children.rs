//! Machines that a machine starts: they must exist, be proved themselves, and not start each other recursively.

use std::collections::BTreeSet;

use interlock_chart::{
    Catalogue, Chart, Diagnostic, Value,
    catalogue::{Entry, Meaning},
    model::{Invoke, Kind, Schema, Template},
};
use serde_json::{Map, json};

use super::{Outside, texts, writers};
use crate::{Bound, Report};

/// A machine that another one starts.
#[derive(Clone, Debug)]
pub enum Child {
    /// It does not exist, or cannot be read.
    Missing {
        /// The reason, in one sentence.
        why: String,
        /// The next action for the user.
        hint: Option<String>,
    },
    /// It is, or starts, a machine that is being started: the machines of the cycle.
    Recursive(Vec<String>),
    /// It exists and was checked.
    Known(Started),
}

/// The results of checking a machine that another one starts.
#[derive(Clone, Debug, Default)]
pub struct Started {
    /// The reasons for which it is refused itself; empty if it is proved.
    pub refusals: Vec<String>,
    /// The most that can happen in it between two inputs from outside.
    pub bound: Option<Bound>,
    /// The most that can happen in a whole run of it.
    pub run_bound: Option<Bound>,
    /// True if it writes the workspace.
    pub writes: bool,
    /// The schema of the output of its runs.
    pub output: Schema,
}

impl Started {
    /// Creates the record of a machine that was checked. Without a report, its bounds are unknown.
    pub fn of(report: Option<&Report>, refusals: Vec<String>, chart: &Chart, outside: &Outside<'_>) -> Self {
        let bound = report.and_then(|report| report.bound);
        let run_bound = report.and_then(|report| report.run_bound);
        Started { refusals, bound, run_bound, writes: writers::writes(chart, outside), output: output(chart) }
    }
}

/// Returns the schema of the output of a machine's runs: the fields that its final states give their data.
fn output(chart: &Chart) -> Schema {
    let mut fields = Map::new();
    let ends = chart.states.iter().filter(|state| {
        state.kind == Kind::Final && state.parent.is_some_and(|parent| chart.state(parent).parent.is_none())
    });
    for data in ends.filter_map(|state| state.data.as_ref()) {
        match data {
            Template::Map(named) => fields.extend(named.iter().map(|(name, _)| (name.clone(), json!({})))),
            Template::Literal(Value::Map(named)) => {
                fields.extend(named.keys().map(|name| (name.to_string(), json!({}))));
            }
            _ => return json!({}),
        }
    }
    json!({ "type": "object", "properties": fields, "additionalProperties": false })
}

/// The machines that a machine starts by a literal name or path.
pub fn children<'c>(chart: &'c Chart, catalogue: &'c Catalogue) -> BTreeSet<&'c str> {
    let names = chart.invokes.iter().filter_map(|invoke| Some((invoke, catalogue.get(&invoke.activity)?)));
    names.flat_map(|(invoke, entry)| texts(invoke, entry, Meaning::Machine).map(|(_, name)| name)).collect()
}

/// Reports machines that cannot be started.
pub(super) fn check(invoke: &Invoke, entry: &Entry, outside: &Outside<'_>, found: &mut Vec<Diagnostic>) {
    for (key, name) in texts(invoke, entry, Meaning::Machine) {
        let span = invoke.key_span(key);
        match outside.children.get(name) {
            None => {}
            Some(Child::Missing { why, hint }) => {
                found.push(Diagnostic::error("E0712", span, why).maybe_hint(hint.clone()));
            }
            Some(Child::Recursive(way)) => {
                let message = format!("this machine starts itself: {}", way.join(" → "));
                let hint = "runs would start runs for ever; use a loop with a `limit` instead";
                found.push(Diagnostic::error("E0714", span, message).hint(hint));
            }
            Some(Child::Known(started)) => {
                if let Some(first) = started.refusals.first() {
                    let message = format!("the machine `{name}` is not proved: {first}");
                    found.push(Diagnostic::error("E0713", span, message).hint(format!("see `interlock check {name}`")));
                }
            }
        }
    }
}
