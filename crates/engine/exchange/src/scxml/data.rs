//! The data model of an SCXML document.
//!
//! A literal becomes the variable's initial value. Any other expression is assigned before the first state is entered,
//! each in a separate block: as in SCXML, an expression that fails leaves its variable empty and does not affect the
//! others.

use std::mem;

use roxmltree::Node;
use serde_json::Value as Json;

use super::import::{Importer, attribute_span, local};
use crate::problem::DUPLICATE;
use interlock_chart::file::{ActionFile, BlocksFile, Ordered};

impl Importer {
    /// Collects all variables first, because expressions may name a variable before its declaration.
    pub(super) fn survey_data(&mut self, root: Node<'_, '_>) {
        self.ecmascript = root.attribute("datamodel") == Some("ecmascript");
        match root.attribute("datamodel") {
            None | Some("null" | "cel" | "ecmascript") => {}
            Some(other) => {
                let why = format!("has the data model `{other}`; expressions are CEL here");
                self.refuse(root, attribute_span(root, "datamodel"), &why);
            }
        }
        for data in root.descendants().filter(|node| local(*node) == Some("data")) {
            self.declare(data);
        }
        self.survey_loops(root);
        for script in root.descendants().filter(|node| local(*node) == Some("script")) {
            for name in self.script_variables(script) {
                self.make(&name);
                self.scripted.insert(name);
            }
        }
        self.survey_sends(root);
    }

    /// Adds a variable that the document uses without declaring it.
    pub(super) fn make(&mut self, name: &str) {
        if self.scope.variables.insert(name.to_owned()) {
            self.made.push(name.to_owned());
        }
    }

    /// Collects the fields of `_event` that are never set: nothing is invoked, and events from outside come from no
    /// other session.
    fn survey_sends(&mut self, root: Node<'_, '_>) {
        let sends: Vec<_> = root.descendants().filter(|node| local(*node) == Some("send")).collect();
        let has_id = |send: &Node<'_, '_>| send.attribute("id").or(send.attribute("idlocation")).is_some();
        self.missing.push("invokeid");
        if sends.is_empty() {
            self.missing.extend(["origin", "origintype"]);
        }
        if !sends.iter().any(has_id) {
            self.missing.push("sendid");
        }
    }

    fn declare(&mut self, data: Node<'_, '_>) {
        let Some(id) = self.needed(data, "id") else { return };
        let span = attribute_span(data, "id");
        let is_name = id.chars().all(|letter| letter == '_' || letter.is_ascii_alphanumeric())
            && id.chars().next().is_some_and(|first| !first.is_ascii_digit());
        if !is_name && !self.native {
            self.refuse(data, span, &format!("is called `{id}`, which expressions cannot name"));
        }
        if !self.scope.variables.insert(id.to_owned()) {
            self.problems.error(DUPLICATE, span, format!("`{id}` is declared twice"));
        }
    }

    /// Returns the variables with their initial values, and the blocks that initialise the others.
    pub(super) fn context(&mut self, root: Node<'_, '_>) -> (Ordered<Json>, Vec<Vec<ActionFile>>) {
        let mut context = Ordered::new();
        let mut blocks = Vec::new();
        let is_late = root.attribute("binding") == Some("late");
        for data in root.descendants().filter(|node| local(*node) == Some("data")) {
            let Some(id) = data.attribute("id") else { continue };
            let value = self.value(data).unwrap_or_default();
            if let Some(state) = owner(data).filter(|state| is_late && state.id() != root.id()) {
                context.insert(id.to_owned(), Json::Null);
                self.bind_late(state, id, value);
            } else if self.native || !has_template(&value) {
                context.insert(id.to_owned(), value);
            } else {
                context.insert(id.to_owned(), Json::Null);
                blocks.push(vec![ActionFile::Assign { assign: Ordered::from([(id.to_owned(), value)]) }]);
            }
        }
        (context, blocks)
    }

    /// Initialises a variable when its state is entered for the first time.
    fn bind_late(&mut self, state: Node<'_, '_>, id: &str, value: Json) {
        let Some(name) = self.state_names.get(&state.id().get()) else { return };
        let cond = format!("state['{name}'].visits == 1");
        let then = vec![ActionFile::Assign { assign: Ordered::from([(id.to_owned(), value)]) }];
        let block = vec![ActionFile::If { cond, then, otherwise: Vec::new() }];
        self.late.entry(state.id().get()).or_default().push(block);
    }

    /// Changes the initial value of a variable to `null` if a literal of another type is assigned to it later. Foreign
    /// data models do not type their variables, and the type of `null` is open. The first value is then assigned on
    /// entry.
    pub(super) fn settle(&mut self, mut context: Ordered<Json>, entry: &mut Option<BlocksFile>) -> Ordered<Json> {
        if self.native {
            return context;
        }
        for (name, value) in &mut context {
            let others = self.assigned.get(name).map(Vec::as_slice).unwrap_or_default();
            let changes = others.iter().any(|other| !has_template(other) && kind(other) != kind(value));
            if changes && !value.is_null() {
                let first = ActionFile::Assign { assign: Ordered::from([(name.clone(), mem::take(value))]) };
                prepend(entry, first);
            }
        }
        context
    }
}

fn prepend(entry: &mut Option<BlocksFile>, action: ActionFile) {
    *entry = Some(match entry.take() {
        None => BlocksFile::One(action),
        Some(BlocksFile::One(then)) => BlocksFile::Blocks(vec![vec![action], vec![then]]),
        Some(BlocksFile::Block(then)) => BlocksFile::Blocks(vec![vec![action], then]),
        Some(BlocksFile::Blocks(mut blocks)) => {
            blocks.insert(0, vec![action]);
            BlocksFile::Blocks(blocks)
        }
    });
}

/// Returns the state whose data model a variable belongs to.
fn owner<'a, 'i>(data: Node<'a, 'i>) -> Option<Node<'a, 'i>> {
    data.parent_element()?.parent_element()
}

fn has_template(value: &Json) -> bool {
    match value {
        Json::String(text) => text.replace("$${", "").contains("${"),
        Json::Array(items) => items.iter().any(has_template),
        Json::Object(fields) => fields.values().any(has_template),
        _ => false,
    }
}

fn kind(value: &Json) -> u8 {
    match value {
        Json::Null => 0,
        Json::Bool(_) => 1,
        Json::Number(number) if number.is_f64() => 2,
        Json::Number(_) => 3,
        Json::String(_) => 4,
        Json::Array(_) => 5,
        Json::Object(_) => 6,
    }
}
