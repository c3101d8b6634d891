//! Actions in both directions: `{"type": "assign", "params": {…}}`.

use serde_json::{Map, Value as Json, json};

use super::import::Importer;
use crate::names;
use interlock_chart::{
    Chart,
    file::{ActionFile, RaiseFile, SendFile},
    model::Block,
    unresolve::{self, escaped_text},
};

/// Returns the actions of a block as JSON.
pub(super) fn written(chart: &Chart, block: &Block) -> Vec<Json> {
    unresolve::block(chart, block).iter().map(action).collect()
}

fn action(action: &ActionFile) -> Json {
    let (name, params) = match action {
        ActionFile::Assign { assign } => ("assign", json!(assign)),
        ActionFile::Raise { raise: RaiseFile::Name(event) } => ("raise", json!({ "event": event })),
        ActionFile::Raise { raise: RaiseFile::Full { event, data } } => {
            ("raise", json!({ "event": event, "data": data }))
        }
        ActionFile::Send { send } => ("send", json!(send)),
        ActionFile::Cancel { cancel } => ("cancel", json!({ "id": cancel })),
        ActionFile::Log { log } => ("log", json!({ "text": log })),
        ActionFile::If { .. } => ("if", json!(action)),
    };
    json!({ "type": name, "params": params })
}

impl Importer<'_> {
    /// Reads one action or a list of actions.
    pub(super) fn actions(&mut self, value: Option<&Json>) -> Vec<ActionFile> {
        match value {
            None | Some(Json::Null) => Vec::new(),
            Some(Json::Array(items)) => items.iter().filter_map(|item| self.action(item)).collect(),
            Some(one) => self.action(one).into_iter().collect(),
        }
    }

    fn action(&mut self, value: &Json) -> Option<ActionFile> {
        let name = match value {
            Json::String(name) => name.as_str(),
            Json::Object(fields) => match fields.get("type") {
                Some(Json::String(name)) => name.as_str(),
                _ => {
                    self.out_of_place("an action needs a `type`");
                    return None;
                }
            },
            _ => {
                self.out_of_place("an action is a name or an object");
                return None;
            }
        };
        let empty = Map::new();
        let params = value.get("params").and_then(Json::as_object).unwrap_or(&empty);
        ours(name, params).or_else(|| raised(name, value)).or_else(|| Some(self.named_action(name)))
    }

    /// Returns a log action for code that is only named. The code cannot run here, but the trace shows its name.
    fn named_action(&mut self, name: &str) -> ActionFile {
        self.problems
            .warn(format!("the action `{name}` is code elsewhere; here it only writes its name into the trace"));
        ActionFile::Log { log: escaped_text(name) }
    }
}

/// Reads an action in our own notation.
fn ours(name: &str, params: &Map<String, Json>) -> Option<ActionFile> {
    let json = Json::Object(params.clone());
    let text = |key: &str| params.get(key).and_then(Json::as_str).map(str::to_owned);
    match name {
        "assign" if !params.is_empty() => Some(ActionFile::Assign { assign: params.clone().into_iter().collect() }),
        "raise" => {
            let event = text("event")?;
            let raise = match params.get("data") {
                Some(data) => RaiseFile::Full { event, data: data.clone() },
                None => RaiseFile::Name(event),
            };
            Some(ActionFile::Raise { raise })
        }
        "send" => serde_json::from_value::<SendFile>(json).ok().map(|send| ActionFile::Send { send }),
        "cancel" => text("id").map(|cancel| ActionFile::Cancel { cancel }),
        "log" => text("text").map(|log| ActionFile::Log { log }),
        "if" => serde_json::from_value::<ActionFile>(json).ok(),
        _ => None,
    }
}

/// Reads XState's own `raise`, as XState prints it: `{"type": "xstate.raise", "event": {"type": "X"}}`.
fn raised(name: &str, value: &Json) -> Option<ActionFile> {
    if !matches!(name, "raise" | "xstate.raise") {
        return None;
    }
    let event = value.get("event")?;
    let event = event.as_str().or_else(|| event.get("type").and_then(Json::as_str))?;
    Some(ActionFile::Raise { raise: RaiseFile::Name(names::event(event)) })
}
