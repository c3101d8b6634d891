//! Decodes states and the activities they start.

use super::super::{
    code, draft,
    fields::{Decoder, Fields},
    name,
    node::{Entry, Kind, Node, Scalar},
};
use crate::{
    Diagnostic, Span,
    model::{EffectClass, Outcome},
};

const KEYS: &[&str] = &[
    "summary", "type", "history", "target", "initial", "outcome", "data", "tags", "shows", "grants", "entry", "exit",
    "invoke", "timeout", "on", "always", "states",
];
const OUTCOMES: &[(&str, Outcome)] = &[
    ("success", Outcome::Success),
    ("incomplete", Outcome::Incomplete),
    ("failure", Outcome::Failure),
    ("aborted", Outcome::Aborted),
];
const EFFECTS: &[(&str, EffectClass)] =
    &[("read", EffectClass::Read), ("write", EffectClass::Write), ("external", EffectClass::External)];

impl draft::State<'_> {
    /// The words that are allowed for `type` at the top of the file.
    pub(crate) const MACHINE_TYPES: &'static [(&'static str, draft::Type)] = &[("parallel", draft::Type::Parallel)];
    /// The words that are allowed for a state's `type`.
    const TYPES: &'static [(&'static str, draft::Type)] =
        &[("final", draft::Type::Final), ("parallel", draft::Type::Parallel), ("history", draft::Type::History)];

    fn named(name: String, span: Span) -> Self {
        draft::State {
            name,
            span,
            fields: None,
            summary: String::new(),
            ty: None,
            deep: false,
            target: Vec::new(),
            initial: None,
            entry: Vec::new(),
            exit: Vec::new(),
            invokes: Vec::new(),
            timeout: draft::Timeout::Inherit,
            transitions: Vec::new(),
            outcome: None,
            data: None,
            tags: Vec::new(),
            shows: &[],
            grants: None,
            states: Vec::new(),
        }
    }
}

