//! Data for the person that a run waits for: the question, the data that they confirm, and the permissions that they
//! can grant.
//!
//! The question is the summary of the states that ask. The data comes from `shows` of the active states. A machine
//! without `shows` still shows the patches in its context: a patch must not be approved unseen.

use interlock_chart::{Value, model::StateId};
use interlock_core::{Fault, FormulaId, Scope};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::Live;

/// A question that an active state asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The state that asks.
    pub state: String,
    /// The summary of that state.
    pub text: String,
}

/// A piece of data that a person sees before they answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownData {
    /// The label that the machine gives it, or the name of its variable.
    pub label: String,
    /// The data as JSON.
    pub data: Json,
}

/// Permissions that a person can grant while the run waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GrantOffer {
    /// The state that waits for them.
    pub state: String,
    /// Their scopes, in the form that `interlock grant` takes.
    pub scopes: Vec<String>,
    /// The event that is sent once all of them are granted.
    pub event: String,
}

/// Returns the questions of the states that take one of the events themselves, in document order.
pub(crate) fn questions(live: &Live, asks: impl Fn(StateId) -> bool) -> Vec<Question> {
    let chart = live.loaded.chart();
    let asking = live.state.configuration.iter().filter(|id| asks(*id)).map(|id| chart.state(id));
    let asking = asking.filter(|state| !state.summary.is_empty());
    asking.map(|state| Question { state: state.name.clone(), text: state.summary.clone() }).collect()
}

/// Returns the data that the active states show; without `shows`, the patches in the context.
pub(crate) fn shown(live: &Live) -> Vec<ShownData> {
    let chart = live.loaded.chart();
    let states: Vec<_> = live.state.configuration.iter().map(|id| chart.state(id)).collect();
    let mut shown = match states.iter().all(|state| state.shows.is_empty()) {
        true => patches(live),
        false => {
            let labelled =
                states.into_iter().flat_map(|state| state.shows.iter().zip(live.loaded.machine.shows(state.id)));
            labelled.filter_map(|((label, _), formula)| piece(live, label, *formula)).collect()
        }
    };
    // A person who is asked for permissions must learn why none is named.
    let asked = live.state.configuration.iter().filter_map(|id| live.loaded.machine.scopes(id));
    let unknown = asked.filter_map(|formula| evaluate(live, formula).err());
    shown.extend(unknown.map(|fault| ShownData { label: "permissions".to_owned(), data: Json::from(words(&fault)) }));
    shown
}

/// Returns a piece of data, or why it could not be evaluated: a person must not decide without it unknowingly. Data that
/// the run does not have, so that everything which the expression read is empty, is left out like an empty value.
fn piece(live: &Live, label: &str, formula: FormulaId) -> Option<ShownData> {
    let data = match evaluate(live, formula) {
        Ok(value) => Json::from(&value),
        Err(fault) if is_about_nothing(&fault) => return None,
        Err(fault) => Json::from(words(&fault)),
    };
    (!is_empty(&data)).then(|| ShownData { label: label.to_owned(), data })
}

fn is_about_nothing(fault: &Fault) -> bool {
    !fault.values.is_empty() && fault.values.iter().all(|(_, value)| is_empty(&Json::from(value)))
}

fn words(fault: &Fault) -> String {
    format!("could not be evaluated: {} in `{}`", fault.message, fault.expression)
}

/// Returns the permissions that a person can grant now.
pub(crate) fn grant(live: &Live) -> Option<GrantOffer> {
    let chart = live.loaded.chart();
    live.state.configuration.iter().find_map(|id| {
        let state = chart.state(id);
        let request = state.grants.as_ref()?;
        let Value::List(scopes) = evaluate(live, live.loaded.machine.scopes(id)?).ok()? else { return None };
        let scopes: Vec<String> = scopes.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let (state, event) = (state.name.clone(), request.event.clone());
        (!scopes.is_empty()).then_some(GrantOffer { state, scopes, event })
    })
}

/// Evaluates a formula while the run waits. A fault does not stop the run: it is data for the person.
fn evaluate(live: &Live, formula: FormulaId) -> Result<Value, Box<Fault>> {
    let scope = Scope {
        machine: &live.loaded.machine,
        configuration: &live.state.configuration,
        counters: &live.state.counters,
        event: None,
    };
    live.state.data.evaluate(formula, &scope)
}

fn patches(live: &Live) -> Vec<ShownData> {
    let is_patch = |text: &str| text.starts_with("--- ") || text.starts_with("diff --git ");
    let context = live.loaded.chart().context.iter().zip(&live.state.data.context);
    let patches = context.filter(|(_, value)| value.as_str().is_some_and(is_patch));
    patches.map(|(known, value)| ShownData { label: known.name.clone(), data: Json::from(value) }).collect()
}

fn is_empty(data: &Json) -> bool {
    match data {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    }
}
