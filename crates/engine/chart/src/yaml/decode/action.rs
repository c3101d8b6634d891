//! Decodes actions and blocks of actions.

use super::super::{
    code,
    draft::Action,
    fields::{Decoder, Fields, listed},
    node::{Kind, Node},
};
use crate::Diagnostic;

/// The keys that identify the kind of an action.
const ACTIONS: &[&str] = &["assign", "raise", "send", "cancel", "log", "if"];
const KEYS: &[&str] = &["assign", "raise", "send", "cancel", "log", "if", "then", "else"];

impl Decoder<'_> {
    /// Decodes one action, one block, or a list of blocks that fail independently.
    pub(crate) fn blocks<'n>(&mut self, fields: &Fields<'n>, key: &str) -> Vec<Vec<Action<'n>>> {
        let Some(node) = fields.get(key) else { return Vec::new() };
        let mut blocks = match &node.kind {
            Kind::List(items) if !items.is_empty() && items.iter().all(|item| matches!(item.kind, Kind::List(_))) => {
                items.iter().map(|item| self.actions(Some(item))).collect()
            }
            _ => vec![self.actions(Some(node))],
        };
        blocks.retain(|block| !block.is_empty());
        blocks
    }

    /// Decodes one action or a list of actions.
    pub(crate) fn actions<'n>(&mut self, node: Option<&'n Node>) -> Vec<Action<'n>> {
        let mut found = Vec::new();
        if let Some(node) = node {
            for item in self.one_or_many(node) {
                self.action(item, &mut found);
            }
        }
        found
    }

    /// Decodes `assign`, then `raise`, then `actions` of a transition.
    pub(crate) fn transition_actions<'n>(&mut self, fields: &Fields<'n>) -> Vec<Action<'n>> {
        let mut found = Vec::new();
        if let Some(node) = fields.get("assign") {
            self.assign(node, &mut found);
        }
        if let Some(node) = fields.get("raise") {
            let raises = self.one_or_many(node);
            found.extend(raises.into_iter().filter_map(|item| self.raise(item)));
        }
        found.extend(self.actions(fields.get("actions")));
        found
    }

    fn action<'n>(&mut self, node: &'n Node, found: &mut Vec<Action<'n>>) {
        let Some(fields) = self.fields(node, "an action", KEYS) else { return };
        let kinds: Vec<&str> = ACTIONS.iter().copied().filter(|key| fields.get(key).is_some()).collect();
        let [kind] = kinds[..] else {
            let message = match kinds.len() {
                0 => format!("an action has one of {}", listed(ACTIONS)),
                _ => format!("an action has exactly one key, this has {}", listed(&kinds)),
            };
            let problem = Diagnostic::error(code::BAD_ACTION, node.span, message);
            return self.report(problem.hint("write several actions as a list; they are done in order"));
        };
        if kind != "if" {
            self.branches_misplaced(&fields, kind);
        }
        let Some(body) = fields.get(kind) else { return };
        match kind {
            "assign" => self.assign(body, found),
            "raise" => found.extend(self.raise(body)),
            "send" => found.extend(self.send(body)),
            "cancel" => found.extend(self.scalar(body, "an id as text").map(|_| Action::Cancel(body))),
            "log" => found.extend(self.scalar(body, "text").map(|_| Action::Log(body))),
            _ => found.extend(self.conditional(body, &fields)),
        }
    }

    fn branches_misplaced(&mut self, fields: &Fields<'_>, kind: &str) {
        for key in ["then", "else"] {
            if let Some(entry) = fields.entry(key) {
                let message = format!("`{key}` belongs to `if`, not to `{kind}`");
                self.report(Diagnostic::error(code::BAD_ACTION, entry.key.span, message));
            }
        }
    }

    fn assign<'n>(&mut self, node: &'n Node, found: &mut Vec<Action<'n>>) {
        let entries = self.map(node, "a map of variables to values").unwrap_or(&[]);
        found.extend(entries.iter().map(|entry| Action::Assign(&entry.key, &entry.value)));
    }

    fn raise<'n>(&mut self, node: &'n Node) -> Option<Action<'n>> {
        if let Kind::Scalar(_) = node.kind {
            let name = self.scalar(node, "an event's name as text")?;
            return self.event_name(name).then_some(Action::Raise(name, None));
        }
        let fields = self.fields(node, "`raise`", &["event", "data"])?;
        let Some(event) = fields.get("event") else {
            self.missing(node.span, "`raise`", "event");
            return None;
        };
        let name = self.scalar(event, "an event's name as text")?;
        self.event_name(name).then(|| Action::Raise(name, self.event_data(&fields)))
    }

    fn send<'n>(&mut self, node: &'n Node) -> Option<Action<'n>> {
        let fields = self.fields(node, "`send`", &["event", "data", "delay", "id"])?;
        let Some(event) = fields.get("event") else {
            self.missing(node.span, "`send`", "event");
            return None;
        };
        let name = self.scalar(event, "an event's name as text")?;
        if !name.text.contains("${") {
            self.event_name(name);
        }
        let delay = fields.get("delay");
        if let Some(delay) = delay
            && self.scalar(delay, "a duration such as `90s`").is_some_and(|text| !text.text.contains("${"))
        {
            self.duration(delay);
        }
        Some(Action::Send { event, data: self.event_data(&fields), delay, id: self.text(&fields, "id") })
    }

    /// Returns an event's data: a map, or one expression.
    fn event_data<'n>(&mut self, fields: &Fields<'n>) -> Option<&'n Node> {
        let node = fields.get("data")?;
        let template = matches!(&node.kind, Kind::Scalar(text) if text.text.contains("${"));
        if !template && !matches!(node.kind, Kind::Map(_)) {
            self.wrong_kind(node, "a map, or `${…}`");
            return None;
        }
        Some(node)
    }

    fn conditional<'n>(&mut self, condition: &'n Node, fields: &Fields<'n>) -> Option<Action<'n>> {
        let guard = self.expression(condition);
        if fields.get("then").is_none() {
            self.missing(fields.span, "`if`", "then");
        }
        let then = self.list_of_actions(fields.get("then"));
        let mut otherwise = self.list_of_actions(fields.get("else"));
        let mut branches = vec![(Some(guard?), then)];
        // An `else` that contains only another `if` is one more branch.
        match (otherwise.len(), otherwise.pop()) {
            (1, Some(Action::If(more))) => branches.extend(more),
            (0, _) | (_, None) => {}
            (_, Some(last)) => {
                otherwise.push(last);
                branches.push((None, otherwise));
            }
        }
        Some(Action::If(branches))
    }

    fn list_of_actions<'n>(&mut self, node: Option<&'n Node>) -> Vec<Action<'n>> {
        if let Some(node) = node
            && !matches!(node.kind, Kind::List(_))
        {
            self.wrong_kind(node, "a list of actions");
            return Vec::new();
        }
        self.actions(node)
    }
}
