//! Executable content: the actions of an SCXML document on entry, on exit and on transitions.

use roxmltree::Node;
use serde_json::Value as Json;

use super::{
    OURS,
    import::{Importer, attribute_span, local, tag_span},
};
use crate::{
    IMPORT_DEPTH_MAX, ecmascript, expression,
    problem::{OUT_OF_PLACE, TOO_BIG},
};
use interlock_chart::{
    file::{ActionFile, Ordered, RaiseFile},
    unresolve,
};

impl Importer {
    /// Returns the actions in an element, in order.
    pub(super) fn block(&mut self, node: Node<'_, '_>) -> Vec<ActionFile> {
        let mut actions = Vec::new();
        for child in node.children().filter(Node::is_element) {
            self.action(child, &mut actions);
        }
        actions
    }

    fn action(&mut self, node: Node<'_, '_>, actions: &mut Vec<ActionFile>) {
        match local(node) {
            Some("raise") => actions.extend(self.raise(node)),
            Some("send") => self.send(node, actions),
            Some("cancel") => actions.extend(self.cancel(node)),
            Some("log") => actions.extend(self.log(node)),
            Some("assign") => actions.extend(self.assign(node)),
            Some("if") => actions.extend(self.conditional(node)),
            Some("script") => actions.extend(self.script(node)),
            Some("foreach") => actions.extend(self.foreach(node)),
            Some(_) => self.out_of_place(node),
            None => self.refuse(node, tag_span(node), "is an action of another namespace"),
        }
    }

    fn raise(&mut self, node: Node<'_, '_>) -> Option<ActionFile> {
        let event = self.needed(node, "event")?.to_owned();
        let raise = match self.json_attribute(node, "data") {
            Some(data) => RaiseFile::Full { event, data },
            None => RaiseFile::Name(event),
        };
        Some(ActionFile::Raise { raise })
    }

    fn cancel(&mut self, node: Node<'_, '_>) -> Option<ActionFile> {
        let cancel = match self.json_attribute::<String>(node, "value") {
            Some(id) => id,
            None => match self.expression(node, "sendidexpr") {
                Some(expression) => format!("${{{expression}}}"),
                None => unresolve::escaped_text(self.needed(node, "sendid")?),
            },
        };
        Some(ActionFile::Cancel { cancel })
    }

    fn log(&mut self, node: Node<'_, '_>) -> Option<ActionFile> {
        if let Some(log) = self.json_attribute::<String>(node, "value") {
            return Some(ActionFile::Log { log });
        }
        let value = match node.attribute("expr") {
            Some(source) => self.logged(source),
            None => String::new(),
        };
        let log = match node.attribute("label") {
            Some(label) if value.is_empty() => unresolve::escaped_text(label),
            Some(label) => format!("{}: {value}", unresolve::escaped_text(label)),
            None => value,
        };
        Some(ActionFile::Log { log })
    }

    /// Returns the text of a log action. It has no effect on the machine, so a value that needs a script engine is
    /// logged as its source text.
    fn logged(&mut self, source: &str) -> String {
        let translated = if self.native { Ok(source.to_owned()) } else { self.scope.translate(source) };
        match translated {
            Ok(expression) => self.joined(source).unwrap_or_else(|| text_of(expression::template(&expression))),
            Err(_) => {
                let source = source.split_whitespace().collect::<Vec<_>>().join(" ");
                self.problems.warn(format!("the log shows `{source}` as it is written: it is not CEL"));
                unresolve::escaped_text(&source)
            }
        }
    }

    /// Returns a template for text joined with values, `'x is ' + x`. ECMAScript converts the values to text, and so
    /// does a template.
    fn joined(&self, source: &str) -> Option<String> {
        let parts = expression::summands(source).filter(|parts| parts.len() > 1 && !self.native)?;
        let Json::String(mut text) = expression::literal(parts[0])? else { return None };
        text = unresolve::escaped_text(&text);
        for part in &parts[1..] {
            text.push_str(&text_of(expression::template(&self.scope.translate(part).ok()?)));
        }
        Some(text)
    }