impl Decoder<'_> {
    /// Decodes a map of states.
    fn states<'n>(&mut self, node: &'n Node) -> Vec<draft::State<'n>> {
        let entries = self.map(node, "a map of states").unwrap_or(&[]);
        if entries.is_empty() && matches!(node.kind, Kind::Map(_)) {
            self.report(Diagnostic::error(code::EMPTY_MACHINE, node.span, "there is no state in this map"));
        }
        entries.iter().map(|entry| self.state(entry)).collect()
    }

    fn state<'n>(&mut self, entry: &'n Entry) -> draft::State<'n> {
        let made_of = "state names are made of letters, digits, `_`, `-`, with dots and colons inside";
        self.name(&entry.key, "a state", name::is_state, made_of);
        let (name, span) = (entry.key.text.clone(), entry.key.span);
        if entry.value.is_null() {
            return draft::State::named(name, span);
        }
        match self.fields(&entry.value, "a state", KEYS) {
            Some(fields) => self.state_body(name, span, fields, draft::State::TYPES),
            None => draft::State::named(name, span),
        }
    }

    /// Decodes the keys that a state and the machine itself have in common.
    pub(crate) fn state_body<'n>(
        &mut self,
        name: String,
        span: Span,
        fields: Fields<'n>,
        types: &[(&str, draft::Type)],
    ) -> draft::State<'n> {
        let state = draft::State::named(name, span);
        let ty = fields.get("type").and_then(|node| self.word(node, "a type of state", types));
        let states = fields.get("states").map(|node| self.states(node)).unwrap_or_default();
        // `done` in a state's own `on` means that its children are done, so only a state with children may use it.
        let done = (!states.is_empty() && types.len() > 1).then(|| format!("done.state.{}", state.name));
        draft::State {
            fields: Some(fields),
            summary: self.text(&fields, "summary").unwrap_or_default(),
            ty,
            deep: self.deep(&fields),
            target: fields.get("target").map(|node| self.texts(node, "a state's name as text")).unwrap_or_default(),
            initial: fields.get("initial").and_then(|node| self.initial(node)),
            entry: self.blocks(&fields, "entry"),
            exit: self.blocks(&fields, "exit"),
            invokes: self.invokes(&fields),
            timeout: self.timeout(&fields),
            transitions: self.transitions(&fields, done.as_deref()),
            outcome: fields.get("outcome").and_then(|node| self.word(node, "an outcome", OUTCOMES)),
            data: fields.get("data"),
            tags: self.tags(&fields),
            shows: fields.get("shows").and_then(|node| self.map(node, "a map of labels to data")).unwrap_or(&[]),
            grants: fields.get("grants").and_then(|node| self.grants(node)),
            states,
            ..state
        }
    }

    fn deep(&mut self, fields: &Fields<'_>) -> bool {
        let words = &[("shallow", false), ("deep", true)];
        fields.get("history").and_then(|node| self.word(node, "a kind of history", words)).unwrap_or(false)
    }

    fn timeout(&mut self, fields: &Fields<'_>) -> draft::Timeout {
        match fields.get("timeout") {
            None => draft::Timeout::Inherit,
            Some(Node { kind: Kind::Scalar(text), .. }) if text.text == "none" => draft::Timeout::Never,
            Some(node) => draft::Timeout::Ms(self.duration(node).unwrap_or(1)),
        }
    }

    fn initial<'n>(&mut self, node: &'n Node) -> Option<draft::Initial<'n>> {
        let what = "a state's name as text";
        if !matches!(node.kind, Kind::Map(_)) {
            return Some(draft::Initial { targets: self.texts(node, what), actions: Vec::new() });
        }
        let fields = self.fields(node, "`initial`", &["target", "actions"])?;
        let Some(target) = fields.get("target") else {
            self.missing(node.span, "`initial`", "target");
            return None;
        };
        Some(draft::Initial { targets: self.texts(target, what), actions: self.actions(fields.get("actions")) })
    }

    fn tags(&mut self, fields: &Fields<'_>) -> Vec<String> {
        let Some(node) = fields.get("tags") else { return Vec::new() };
        let Kind::List(items) = &node.kind else {
            self.wrong_kind(node, "a list of words");
            return Vec::new();
        };
        let mut tags = Vec::new();
        for item in items {
            let Some(tag) = self.scalar(item, "a word as text") else { continue };
            if self.name(tag, "a tag", name::is_word, "a tag is one word") && !tags.contains(&tag.text) {
                tags.push(tag.text.clone());
            }
        }
        tags
    }

    fn grants<'n>(&mut self, node: &'n Node) -> Option<draft::GrantRequest<'n>> {
        let fields = self.fields(node, "`grants`", &["scopes", "event"])?;
        for key in ["scopes", "event"].into_iter().filter(|key| fields.get(key).is_none()) {
            self.missing(node.span, "`grants`", key);
        }
        let event = self.scalar(fields.get("event")?, "an event's name as text")?;
        Some(draft::GrantRequest { scopes: fields.get("scopes")?, event })
    }

    fn invokes<'n>(&mut self, fields: &Fields<'n>) -> Vec<draft::Invoke<'n>> {
        let Some(node) = fields.get("invoke") else { return Vec::new() };
        self.one_or_many(node).into_iter().filter_map(|item| self.invoke(item)).collect()
    }

    fn invoke<'n>(&mut self, node: &'n Node) -> Option<draft::Invoke<'n>> {
        let fields = self.fields(node, "an activity", &["activity", "with", "signals", "effect", "manual"])?;
        let activity = match fields.get("activity") {
            Some(node) => self.scalar(node, "an activity's name as text"),
            None => {
                self.missing(node.span, "`invoke`", "activity");
                None
            }
        };
        if let Some(activity) = activity {
            self.name(activity, "an activity", name::is_word, "an activity's name is one word, such as `command.run`");
        }
        Some(draft::Invoke {
            span: activity.map_or(node.span, |activity| activity.span),
            activity: activity.map(|activity| activity.text.clone()).unwrap_or_default(),
            with: fields
                .get("with")
                .and_then(|node| self.map(node, "a map of the activity's arguments"))
                .unwrap_or(&[]),
            signals: fields.get("signals").map(|node| self.signals(node)).unwrap_or_default(),
            effect: fields.get("effect").and_then(|node| self.word(node, "an effect", EFFECTS)),
            manual: fields.get("manual").and_then(|node| self.flag(node)).unwrap_or(false),
        })
    }

    fn signals<'n>(&mut self, node: &'n Node) -> Vec<(&'n Scalar, Option<&'n Node>)> {
        let signals: Vec<_> = match &node.kind {
            Kind::List(items) => items
                .iter()
                .filter_map(|item| self.scalar(item, "a signal's name as text"))
                .map(|name| (name, None))
                .collect(),
            Kind::Map(entries) => {
                let schema = |entry: &'n Entry| (!entry.value.is_null()).then_some(&entry.value);
                entries.iter().map(|entry| (&entry.key, schema(entry))).collect()
            }
            _ => {
                self.wrong_kind(node, "a list of signals, or a map of signals to schemas");
                Vec::new()
            }
        };
        let mut unique: Vec<(&Scalar, Option<&Node>)> = Vec::new();
        for (name, schema) in signals {
            self.event_name(name);
            if !unique.iter().any(|(known, _)| known.text == name.text) {
                unique.push((name, schema));
            }
        }
        unique
    }
}