    fn assign(&mut self, node: Node<'_, '_>) -> Option<ActionFile> {
        let location = self.needed(node, "location")?.trim().to_owned();
        if !self.native && !self.scope.variables.contains(&location) {
            return self.assign_to_nothing(node, &location);
        }
        let value = self.value(node)?;
        self.assigned.entry(location.clone()).or_default().push(value.clone());
        Some(ActionFile::Assign { assign: Ordered::from([(location, value)]) })
    }

    /// Returns an action for an assignment to an undeclared variable. In SCXML such an assignment raises
    /// `error.execution` when it is executed, and so does the returned action.
    fn assign_to_nothing(&mut self, node: Node<'_, '_>, location: &str) -> Option<ActionFile> {
        let owner = location.split('.').next().unwrap_or_default();
        if !location.split('.').all(ecmascript::is_name) || self.scope.variables.contains(owner) {
            self.refuse(node, attribute_span(node, "location"), "assigns to a part of a variable");
            return None;
        }
        self.problems
            .warn(format!("an assignment to `{location}`, which nothing declares, only raises error.execution"));
        Some(ActionFile::Log { log: format!("${{int('nothing declares {location}')}}") })
    }

    /// Returns the value of an `<assign>` or `<data>`: our attribute, an expression, or the text inside.
    pub(super) fn value(&mut self, node: Node<'_, '_>) -> Option<Json> {
        if let Some(value) = self.json_attribute(node, "value") {
            return Some(value);
        }
        if let Some(file) = node.attribute("src") {
            let Some(text) = self.files.get(file).cloned() else {
                self.refuse(node, attribute_span(node, "src"), "reads another file");
                return None;
            };
            return Some(self.text_value(&text));
        }
        match node.attribute("expr") {
            Some(_) => Some(expression::template(&self.expression(node, "expr")?)),
            None => self.inner_value(node),
        }
    }

    fn conditional(&mut self, node: Node<'_, '_>) -> Option<ActionFile> {
        let mut branches = vec![(self.condition(node), Vec::new())];
        for child in node.children().filter(Node::is_element) {
            match local(child) {
                Some("elseif") => branches.push((self.condition(child), Vec::new())),
                Some("else") => branches.push((None, Vec::new())),
                _ => {
                    if let Some((_, block)) = branches.last_mut() {
                        self.action(child, block);
                    }
                }
            }
        }
        if branches.len() > IMPORT_DEPTH_MAX {
            self.problems.error(TOO_BIG, tag_span(node), format!("more than {IMPORT_DEPTH_MAX} branches"));
            return None;
        }
        nested(branches)
    }

    fn condition(&mut self, node: Node<'_, '_>) -> Option<String> {
        self.needed(node, "cond")?;
        self.condition_of(node)
    }
}

/// Combines `if`, `elseif` and `else` into nested actions.
fn nested(branches: Vec<(Option<String>, Vec<ActionFile>)>) -> Option<ActionFile> {
    let mut otherwise = Vec::new();
    for (cond, then) in branches.into_iter().rev() {
        otherwise = match cond {
            Some(cond) => vec![ActionFile::If { cond, then, otherwise }],
            None => then,
        };
    }
    otherwise.pop().filter(|_| otherwise.is_empty())
}

/// Returns a value as the text of a template.
pub(super) fn text_of(value: Json) -> String {
    match value {
        Json::String(text) => text,
        other => unresolve::escaped_text(&other.to_string()),
    }
}

impl Importer {
    /// Returns true if the element has this attribute in our namespace.
    pub(super) fn has_own(&self, node: Node<'_, '_>, name: &str) -> bool {
        node.attribute((OURS, name)).is_some()
    }

    /// Reports an error about an attribute's value.
    pub(super) fn bad_attribute(&mut self, node: Node<'_, '_>, attribute: &str, message: String) {
        self.problems.error(OUT_OF_PLACE, attribute_span(node, attribute), message);
    }
}
